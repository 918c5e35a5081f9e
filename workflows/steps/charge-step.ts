import type { CreateChargeCall, PaymentTerms } from '../../src/contract/activity-calls.js';
import type { ParsedChargeInput } from '../../src/contract/charge.js';
import type { BuyerInput } from '../../src/contract/payment-input.js';
import { usesStoredCard } from '../../src/contract/payment-input.js';
import type { PaymentRecord } from '../../src/contract/transaction.js';
import { durationMs } from '../../src/contract/duration.js';
import { postUntil } from '../../src/domain/windows.js';
import type { FlowState } from '../flow/state.js';
import type { StartShape } from '../policies.js';
import type { MoneyStep } from './money-step.js';
import { moneyStep } from './money-step.js';

/** A task heartbeat must not fall between the two local calls, so the first one has to have been quick. */
const QUICK_MS = 3_000;

/** The one charge of a flow as a step: how it is sent and how it is looked for. */
export function chargeStep(
  flow: FlowState,
  input: ParsedChargeInput,
  payment: PaymentRecord,
  shape: StartShape,
): MoneyStep {
  return moneyStep(flow, {
    paymentId: payment.paymentId,
    operation: 'createCharge',
    sequence: 1,
    reconciliationId: flow.reference,
    postUntil: firstPostUntil(flow, input),
    ...startPath(flow, payment, shape),
    post: (activities, call) =>
      activities.createCharge({ ...call, reconciliationId: flow.reference, charge: fromBuyer(input) }),
  });
}

/**
 * Anchored at the start of the flow, which survives crash and reset (money rule 4), or, after a risk analysis, at its
 * recorded end: a review may take longer than a key lives. A CVV is as old as the flow.
 */
export function firstPostUntil(flow: FlowState, { paymentMethod }: Pick<BuyerInput, 'paymentMethod'>): number {
  const until = postUntil(flow.stepStartedAt, false);
  return paymentMethod.encryptedCvv === undefined ? until : Math.min(until, postUntil(flow.startedAt, true));
}

/** Whether the first money operation is tried inside the first task (money rule 7). */
export function startPath(flow: FlowState, payment: PaymentRecord, shape: StartShape) {
  return {
    tryLocally: shape.charge && payment.localMs !== undefined && payment.localMs < QUICK_MS,
    lostTaskMayHaveSent: shape.charge && flow.startedByClient,
  };
}

/** What a charge and an authorization say of the buyer and the card. */
export function fromBuyer(input: BuyerInput): CreateChargeCall['charge'] {
  const { paymentMethod, clientIpAddress, cardOnFile, threeDSecureAttributes, merchantSiteUrl } = input;
  return {
    paymentMethod,
    ...(clientIpAddress !== undefined && { clientIpAddress }),
    ...(cardOnFile !== undefined && { cardOnFile }),
    ...(threeDSecureAttributes !== undefined && { threeDSecureAttributes }),
    ...(merchantSiteUrl !== undefined && { merchantSiteUrl }),
  };
}

/** How long a buyer has who is sent to another page, in ms. */
export function redirectLimit({ redirectTimeLimit }: Pick<BuyerInput, 'redirectTimeLimit'>) {
  const ms = redirectTimeLimit === undefined ? undefined : durationMs(redirectTimeLimit);
  return ms === undefined ? {} : { redirectLimitMs: ms };
}

/** What the unit has to offer for a stored card. */
export function cardTerms(input: Pick<BuyerInput, 'cardOnFile'>): PaymentTerms | undefined {
  return usesStoredCard(input) ? { storedCard: true } : undefined;
}
