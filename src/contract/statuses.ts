/** Closed list: the values of search attribute `PaymentStatus` and of `status` in every answer. */
export const PAYMENT_STATUSES = [
  'started',
  'pending',
  'unknown',
  'succeeded',
  'declined',
  'notExecuted',
  /** The flow failed with a typed failure before any money moved. */
  'refused',
  'cancelled',
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
