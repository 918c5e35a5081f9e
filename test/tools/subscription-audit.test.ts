import { describe, expect, test } from 'vitest';
import { newPaymentRecord, type PaymentRecord, type SubscriptionRecord } from '../../tools/audit/payment-record.js';
import { auditPayments } from '../../tools/audit/audit-payments.js';
import { pairOf } from '../../tools/chaos/campaign.js';
import { SCENARIOS } from '../../tools/chaos/scenarios/scenarios.js';
import type { LedgerEntry } from '../../tools/audit/ledger.js';
import type { FinalOutcome } from '../../src/contract/messages.js';
import type { SubscriptionEnded } from '../../src/contract/subscription-commands.js';

const AMOUNT = 30_000;

function entry(kind: string, id: string, payment: string, more: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    kind,
    payment_id: `p-${payment}`,
    transaction_id: id,
    amount: AMOUNT,
    currency: 'USD',
    status: 'Succeed',
    idempotency_key: `payment-${payment}:${kind}:${id}`,
    reconciliation_id: payment,
    created: '0',
    ...more,
  };
}

function answer(status: string, transactionId: string, payment: string, more: object = {}): FinalOutcome {
  const known = { reference: payment, amount: AMOUNT, currency: 'USD', paymentId: `p-${payment}` };
  return { ...known, status, transactionId, ...more } as unknown as FinalOutcome;
}

const known = { number: 1, scenario: 'a scenario', profile: 'default', amount: AMOUNT, currency: 'USD' };
const CONSENT = [entry('authorization', 'auth', 'a'), entry('void', 'v', 'a')];
const VOIDED = { status: 'voided', transactionId: 'v' };
const STORED = answer('stored', 'auth', 'a', { money: VOIDED });

/** A card that was put on file, as its caller was told. */
function card(outcome: FinalOutcome = STORED, cardOnFile = true, more: Partial<PaymentRecord> = {}): PaymentRecord {
  const operations: PaymentRecord['operations'] = [{ what: 'authorization', expected: 'any', answer: outcome }];
  return {
    ...newPaymentRecord({ ...known, reference: 'a' }),
    paymentId: 'p-a',
    operations,
    outcome,
    cardOnFile,
    ...more,
  };
}

/** One payment of a subscription. */
function paid(reference: string, status = 'succeeded'): PaymentRecord {
  const outcome = answer(status, reference, reference);
  const operations: PaymentRecord['operations'] = [{ what: 'charge', expected: 'any', answer: outcome }];
  const record = newPaymentRecord({ ...known, reference, partOf: 'a' });
  return { ...record, paymentId: `p-${reference}`, operations, outcome };
}

function subscription(ended: Partial<SubscriptionEnded> = {}): SubscriptionRecord {
  const counts = { billedPeriods: 2, unpaidPeriods: 0, missedPeriods: 0 };
  const known = { status: 'completed', ...counts, ...ended } as SubscriptionEnded;
  return { reference: 'a-s', amount: AMOUNT, currency: 'USD', periods: 2, commands: [], ended: known };
}

const BILLS = ['a-s.1.1', 'a-s.2.1'];
const BILLED = [...CONSENT, ...BILLS.map((reference) => entry('charge', reference, reference))];
const billed = (ended: Partial<SubscriptionEnded> = {}): PaymentRecord[] => [
  card(STORED, true, { subscription: subscription(ended) }),
  ...BILLS.map((reference) => paid(reference)),
];

describe('the audit of cards and subscriptions', () => {
  test('fit what the callers were told', () => {
    expect(auditPayments([card()], CONSENT)).toEqual([]);
    expect(auditPayments(billed(), BILLED)).toEqual([]);
  });

  test('fit an end at once, which misses what was due and not opened yet, but no more than the plan has', () => {
    const cancelled = (missedPeriods: number, reason = 'by command', more: Partial<SubscriptionEnded> = {}) => {
      const end = { status: 'cancelled', billedPeriods: 1, missedPeriods, reason, ...more } as const;
      return [card(STORED, true, { subscription: subscription(end) }), paid('a-s.1.1')];
    };
    const givenUp = (missed: number) => cancelled(missed, 'period 1 stayed unpaid', { status: 'givenUp' });
    for (const records of [cancelled(1), givenUp(1)]) expect(auditPayments(records, BILLED.slice(0, -1))).toEqual([]);
    for (const records of [cancelled(2), givenUp(2), cancelled(1, 'at the end of the period')])
      expect(auditPayments(records, BILLED.slice(0, -1))).toEqual([expect.stringMatching(/missed [12] periods/)]);
  });

  const [first, ...later] = CONSENT as [LedgerEntry, LedgerEntry];
  const failed = { ...first, status: 'Failed' };
  test.each<[string, PaymentRecord[], LedgerEntry[], string]>([
    [
      'a card on file without a consent',
      [card(answer('declined', 'auth', 'a'))],
      [failed],
      'ended declined, the card is',
    ],
    ['a stored card that is not on file', [card(STORED, false)], CONSENT, 'the card is not on file'],
    ['a consent that was not undone', [card()], [first], "the consent's money is told as voided"],
    [
      'a consent that somebody has to refund',
      [card(answer('consentedNotStored', 'auth', 'a', { money: { status: 'notRefunded' } }), false)],
      [first, ...later],
      'told as notRefunded',
    ],
    [
      'a period that was billed twice',
      [...billed(), paid('a-s.1.2')],
      [...BILLED, entry('charge', 'a-s.1.2', 'a-s.1.2')],
      'period 1 was billed 2 times',
    ],
    [
      'a second try while the first one was open',
      [...billed(), paid('a-s.1.2')],
      [...BILLED, entry('charge', 'a-s.1.2', 'a-s.1.2', { status: 'Failed' })],
      'period 1 was tried again before it had been declined',
    ],
    ['a period that is missing', billed(), BILLED.slice(0, -1), 'says that 2 periods were billed, not 1'],
    ['a period that was passed over', billed({ missedPeriods: 1 }), BILLED, 'missed 1 periods'],
    ['a bill of which no flow knows', billed().slice(0, -1), BILLED, 'a-s.2.1: nobody asked for charge a-s.2.1'],
    [
      'a bill over another amount',
      billed(),
      BILLED.map((one) => (one.transaction_id === 'a-s.2.1' ? { ...one, amount: 1 } : one)),
      'period 2 of 2 over 30000 USD was billed as',
    ],
    [
      'a subscription that never ended',
      [
        card(STORED, true, {
          subscription: { reference: 'a-s', amount: 1, currency: 'USD', periods: 1, commands: [] },
        }),
      ],
      CONSENT,
      'its subscription never ended',
    ],
  ])('do not fit with %s', (_what, records, ledger, sentence) => {
    expect(auditPayments(records, ledger)).toContainEqual(expect.stringContaining(sentence));
  });
});

test.each([1, 13, SCENARIOS.length, 2 * SCENARIOS.length])('each scenario comes to each of %d units', (length) => {
  const units = Array.from({ length }, (_, index) => index);
  const pairs = Array.from({ length: length * SCENARIOS.length }, (_, number) => {
    const { unit, scenario } = pairOf(number, units, SCENARIOS, 7);
    return `${unit} ${scenario.name}`;
  });
  expect(new Set(pairs).size).toBe(pairs.length);
});
