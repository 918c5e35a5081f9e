import type { FlowState, StepKind } from '../flow/state.js';

/**
 * Begins the flow's next operation. It forgets the previous operation's transaction, its attempts, and that a POST of
 * it may have been sent, since the new operation has its own key.
 * @param amount minor units; for a void the authorized amount
 */
export function beginStep(flow: FlowState, kind: StepKind, amount: number = flow.amount): void {
  flow.kind = kind;
  flow.stepAmount = amount;
  flow.stepStartedAt = Date.now();
  flow.transactionId = undefined;
  flow.otherTransactionIds = [];
  flow.hintedTransactionId = undefined;
  flow.ambiguousIds = [];
  flow.notLooked = false;
  flow.moneyPostMayHaveLeft = false;
  flow.details = undefined;
  flow.redirectUrl = undefined;
  flow.redirectUntil = undefined;
  flow.attempts = 0;
  flow.requestIds.length = 0;
  flow.settleable = false;
  flow.settlesAmount = false;
}
