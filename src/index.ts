/** The public surface of Holdfast for a merchant's services. Workers and the sandbox are programs, not imports. */
export { connectHoldfast, HoldfastClient, HoldfastError } from './client/index.js';
export type { ConnectOptions, FlowRef, HoldfastErrorType, WaitOptions } from './client/index.js';
export type {
  ListCardsInput,
  ListedCards,
  RemoveCardInput,
  RemovedCard,
  StoreCardInput,
  StoreCardOutcome,
} from './contract/cards.js';
export type {
  ChargeInput,
  ChargeOutcome,
  Declined,
  Evidence,
  FinalChargeOutcome,
  NotExecuted,
  Pending,
  Retryable,
  Succeeded,
  Unknown,
} from './contract/charge.js';
export { chargeInputSchema } from './contract/charge.js';
export { FAILURE_TYPES } from './contract/failure-types.js';
export type { FailureDetails, FailureType } from './contract/failure-types.js';
export type { FlowStatus, RetryNow, SettleManually } from './contract/messages.js';
export {
  BILLING_TASK_QUEUE,
  PAYMENTS_TASK_QUEUE,
  paymentWorkflowId,
  resolveWorkflowId,
  subscriptionWorkflowId,
  WORKFLOW_TYPES,
} from './contract/names.js';
export type { ResolvePendingInput } from './contract/resolve-pending.js';
export { resolvePendingInputSchema } from './contract/resolve-pending.js';
export { PAYMENT_STATUSES, WAITING_FOR } from './contract/statuses.js';
export type { PaymentStatus, WaitingFor } from './contract/statuses.js';
export type { SubscriptionInput } from './contract/subscription.js';
export type {
  SubscriptionAnswer,
  SubscriptionEnded,
  SubscriptionOutcome,
  SubscriptionView,
} from './contract/subscription-outcome.js';
