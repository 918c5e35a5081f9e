/**
 * The names that histories remember. A released name is never edited: running flows, dashboards and
 * services in other languages all hold it.
 */

/** Task queue for everything a buyer waits for. */
export const PAYMENTS_TASK_QUEUE = 'holdfast';

export const WORKFLOW_TYPES = {
  charge: 'charge',
  authorizeAndCapture: 'authorizeAndCapture',
  credit: 'credit',
  paymentActions: 'paymentActions',
  analyseRisk: 'analyseRisk',
  resolvePending: 'resolvePending',
  parkedEvent: 'parkedEvent',
} as const;
export type WorkflowType = (typeof WORKFLOW_TYPES)[keyof typeof WORKFLOW_TYPES];

export const UPDATE_NAMES = {
  outcome: 'outcome',
  settleManually: 'settleManually',
  retryNow: 'retryNow',
  capture: 'capture',
  void: 'void',
  refund: 'refund',
  decideReview: 'decideReview',
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
