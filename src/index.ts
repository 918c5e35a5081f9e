/** The public surface of Holdfast for a merchant's services. Workers are in `holdfast/worker`, the sandbox in `holdfast/testing`. */
export { connectHoldfast, FAILURE_TYPES, HoldfastClient, HoldfastError, KeyRingError } from './client/index.js';
export type * from './client/types.js';
export { chargeInputSchema } from './contract/charge.js';
export type { FailureDetails } from './contract/names.js';
export {
  BILLING_TASK_QUEUE,
  PAYMENTS_TASK_QUEUE,
  paymentWorkflowId,
  resolveWorkflowId,
  subscriptionWorkflowId,
  WORKFLOW_TYPES,
} from './contract/names.js';
export { resolvePendingInputSchema } from './contract/charge.js';
export { PAYMENT_STATUSES, WAITING_FOR } from './contract/statuses.js';
