import type { PaymentStatus, TransactionKind } from './records.js';

/** What tells one kind of transaction from another. */
export interface KindRules {
  /** Last part of its path, and its name in error texts. */
  plural: string;
  /** The resource in `payment.<resource>.<action>`. */
  eventResource: string;
  /** Payment states it may start from; any other is a 409. */
  allowedFrom: readonly PaymentStatus[];
  /** Kinds of which the payment must have a succeeded one. */
  follows: readonly TransactionKind[];
  /** Whether the payment's state follows it at all. */
  movesPayment: boolean;
  /** Payment state once it has succeeded; undefined: the one it started from. */
  succeededStatus: PaymentStatus | undefined;
  /** How the mock provider names it in its raw response. */
  providerOperation: string;
  /** The mock provider's descriptions. */
  descriptions: { succeeded: string; pending: string; failed: string };
  /** Whether the provider's authorization code is shown although it failed. */
  authorizationCodeOnFailure: boolean;
  /** Fields that its answers have. */
  shows: { amount: boolean; currency: boolean };
}

const CARD = {
  allowedFrom: ['Initialized'],
  follows: [],
  movesPayment: true,
  authorizationCodeOnFailure: false,
} as const;
const FOLLOW_UP = { movesPayment: true, authorizationCodeOnFailure: true } as const;

export const KINDS: Readonly<Record<TransactionKind, KindRules>> = {
  authorization: {
    ...CARD,
    plural: 'authorizations',
    eventResource: 'authorization',
    succeededStatus: 'Authorized',
    providerOperation: 'Authorization',
    descriptions: { succeeded: 'Authorized.', pending: 'pending authorization', failed: 'DECLINED.' },
    shows: { amount: true, currency: false },
  },
  charge: {
    ...CARD,
    plural: 'charges',
    eventResource: 'charge',
    succeededStatus: 'Captured',
    providerOperation: 'Capture',
    descriptions: { succeeded: 'Captured.', pending: 'pending charge', failed: 'DECLINED.' },
    shows: { amount: true, currency: true },
  },
  credit: {
    ...CARD,
    plural: 'credits',
    eventResource: 'credit',
    // There is no state for it: the payment is left open, so that a credit sent twice shows as two.
    succeededStatus: undefined,
    providerOperation: 'Credit',
    descriptions: { succeeded: 'Credited.', pending: 'pending credit', failed: 'DECLINED.' },
    shows: { amount: true, currency: true },
  },
  capture: {
    ...FOLLOW_UP,
    plural: 'captures',
    eventResource: 'capture',
    allowedFrom: ['Authorized', 'Captured'],
    follows: ['authorization'],
    succeededStatus: 'Captured',
    providerOperation: 'Capture',
    descriptions: { succeeded: 'Captured.', pending: 'pending capture', failed: 'capture failed.' },
    shows: { amount: true, currency: false },
  },
  refund: {
    ...FOLLOW_UP,
    plural: 'refunds',
    eventResource: 'refund',
    allowedFrom: ['Captured', 'Refunded'],
    follows: ['capture', 'charge'],
    succeededStatus: 'Refunded',
    providerOperation: 'Refund',
    descriptions: { succeeded: 'Refunded.', pending: 'pending refund', failed: 'refund failed' },
    shows: { amount: true, currency: false },
  },
  void: {
    ...FOLLOW_UP,
    plural: 'voids',
    eventResource: 'void',
    allowedFrom: ['Authorized', 'Voided'],
    follows: ['authorization'],
    succeededStatus: 'Voided',
    providerOperation: 'Void',
    descriptions: { succeeded: 'Canceled.', pending: 'pending void', failed: 'void failed.' },
    shows: { amount: false, currency: false },
  },
  'risk-analysis': {
    plural: 'risk-analyses',
    eventResource: 'risk-analysis',
    allowedFrom: ['Initialized', 'Authorized'],
    follows: [],
    movesPayment: false,
    succeededStatus: undefined,
    providerOperation: 'RiskAnalysis',
    descriptions: { succeeded: 'Approved.', pending: 'In review.', failed: 'Declined.' },
    authorizationCodeOnFailure: false,
    shows: { amount: false, currency: false },
  },
};
