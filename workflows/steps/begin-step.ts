import type { FlowState, StepKind } from '../flow/state.js';

/**
 * The next operation of the flow. What was known of the one before is forgotten: its transaction, its attempts,
 * and that a POST of it may have left, since this one has a key of its own.
 * @param amount minor units; a void is worth what was authorized
 */
export function beginStep(flow: FlowState, kind: StepKind, amount: number = flow.amount): void {
  flow.kind = kind;
  flow.stepAmount = amount;
  flow.stepStartedAt = Date.now();
  flow.transactionId = undefined;
  flow.otherTransactionIds = [];
  flow.hintedTransactionId = undefined;
  flow.couldBeOurs = [];
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
