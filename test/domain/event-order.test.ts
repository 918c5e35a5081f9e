import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { TransactionEvent } from '../../src/contract/messages.js';
import type { TransactionRecord } from '../../src/contract/transaction.js';
import { advance, isFinal, judgeEvent } from '../../src/domain/transitions.js';

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

/** One arrival at the flow: an event, or a poll that falls between two. */
type Arrival = { event: TransactionEvent } | 'poll';

/** The flow's loop over what arrives: final is final, a look shows how the service stands at the end of its course. */
function endOf(arrivals: readonly Arrival[], truth: Result): Result {
  let known: TransactionRecord = { transactionId: 'transaction', status: 'Pending' };
  const look = () => advance(known, { transactionId: 'transaction', ...truth });
  for (const arrival of arrivals) {
    if (isFinal(known)) break;
    const verdict = arrival === 'poll' ? { verdict: 'read' as const } : judgeEvent(arrival.event, OWN);
    if (verdict.verdict === 'settles') known = advance(known, verdict.record);
    else if (verdict.verdict === 'read') known = look();
  }
  // A lost event costs time, not truth: polls go on until the end.
  if (!isFinal(known)) known = look();
  const { status, category } = known;
  return { status, ...(category !== undefined && { category }) };
}

const scenario = fc.constantFrom(...COURSES).chain((course) => {
  const truth = course.at(-1) as Result;
  const own = course.map((result): Arrival => ({ event: eventOf(result) }));
  const wrong: Result = {
    status: truth.status === 'Succeed' ? 'Failed' : 'Succeed',
    category: 'payment_method_declined',
  };
  const strangers = STRANGERS.map((change): Arrival => ({ event: eventOf(wrong, change) }));
  const arrivals = fc.array(fc.constantFrom<Arrival>(...own, ...own, ...strangers, 'poll'), { maxLength: 30 });
  return fc.record({ truth: fc.constant(truth), arrivals });
});

describe('whatever the order in which events come, and however often', () => {
  test('a transaction ends as it ended at the service', () => {
    fc.assert(
      fc.property(scenario, ({ truth, arrivals }) => {
        expect(endOf(arrivals, truth)).toEqual(truth);
      }),
      { numRuns: 5_000 },
    );
  });

  test('which an event that lied would break, were it believed', () => {
    const lie = eventOf({ status: 'Failed', category: 'payment_method_declined' });
    expect(endOf([{ event: lie }], { status: 'Succeed' })).not.toEqual({ status: 'Succeed' });
  });
});
