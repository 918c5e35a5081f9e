/** Closed list: the values of search attribute `PaymentStatus` and of `status` in every answer. */
export const PAYMENT_STATUSES = [
  'started',
  /** A risk review is open. */
  'underReview',
  /** The money is held; nothing has been captured. */
  'authorized',
  /** What is held is being taken, or let go; or what was taken is being given back. */
  'capturing',
  'voiding',
  'refunding',
  'pending',
  'unknown',
  'succeeded',
  'declined',
  'notExecuted',
  'captured',
  /** The card is on file; or the buyer has consented and it is not. */
  'stored',
  'consentedNotStored',
  'voided',
  'expired',
  /** What a risk analysis said, where nothing follows it. */
  'approve',
  'review',
  'decline',
  /** All that was asked of a payment is done; the next command opens it again. */
  'idle',
  /** An event that waits for its flow, found it, or was given up. */
  'parked',
  'delivered',
  'unclaimed',
  /** The flow failed with a typed failure before any money moved. */
  'refused',
  'cancelled',
  /** A subscription waits for its next bill; bills; was declined and tries again; stands still; has billed all. */
  'active',
  'billing',
  'pastDue',
  'paused',
  'completed',
  /** A subscription ended because a bill stayed unpaid. */
  'givenUp',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** Closed list: the values of search attribute `WaitingFor`. */
export const WAITING_FOR = [
  /** A call to the payment service is under way or being retried. */
  'provider',
  /** The service said `Pending`: an event, a poll or an operator ends it. */
  'settlement',
  /** No answer to believe: reads go on until they show what happened or prove that nothing did. */
  'proof',
  /** The buyer has been sent to another page, for 3D Secure say, and has until `DueAt` to come back. */
  'redirect',
  /** The money is held: `capture` or `void` is awaited until the deadline. */
  'capture',
  /** The same, and the deadline is near. */
  'captureSoonDue',
  /** A risk review: the provider, an operator or its time limit ends it. */
  'review',
  /** Nothing is under way: the next command is awaited. */
  'command',
  /** An event that could not be routed waits for its flow. */
  'flow',
  /** The next bill of a subscription. */
  'period',
  /** The next try of a bill that was declined. */
  'retry',
  /** Another card: the present one will not be tried again. */
  'card',
  /** 401 or 403: somebody must put the key right. */
  'credentials',
  /** Only a person can say. */
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
