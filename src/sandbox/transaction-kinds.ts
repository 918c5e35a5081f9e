import type { PaymentStatus, TransactionKind } from './records.js';

/** What tells one kind of transaction from another. A further kind is a further row and a route module. */
export interface KindRules {
  /** Last part of its path, and its name in error texts. */
  plural: string;
  /** The resource in `payment.<resource>.<action>`. */
  eventResource: string;
  /** Payment states it may start from; any other is a 409. */
  allowedFrom: readonly PaymentStatus[];
  /** Payment state once it has succeeded. */
  succeededStatus: PaymentStatus;
  /** How the mock provider names it in its raw response. */
  providerOperation: string;
  /** The mock provider's descriptions. */
  descriptions: { succeeded: string; pending: string; failed: string };
  /** Whether the provider's authorization code is shown although it failed. */
  authorizationCodeOnFailure: boolean;
}

export const KINDS: Readonly<Record<TransactionKind, KindRules>> = {
  charge: {
    plural: 'charges',
    eventResource: 'charge',
    allowedFrom: ['Initialized'],
    succeededStatus: 'Captured',
    providerOperation: 'Capture',
    descriptions: { succeeded: 'Captured.', pending: 'pending charge', failed: 'DECLINED.' },
    authorizationCodeOnFailure: false,
  },
};
