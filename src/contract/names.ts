/**
 * The names that histories remember. A released name is never edited: running flows, dashboards and
 * services in other languages all hold it.
 */

/** Task queue for everything a buyer waits for. */
export const PAYMENTS_TASK_QUEUE = 'holdfast';

/** Task queue for subscriptions, so that a burst of renewals can't slow a checkout. */
export const BILLING_TASK_QUEUE = 'holdfast-billing';

/** Worker deployment whose versions are the builds of Holdfast. */
export const DEPLOYMENT_NAME = 'holdfast';

export const WORKFLOW_TYPES = {
  charge: 'charge',
  authorizeAndCapture: 'authorizeAndCapture',
  credit: 'credit',
  paymentActions: 'paymentActions',
  analyseRisk: 'analyseRisk',
  resolvePending: 'resolvePending',
  parkedEvent: 'parkedEvent',
  storeCard: 'storeCard',
  listCards: 'listCards',
  removeCard: 'removeCard',
  subscription: 'subscription',
} as const;
export type WorkflowType = (typeof WORKFLOW_TYPES)[keyof typeof WORKFLOW_TYPES];

export const UPDATE_NAMES = {
  outcome: 'outcome',
  settleManually: 'settleManually',
  retryNow: 'retryNow',
  capture: 'capture',
  void: 'void',
  refund: 'refund',
  reauthorize: 'reauthorize',
  decideReview: 'decideReview',
  pause: 'pause',
  resume: 'resume',
  changeCard: 'changeCard',
  changePlan: 'changePlan',
  cancel: 'cancel',
  billNow: 'billNow',
  refundPeriod: 'refundPeriod',
} as const;

export const SIGNAL_NAMES = {
  transactionEvent: 'transactionEvent',
} as const;

export const QUERY_NAMES = {
  status: 'status',
  explain: 'explain',
} as const;

/** Memo keys. Their values are encrypted, the keys themselves are not. */
export const MEMO_KEYS = {
  /** Fingerprint of type and input (see `fingerprint.ts`), compared when a reference is used again. */
  fingerprint: 'holdfastFingerprint',
  /** Present only on flows that our own client started with reuse policy "reject duplicate". */
  startedBy: 'holdfastStartedBy',
  /** Epoch ms at which a subscription decided on this attempt to bill: before anything of it can have left. */
  decidedAt: 'holdfastDecidedAt',
  /** Some run of the flow was made by a reset, and the flow has continued as new since. */
  afterReset: 'holdfastAfterReset',
  /** Of a run of `paymentActions`: the latest run when our client opened this one, which takes over what that did. */
  takesOver: 'holdfastTakesOver',
  /** What a list of parked events shows of each. */
  parkedEvent: 'holdfastParkedEvent',
} as const;

/** Fields that Holdfast adds to `additional_details` on the wire. */
export const WIRE_DETAILS = {
  workflowId: 'holdfast_workflow_id',
  key: 'holdfast_key',
} as const;

/** Workflow id of the one flow that may create a payment for this reference. */
export function paymentWorkflowId(reference: string): string {
  return `payment-${reference}`;
}

/** The reference of a payment flow, or undefined when the id is not one of a payment flow. */
export function referenceOfWorkflowId(workflowId: string): string | undefined {
  return workflowId.startsWith('payment-') ? workflowId.slice('payment-'.length) : undefined;
}

/** Workflow id of the flow that adopts a transaction made elsewhere. */
export function resolveWorkflowId(transactionId: string): string {
  return `resolve-${transactionId}`;
}

/** Workflow id of the one flow that does what is done to a payment after the flow that made it has ended. */
export function paymentActionsWorkflowId(paymentId: string): string {
  return `payment-actions-${paymentId}`;
}

/** Workflow id of a risk analysis that nothing follows. */
export function riskWorkflowId(reference: string): string {
  return `risk-${reference}`;
}

/** Workflow id that keeps an event which could not be routed, by the hash of what was signed. */
export function parkedEventWorkflowId(hash: string): string {
  return `parked-event-${hash}`;
}

/** Workflow id of one call about a customer's stored cards. */
export function cardWorkflowId(customerId: string, commandId: string): string {
  // A customer id may hold any hyphens; no command id holds a colon, so that no two calls share an id.
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(customerId);
  return `card-${customerId}${isUuid ? '-' : ':'}${commandId}`;
}

/** Workflow id of a subscription. */
export function subscriptionWorkflowId(reference: string): string {
  return `subscription-${reference}`;
}

/** Reference of the payment of one attempt to bill: period and attempt count from 1. */
export function attemptReference(subscription: string, period: number, attempt: number): string {
  return `${subscription}.${period}.${attempt}`;
}
