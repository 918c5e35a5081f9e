import type { CreateChargeCall } from '../../src/contract/activity-calls.js';
import type { ParsedChargeInput } from '../../src/contract/charge.js';
import { type BuyerInput, givesConsent } from '../../src/contract/payment-input.js';
import type { PaymentRecord } from '../../src/contract/transaction.js';
import { durationMs } from '../../src/contract/duration.js';
import { postUntil } from '../../src/domain/windows.js';
import type { FlowState } from '../flow/state.js';
import { type MoneyStep, moneyStep } from './money-step.js';

/**
 * ms. A task heartbeat must not fall between the two local calls, so the second is local only if the first was this
 * quick.
 */
const QUICK_MS = 3_000;

/** The one charge of a flow as a step: how it is sent and how reads find it. */
export function chargeStep(flow: FlowState, input: ParsedChargeInput, payment: PaymentRecord): MoneyStep {
  return moneyStep(flow, {
    paymentId: payment.paymentId,
    operation: 'createCharge',
    sequence: 1,
    reconciliationId: flow.reference,
    postUntil: firstPostUntil(flow, input),
    ...startPath(flow, payment, 1),
    post: (activities, call) =>
      activities.createCharge({ ...call, reconciliationId: flow.reference, charge: fromBuyer(input) }),
  });
}

/**
 * The window counts from the flow's start, which survives crash and reset (money rule 4). After a risk analysis it
 * counts from that analysis's recorded end, because a review may take longer than a key lives. A CVV's window always
 * counts from the flow's start.
 */
export function firstPostUntil(flow: FlowState, { paymentMethod }: Pick<BuyerInput, 'paymentMethod'>): number {
  const until = postUntil(flow.stepStartedAt, false);
  return paymentMethod.encryptedCvv === undefined ? until : Math.min(until, postUntil(flow.startedAt, true));
}

/** Whether the operation is tried inside the first task: never after a risk analysis or a hold (money rule 7). */
export function startPath(flow: FlowState, payment: PaymentRecord, sequence: number) {
  const isFirst = flow.localFirst && flow.risk === undefined && sequence === 1;
  return {
    tryLocally: isFirst && payment.localMs !== undefined && payment.localMs < QUICK_MS,
    lostTaskMayHaveSent: isFirst && flow.startedByClient,
  };
}

/** The buyer and card fields of a charge or an authorization. */
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

/** What its buyer's input says about the flow. */
export function buyerTraits(input: Pick<BuyerInput, 'cardOnFile' | 'redirectTimeLimit'>) {
  const { redirectTimeLimit } = input;
  const redirectLimitMs = redirectTimeLimit === undefined ? undefined : durationMs(redirectTimeLimit);
  return { consents: givesConsent(input), ...(redirectLimitMs !== undefined && { redirectLimitMs }) };
}
