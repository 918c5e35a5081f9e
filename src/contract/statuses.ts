/** Closed list: the values of search attribute `PaymentStatus` and of `status` in every answer. */
export const PAYMENT_STATUSES = [
  'started',
  /** A risk review is open. */
  'underReview',
  /** The money is held; nothing has been captured. */
  'authorized',
  /** Held money is being captured or voided, or captured money is being refunded. */
  'capturing',
  'voiding',
  'refunding',
  'pending',
  'unknown',
  'succeeded',
  'declined',
  'notExecuted',
  'captured',
  /** The card is on file; or the buyer has consented, but the card is not on file. */
  'stored',
  'consentedNotStored',
  'voided',
  'expired',
  /** Decisions of a risk analysis without a payment operation. */
  'approve',
  'review',
  'decline',
  /** All commands on the payment are executed; the next command opens the flow again. */
  'idle',
  /** A parked event: waits for its flow, was delivered, or was given up. */
  'parked',
  'delivered',
  'unclaimed',
  /** Notifications: one was given up. */
  'undelivered',
  /** The flow failed with a typed failure before any money moved. */
  'refused',
  'cancelled',
  /** A subscription: waits for its next bill; bills; retries a declined bill; is paused; has billed all periods. */
  'active',
  'billing',
  'pastDue',
  'paused',
  'completed',
  /** A subscription ended because a bill was not paid. */
  'givenUp',
  /** A reconciliation under way, and one that has ended. */
  'reconciling',
  'reconciled',
  /** A difference that a reconciliation has found, and one that a person has acknowledged. */
  'found',
  'acknowledged',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** Closed list: the values of search attribute `WaitingFor`. */
export const WAITING_FOR = [
  /** A call to the payment service is in progress or being retried. */
  'provider',
  /** The service said `Pending`: an event, a poll or an operator ends it. */
  'settlement',
  /** No answer could be believed: reads continue until they show the transaction or prove its absence. */
  'proof',
  /** The buyer was redirected, such as for 3D Secure, and must return by `DueAt`. */
  'redirect',
  /** The money is held: `capture` or `void` is awaited until the deadline. */
  'capture',
  /** Like `capture`, with the deadline near. */
  'captureSoonDue',
  /** A risk review: the provider, an operator or its time limit ends it. */
  'review',
  /** Nothing is in progress: the flow waits for the next command. */
  'command',
  /** An event that could not be routed waits for its flow. */
  'flow',
  /** The next bill of a subscription. */
  'period',
  /** The next attempt of a declined bill. */
  'retry',
  /** Another card: the current one will not be retried. */
  'card',
  /** The amount of a metered bill. */
  'amount',
  /** A credit or refund above a limit of its business unit: another person must `approve` or `reject` it by `DueAt`. */
  'approval',
  /** 401 or 403: someone must correct the key. */
  'credentials',
  /** The reference book can't be reached, so the payment is not sent. */
  'referenceBook',
  /** The business unit is braked, and what was sent before may have moved money: reads go on. */
  'brake',
  /** An operator must decide. */
  'operator',
  'nothing',
] as const;
export type WaitingFor = (typeof WAITING_FOR)[number];

/** How a final result is known (money rule 10). */
export const KNOWN_BY = ['reply', 'webhook', 'poll', 'operator'] as const;
export type KnownBy = (typeof KNOWN_BY)[number];

/** `result.status` of a transaction on the wire. */
export const TRANSACTION_STATUSES = ['Pending', 'Succeed', 'Failed'] as const;
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

export const RISK_DECISIONS = ['approve', 'review', 'decline'] as const;
export type RiskDecision = (typeof RISK_DECISIONS)[number];
