/** Names stored in histories. Never change a released one: running flows, dashboards and other services use it. */

/** Task queue of payments, for which a buyer waits. */
export const PAYMENTS_TASK_QUEUE = 'holdfast';

/** Task queue of subscriptions, separate so that a burst of renewals can't slow a checkout. */
export const BILLING_TASK_QUEUE = 'holdfast-billing';

/** Task queue of activities only, by which flows hand over what merchants are told: it takes no place of a payment's calls. */
export const NOTIFICATIONS_TASK_QUEUE = 'holdfast-notifications';

/** Task queue of what is sent to merchants: an endpoint that hangs keeps no flow from handing over, and so from its end. */
export const DELIVERIES_TASK_QUEUE = 'holdfast-deliveries';

/** Activity of a merchant's own worker: asks a flow for its outcome (see `workflows/as-children.ts`). */
export const ASK_FLOW_ACTIVITY = 'holdfastAskFlow';

/** Worker deployment; its versions are the builds of Holdfast. */
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

/** Type of the flow that sends notifications. No caller starts it, and it moves no money. */
export const NOTIFICATIONS_WORKFLOW = 'notifications';

/** Type of the flow that counts what a business unit with limits sends to cards in a day. It sends nothing itself. */
export const OUTGOING_WORKFLOW = 'outgoing';

export const UPDATE_NAMES = {
  outcome: 'outcome',
  settleManually: 'settleManually',
  retryNow: 'retryNow',
  capture: 'capture',
  void: 'void',
  refund: 'refund',
  reauthorize: 'reauthorize',
  decideReview: 'decideReview',
  /** Of a credit or refund above a limit of its business unit. */
  approve: 'approve',
  reject: 'reject',
  /** Of flow `outgoing` only. */
  countOutgoing: 'countOutgoing',
  pause: 'pause',
  resume: 'resume',
  changeCard: 'changeCard',
  changePlan: 'changePlan',
  skipPeriod: 'skipPeriod',
  setAmount: 'setAmount',
  changeTerms: 'changeTerms',
  cancel: 'cancel',
  billNow: 'billNow',
  refundPeriod: 'refundPeriod',
} as const;

export const SIGNAL_NAMES = {
  transactionEvent: 'transactionEvent',
  /** No payload. A subscription that only waits continues as new at once, on the version that gets new work. */
  moveOn: 'moveOn',
  /** To `paymentActions`: an event or a statement shows a chargeback of its payment. */
  disputed: 'disputed',
  /** To a subscription: a payment of it is disputed. */
  paymentDisputed: 'paymentDisputed',
  /** More for the flow `notifications` to send. */
  notify: 'notify',
} as const;

export const QUERY_NAMES = {
  status: 'status',
  explain: 'explain',
  notifications: 'notifications',
  /** Subscriptions only. */
  bills: 'bills',
} as const;

/** Memo keys. The values are encrypted, the keys are not. */
export const MEMO_KEYS = {
  /** Fingerprint of type and input (see `idempotency.ts`), compared when a reference is reused. */
  fingerprint: 'holdfastFingerprint',
  /** Set only on flows that Holdfast itself started, with reuse policy "reject duplicate". */
  startedBy: 'holdfastStartedBy',
  /** Epoch ms at which a subscription decided on this attempt to bill, before anything of it can have left. */
  decidedAt: 'holdfastDecidedAt',
  /** A reset made an earlier run of the flow, which has since continued as new. */
  afterReset: 'holdfastAfterReset',
  /** `paymentActions` only: the latest run when our client started this one, which takes over that run's actions. */
  takesOver: 'holdfastTakesOver',
  /** Summary of the event, for lists of parked events. */
  parkedEvent: 'holdfastParkedEvent',
} as const;

