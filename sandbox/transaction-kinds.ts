import type { PaymentStatus, TransactionKind } from './records.js';

/** Rules in which kinds of transactions differ. */
export interface KindRules {
  /** Last part of its path, and its name in error texts. */
  plural: string;
  /** The resource in `payment.<resource>.<action>`. */
  eventResource: string;
  /** Payment states that allow it; any other is a 409. */
  allowedFrom: readonly PaymentStatus[];
  /** The payment must have a succeeded transaction of one of these kinds. */
  follows: readonly TransactionKind[];
  /** Whether it changes the payment's state at all. */
  movesPayment: boolean;
  /** Payment state after its success; undefined: the state before it. */
  succeededStatus: PaymentStatus | undefined;
  /** Its name in the mock provider's raw response. */
  providerOperation: string;
  /** The mock provider's descriptions. */
  descriptions: { succeeded: string; pending: string; failed: string };
  /** Whether the provider's authorization code is shown even after a failure. */
  authorizationCodeOnFailure: boolean;
  /** Fields in its answers. */
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
    // No payment state exists for credits: the payment stays open, so that a credit sent twice shows as two, also while the
    // first one pends.
    movesPayment: false,
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
