import type { BuyerInput } from '../../src/contract/payment-input.js';
import type { PaymentRecord } from '../../src/contract/transaction.js';
import { waitingVoid } from '../flow/inbox.js';
import type { FlowState } from '../flow/state.js';
import { buyerTraits, firstPostUntil, fromBuyer, startPath } from './charge-step.js';
import { refusesOfHold } from './hold-refusals.js';
import { type MoneyStep, moneyStep } from './money-step.js';

/** Also of a consent by authorization. */
export function authorizeTraits(input: Pick<BuyerInput, 'cardOnFile' | 'redirectTimeLimit'>) {
  return { ...buyerTraits(input), refuses: refusesOfHold, keepsVoid: true };
}

/** The authorization of a flow. Sequences above 1 are reauthorizations of a hold that is proven gone. */
export function authorizeStep(flow: FlowState, input: BuyerInput, payment: PaymentRecord, sequence = 1): MoneyStep {
  return moneyStep(flow, {
    paymentId: payment.paymentId,
    operation: 'authorize',
    sequence,
    reconciliationId: flow.reference,
    postUntil: firstPostUntil(flow, input),
    ...startPath(flow, payment, sequence),
    unwanted: () => flow.keepsVoid && (waitingVoid(flow) !== undefined || flow.isCancelled()),
    post: (activities, call) =>
      activities.createAuthorization({ ...call, reconciliationId: flow.reference, authorization: fromBuyer(input) }),
  });
}