/** Ids of `patched`, as histories record them. */
export const PATCHES = {
  /** Recorded where a run that a reset made first decides anew; subscriptions add `-<run>` of the one before if that is one. */
  afterReset: 'holdfast-after-reset',
  /** A subscription that is ended at once closes as missed what is due and not open. */
  closesDue: 'holdfast-closes-due',
  /** A subscription asks about a payment that was not seen to fail once more before the next one of its bill. */
  looksBack: 'holdfast-looks-back',
  /** A bill that a person had charged early is not given up before it is due. */
  keepsUntilDue: 'holdfast-keeps-until-due',
  /** After a reset a subscription asks whether its last payments are disputed before it makes another one. */
  looksForDisputes: 'holdfast-looks-for-disputes',
  /** A flow tells its merchant again that a person is needed for what had been mended meanwhile. */
  tellsAgain: 'holdfast-tells-again',
  /** A hold asks whether the service confirms by now that a capture has failed. */
  confirmsFailures: 'holdfast-confirms-failures',
  /** A subscription knows of payments that Temporal has forgotten: after a reset by a later one of the same bill. */
  knowsForgotten: 'holdfast-knows-forgotten',
  /** A subscription does not wait for a next try of a bill that its cancel leaves unbilled. */
  awaitsNoTry: 'holdfast-awaits-no-try',
  /** A refusal that was true for a moment is not kept as the answer of its command. */
  forgetsRefusals: 'holdfast-forgets-refusals',
  /** A failure at the provider is not believed as soon as it is read where a try of its key is unanswered. */
  doubtsFailures: 'holdfast-doubts-failures',
} as const;

/**
 * Marks a namespace as one for test or for live. `namespaceData` is its key in the namespace's data. Where nobody may
 * change that, an open workflow that no worker serves holds the mark in its memo, in clear.
 */
export const ENVIRONMENT_MARK = {
  namespaceData: 'holdfast-environment',
  workflowId: 'holdfast-environment',
  workflowType: 'holdfastEnvironment',
  taskQueue: 'holdfast-environment',
  memo: 'holdfastEnvironment',
} as const;

/** Fields that Holdfast adds to `additional_details` on the wire. */
export const WIRE_DETAILS = {
  workflowId: 'holdfast_workflow_id',
  key: 'holdfast_key',
} as const;

/** Workflow id of the only flow that may create a payment for this reference. */
export function paymentWorkflowId(reference: string): string {
  return `payment-${reference}`;
}

/** The reference of a payment flow, or undefined if the id isn't one. */
export function referenceOfWorkflowId(workflowId: string): string | undefined {
  const prefix = paymentWorkflowId('');
  return workflowId.startsWith(prefix) ? workflowId.slice(prefix.length) : undefined;
}

/** Workflow id of the flow that adopts a foreign transaction. */
export function resolveWorkflowId(transactionId: string): string {
  return `resolve-${transactionId}`;
}

/**
 * Workflow id of the only flow that acts on a payment after the flow that created it has ended. The service takes a UUID in
 * either case: under two ids a command could be executed twice.
 */
export function paymentActionsWorkflowId(paymentId: string): string {
  return `payment-actions-${paymentId.toLowerCase()}`;
}

/** Workflow id of a risk analysis without a payment operation. */
export function riskWorkflowId(reference: string): string {
  return `risk-${reference}`;
}

/** Workflow id of an event that could not be routed, by the hash of its signed text. */
export function parkedEventWorkflowId(hash: string): string {
  return `parked-event-${hash}`;
}

/** Workflow id of one call about a customer's stored cards. */
export function cardWorkflowId(customerId: string, commandId: string): string {
  // A customer id may contain hyphens, but no command id contains a colon, so two calls never share an id.
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(customerId);
  return `card-${customerId}${isUuid ? '-' : ':'}${commandId}`;
}

/** Workflow id of a subscription. */
export function subscriptionWorkflowId(reference: string): string {
  return `subscription-${reference}`;
}

/** Workflow id of the flow that sends what the flow `workflowId` has to tell. */
export function notificationsWorkflowId(workflowId: string): string {
  return `notifications-${workflowId}`;
}

/** Workflow id of the flow that counts what a business unit sends on a day. */
export function outgoingWorkflowId(businessUnit: string, day: string): string {
  return `outgoing-${businessUnit}-${day}`;
}

/** Reference of the payment of one attempt to bill. Period and attempt count from 1. */
export function attemptReference(subscription: string, period: number, attempt: number): string {
  return `${subscription}.${period}.${attempt}`;
}

