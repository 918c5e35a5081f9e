import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { TransactionEvent } from '../../src/contract/messages.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import { advance, classifyEvent } from '../../src/domain/settling.js';

const OWN = { kind: 'charge', businessUnit: 'default', paymentId: 'payment', transactionId: 'transaction' } as const;
type Result = Pick<TransactionRecord, 'status' | 'category'>;

/** What a transaction can go through at the service, oldest first; the last is what it stays. */
const COURSES: readonly (readonly Result[])[] = [
  [{ status: 'Succeed' }],
  [{ status: 'Pending' }, { status: 'Succeed' }],
  [{ status: 'Pending' }, { status: 'Failed', category: 'payment_method_declined' }],
  [{ status: 'Pending' }, { status: 'Failed', category: 'provider_network_error' }, { status: 'Succeed' }],
  [
    { status: 'Pending' },
    { status: 'Failed', category: 'provider_network_error' },
    { status: 'Failed', category: 'provider_error' },
  ],
];

function eventOf(result: Result, change: Partial<TransactionEvent> = {}): TransactionEvent {
  return {
    hash: 'hash',
    eventType: 'payment.charge.update',
    created: '2026-11-06T14:33:46.150Z',
    businessUnit: 'default',
    paymentId: 'payment',
    transactionId: 'transaction',
    amount: 1095,
    currency: 'USD',
    trusted: true,
    ...result,
    ...change,
  };
}

/** Events that must never settle this charge, each with a status that would. */
const STRANGERS: readonly Partial<TransactionEvent>[] = [
  { paymentId: 'another' },
  { transactionId: 'another' },
  { businessUnit: 'another' },
  { eventType: 'payment.refund.update' },
  { eventType: 'payment.payment.update' },
  { eventType: 'payment.dispute.create' },
  { trusted: false },
  { trusted: false, transactionId: undefined },
  { amount: undefined },
  { currency: undefined },
].map((change) => change as Partial<TransactionEvent>);

/** What is known after receiving these events one after another; nothing is read. */
function knownAfter(events: readonly TransactionEvent[]): TransactionRecord {
  const verdicts = events.map((event) => classifyEvent(event, OWN));
  const believed = verdicts.flatMap((each) => (each.verdict === 'settles' ? [each.record] : []));
  return believed.reduce((known, news) => advance(known, news, 'event'), {
    transactionId: 'transaction',
    status: 'Pending',
  });
}

const scenario = fc.constantFrom(...COURSES).chain((course) => {
  const truth = course.at(-1) as Result;
  const wrong: Result = {
    status: truth.status === 'Succeed' ? 'Failed' : 'Succeed',
    category: 'payment_method_declined',
  };
  const strangers = STRANGERS.map((change) => eventOf(wrong, change));
  const own = course.map((result) => eventOf(result));
  const events = fc.array(fc.constantFrom(...own, ...own, ...strangers), { maxLength: 30 });
  return fc.record({ truth: fc.constant(truth), events, at: fc.nat() });
});

describe('whatever the order in which events come, and however often', () => {
  test('a transaction ends as it ended at the service, as soon as the event of its end is among them', () => {
    fc.assert(
      fc.property(scenario, ({ truth, events, at }) => {
        const place = at % (events.length + 1);
        const known = knownAfter([...events.slice(0, place), eventOf(truth), ...events.slice(place)]);
        expect(known).toMatchObject({ ...truth, amount: 1095, currency: 'USD' });
        if (truth.category === undefined) expect(known).not.toHaveProperty('category');
      }),
      { numRuns: 5_000 },
    );
  });

  test('is open without it, and never ended another way', () => {
    fc.assert(
      fc.property(scenario, ({ truth, events }) => {
        const others = events.filter((event) => event.status !== truth.status || event.category !== truth.category);
        const { status, category } = knownAfter(others);
        expect(['Pending', 'Failed provider_network_error']).toContain([status, category].filter(Boolean).join(' '));
      }),
      { numRuns: 2_000 },
    );
  });

  test('which an event that lied would break, were it believed', () => {
    const lie = eventOf({ status: 'Failed', category: 'payment_method_declined' });
    expect(knownAfter([lie, eventOf({ status: 'Succeed' })])).toMatchObject({ status: 'Failed' });
  });
});
