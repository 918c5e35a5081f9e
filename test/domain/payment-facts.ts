import fc from 'fast-check';
import type { ActionRecord, PaymentAction } from '../../src/contract/payment-actions.js';
import type { Evidence, FinalStepOutcome } from '../../src/contract/outcome.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import type { PaymentFacts } from '../../src/domain/payment-sums.js';

/** How an operation truly stands at the provider, and how it stands in our own record of the command. */
export type Fate = 'succeeded' | 'pending' | 'unconfirmed' | 'failed';

/** One transaction as it truly is. `ours`: a command of ours made it and knows its end. */
export interface Truth {
  kind: PaymentAction;
  id: string;
  amount: number;
  fate: Fate;
  ours: boolean;
  /** What the list shows of it. Only of our own is anything hidden: of others' nobody can know without a list. */
  shown: 'now' | 'as pending' | 'not at all';
}

const RECORDS = {
  succeeded: { status: 'Succeed' },
  pending: { status: 'Pending' },
  unconfirmed: { status: 'Failed', category: 'provider_network_error' },
  failed: { status: 'Failed', category: 'payment_method_declined' },
} as const satisfies Record<Fate, Partial<TransactionRecord>>;

const EVIDENCE: Evidence = { knownBy: 'reply', requestIds: [], attempts: 1, startedAt: '', settledAt: '' };

function recordOf({ id, amount, fate, shown }: Truth): TransactionRecord[] {
  if (shown === 'not at all') return [];
  return [{ transactionId: id, amount, ...RECORDS[shown === 'as pending' ? 'pending' : fate] }];
}

export function actionOf({ id, kind, amount, fate }: Pick<Truth, 'id' | 'kind' | 'amount' | 'fate'>): ActionRecord {
  const common = { reference: 'order-1001', amount, currency: 'USD', transactionId: id, evidence: EVIDENCE };
  const outcome: FinalStepOutcome =
    fate === 'succeeded'
      ? { ...common, status: 'succeeded' }
      : {
          ...common,
          status: 'declined',
          category: fate === 'unconfirmed' ? 'provider_network_error' : 'payment_method_declined',
          retryable: 'nobody',
          confirmed: fate !== 'unconfirmed',
        };
  return { commandId: `command-${id}`, action: kind, request: '', key: `key-${id}`, amount, outcome };
}

/** What surely was moved, and what may have been. */
export function surely(truths: readonly Truth[], kind: PaymentAction): number {
  return sum(truths.filter((truth) => truth.kind === kind && truth.fate === 'succeeded'));
}
export function atMost(truths: readonly Truth[], kind: PaymentAction): number {
  return sum(truths.filter((truth) => truth.kind === kind && truth.fate !== 'failed'));
}
function sum(truths: readonly Truth[]): number {
  return truths.reduce((total, { amount }) => total + amount, 0);
}

export const anyAmount = fc.integer({ min: 1, max: 1_000_000_000 });

const truth = fc
  .record({
    kind: fc.constantFrom<PaymentAction>('capture', 'refund'),
    id: fc.uuid(),
    amount: anyAmount,
    fate: fc.constantFrom<Fate>('succeeded', 'pending', 'unconfirmed', 'failed'),
    ours: fc.boolean(),
    shown: fc.constantFrom<Truth['shown']>('now', 'as pending', 'not at all'),
  })
  .map((made): Truth => {
    // A command of ours is followed to its end; what others have made is known only by the lists.
    if (made.ours) return made.fate === 'pending' ? { ...made, fate: 'unconfirmed' } : made;
    return { ...made, shown: 'now' };
  });

export const anyTruths = fc.uniqueArray(truth, { selector: ({ id }) => id, maxLength: 8 });

/** The payment as its lists show it. */
export function factsOf(truths: readonly Truth[], authorized: number, status = 'Captured'): PaymentFacts {
  const listed = (kind: PaymentAction): TransactionRecord[] =>
    truths.filter((each) => each.kind === kind).flatMap(recordOf);
  return {
    status,
    currency: 'EUR',
    amount: authorized,
    authorizations: [{ transactionId: 'a', status: 'Succeed', amount: authorized }],
    charges: [],
    captures: listed('capture'),
    refunds: listed('refund'),
    voids: listed('void'),
  };
}

export function actionsOf(truths: readonly Truth[]): ActionRecord[] {
  return truths.filter(({ ours }) => ours).map(actionOf);
}

export const CAPTURE = { kind: 'capture', id: 'c-1', amount: 60 } as const;
export const REFUND = { kind: 'refund', id: 'r-1', amount: 25 } as const;

/** Of 100 that are authorized, 60 have been captured. */
export const captured = (rest: Partial<PaymentFacts> = {}): PaymentFacts => ({
  ...factsOf([], 100),
  captures: [{ transactionId: 'c-1', status: 'Succeed', amount: 60 }],
  ...rest,
});