/** Reference of the subscription whose attempt to bill has this reference; undefined for any other payment. */
export function subscriptionOfAttempt(reference: string): string | undefined {
  return /^(.+)\.\d+\.\d+$/.exec(reference)?.[1];
}

/**
 * Search attributes of every flow. They are plaintext, so they must never hold personal data. Names and types are
 * fixed; SQLite visibility allows 10 keyword attributes and 3 of each other type.
 */
export const SEARCH_ATTRIBUTES = {
  PaymentStatus: 'KEYWORD',
  WaitingFor: 'KEYWORD',
  PaymentId: 'KEYWORD',
  BusinessUnit: 'KEYWORD',
  Provider: 'KEYWORD',
  SubCategory: 'KEYWORD',
  NeedsOperator: 'BOOL',
  DueAt: 'DATETIME',
  AmountMinor: 'INT',
  Currency: 'KEYWORD',
} as const;

/**
 * The `type` of every `ApplicationFailure` that leaves an activity or a workflow. Callers must match these strings,
 * never a class: a failure that crossed the engine has lost its constructor.
 */
export const FAILURE_TYPES = {
  /** The input is invalid. Nothing was sent, or the service refused it before doing anything. */
  invalidInput: 'InvalidInput',
  /** The reference belongs to a flow with another input or of another type. */
  referenceConflict: 'ReferenceConflict',
  /** 401 or 403. The flow waits and continues when the key is corrected. */
  credentialsRejected: 'CredentialsRejected',
  /** A 404 that is believed. */
  notFound: 'NotFound',
  /** A 409 that is believed, or a command that is not possible in the flow's present state. */
  stateConflict: 'StateConflict',
  /**
   * No answer: refused or lost connection, time-out, 500, 502, 503, 504. Retried with the same key. Of a command: the service could
   * not be asked, and nothing was sent.
   */
  providerUnavailable: 'ProviderUnavailable',
  /** 429: retried with the same key after `Retry-After`. Of a flow: it takes no more questions and commands now. */
  rateLimited: 'RateLimited',
  /** It is not known yet whether the call was executed. Only inside activities; no workflow fails with it. */
  outcomeUnknown: 'OutcomeUnknown',
  /** The service answered with another amount or currency than requested. Only in the text for an operator. */
  amountMismatch: 'AmountMismatch',
  /** An answer that fits no schema, and so counts as none. Of a command or an answer: a key for it is lacking. */
  unexpectedResponse: 'UnexpectedResponse',
} as const;
export type FailureType = (typeof FAILURE_TYPES)[keyof typeof FAILURE_TYPES];

/** Ends every refusal of a reference: a caller who takes a new one for an open order may charge it twice. */
export const BEFORE_NEW_REFERENCE =
  'ask its status or explain first; a new reference is only for another order, or once it is known that this one has taken nothing';

/** First element of `ApplicationFailure.details` in every failure from an activity. */
export interface FailureDetails {
  httpStatus?: number;
  requestId?: string;
  category?: string;
  description?: string;
  moreInfo?: string;
  /** The service says that there is no such customer, and does not find them by their reference either. */
  noCustomer?: true;
  /** false only if it is proven that the request never left this machine. */
  mayHaveLeft: boolean;
  /** ms, from `Retry-After`. */
  retryAfterMs?: number;
  /** The failure type of the answer, had it been safe to believe (money rule 5). */
  disbelieved?: FailureType;
  /** The activity did not send because its window had closed (money rule 4). */
  windowClosed?: true;
  /** The unit's setting says that the service doesn't offer this read, so it was not sent. */
  notOffered?: true;
  /** The reference book does not answer (not sent, or its id is not entered), or another flow has the reference. */
  referenceBook?: 'unreachable' | 'taken';
  /** The business unit is braked: this attempt was not sent. */
  braked?: true;
  /** This attempt was not sent, to spare the service or other business units. */
  heldBack?: true;
  /** Transactions that an earlier run may have made: until their origin is known, `notExecuted` is not allowed. */
  ambiguousIds?: string[];
  /** Before a reset the consent of this card was given back: it is not stored, whatever has put it on file since. */
  consentGivenBack?: true;
  /** The call's business unit has endpoints for notifications. */
  notifies?: true;
}
