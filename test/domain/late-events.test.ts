import { describe, expect, test } from 'vitest';
import type { EndedFlow } from '../../src/contract/engine-port.js';
import type { TransactionEvent } from '../../src/contract/messages.js';
import { classifyLateEvent } from '../../src/domain/event-routes.js';
import { SUCCEEDED_EVENT as EVENT } from './records.js';

const without = (...names: (keyof TransactionEvent)[]): TransactionEvent =>
  Object.fromEntries(
    Object.entries(EVENT).filter(([name]) => !names.includes(name as keyof TransactionEvent)),
  ) as unknown as TransactionEvent;

/** A flow that has ended, with what its result says of the transaction. */
const ended = (result: object): EndedFlow => ({ status: 'succeeded', paymentId: 'pay-1', result });
const charged = ended({ status: 'succeeded', transactionId: 'txn-1' });

describe('an event of a transaction that an ended flow names', () => {
  test.each([
    ['succeeded', 'Succeed', 'agrees'],
    ['succeeded', 'Failed', 'contradicts'],
    ['succeeded', 'Pending', 'agrees'],
    ['captured', 'Succeed', 'agrees'],
    ['captured', 'Failed', 'contradicts'],
    ['voided', 'Succeed', 'agrees'],
    ['voided', 'Failed', 'contradicts'],
    ['declined', 'Failed', 'agrees'],
    ['declined', 'Succeed', 'contradicts'],
    ['declined', 'Pending', 'agrees'],
    ['notExecuted', 'Failed', 'agrees'],
    ['notExecuted', 'Succeed', 'contradicts'],
    ['stored', 'Succeed', 'agrees'],
    ['stored', 'Failed', 'contradicts'],
    ['consentedNotStored', 'Failed', 'contradicts'],
    ['refunded', 'Succeed', 'agrees'],
    ['refunded', 'Failed', 'contradicts'],
    ['notRefunded', 'Failed', 'agrees'],
    ['notRefunded', 'Succeed', 'contradicts'],
    ['capturedElsewhere', 'Failed', 'contradicts'],
    ['expired', 'Succeed', 'agrees'],
    ['expired', 'Failed', 'agrees'],
  ] as const)('that ended %s: %s %s', (status, says, verdict) => {
    expect(classifyLateEvent({ ...EVENT, status: says }, ended({ status, transactionId: 'txn-1' }))).toBe(verdict);
  });

  test('contradicts a decline with its money: it is parked for a person, not acknowledged and forgotten', () => {
    const declined = ended({ status: 'declined', transactionId: 'txn-1', category: 'payment_method_declined' });
    expect(classifyLateEvent(EVENT, declined)).toBe('contradicts');
  });

  test.each(['captured', 'voided', 'expired'])('agrees where it is the authorization of a hold that %s', (status) => {
    const hold = ended({ status, transactionId: 'txn-2', authorizationId: 'txn-1' });
    expect(classifyLateEvent(EVENT, hold)).toBe('agrees');
    expect(classifyLateEvent({ ...EVENT, status: 'Failed' }, hold)).toBe('contradicts');
  });

  test('agrees where it is a risk analysis, on which the end does not rest', () => {
    const analysed = ended({ status: 'succeeded', transactionId: 'txn-2', risk: { analysisId: 'txn-1' } });
    expect(classifyLateEvent({ ...EVENT, status: 'Failed' }, analysed)).toBe('agrees');
  });

  test('agrees where it released the rest of a partial capture by a void, and contradicts that with a failure', () => {
    const released = ended({
      status: 'captured',
      transactionId: 'txn-2',
      released: { by: 'void', transactionId: 'txn-1' },
    });
    expect(classifyLateEvent(EVENT, released)).toBe('agrees');
    expect(classifyLateEvent({ ...EVENT, status: 'Failed' }, released)).toBe('contradicts');
  });

  test('is found as deep as results nest, beside parts that are empty', () => {
    const deep = ended({
      no: null,
      none: undefined,
      a: { b: { c: { d: { e: { status: 'declined', transactionId: 'txn-1' } } } } },
    });
    expect(classifyLateEvent(EVENT, deep)).toBe('contradicts');
  });

  test('is found in the list of commands of a payment, each with its own end', () => {
    const actions = ended({
      status: 'idle',
      actions: [
        { action: 'refund', outcome: { status: 'declined', transactionId: 'txn-1' } },
        { action: 'refund', outcome: { status: 'succeeded', transactionId: 'txn-2' } },
      ],
    });
    expect(classifyLateEvent(EVENT, actions)).toBe('contradicts');
    expect(classifyLateEvent({ ...EVENT, status: 'Failed' }, actions)).toBe('agrees');
    expect(classifyLateEvent({ ...EVENT, transactionId: 'txn-2' }, actions)).toBe('agrees');
  });
});

describe('an event that no ended flow can vouch for', () => {
  test('since it only remembers it for another flow', () => {
    const result = { status: 'idle', paymentId: 'pay-1', actions: [], toldOfCreator: [{ event: EVENT, seen: true }] };
    expect(classifyLateEvent(EVENT, { paymentId: EVENT.paymentId, result })).toBe('unknown');
  });

  test.each<[string, TransactionEvent, EndedFlow]>([
    ['of another transaction', { ...EVENT, transactionId: 'txn-9' }, charged],
    ['of another payment', { ...EVENT, paymentId: 'pay-9' }, charged],
    ['of another payment, itself', { ...EVENT, paymentId: 'pay-9', transactionId: 'pay-9' }, charged],
    [
      'of a transaction that stands too deep',
      EVENT,
      ended({ a: { b: { c: { d: { e: { f: { transactionId: 'txn-1' } } } } } } }),
    ],
    [
      'of the older generation, with a status, of another transaction',
      { ...EVENT, transactionId: 'txn-9', trusted: false },
      charged,
    ],
    ['of a flow whose result says nothing', EVENT, ended({})],
  ])('%s is nobody’s to ignore', (_name, event, flow) => {
    expect(classifyLateEvent(event, flow)).toBe('unknown');
  });
});

describe('an event of the transaction that an ended flow names, which tells of another sum,', () => {
  const sums = ended({ status: 'succeeded', transactionId: 'txn-1', amount: 1_095, currency: 'USD' });

  test.each<[string, Partial<TransactionEvent>, 'agrees' | 'contradicts']>([
    ['the same sum', { amount: 1_095, currency: 'USD' }, 'agrees'],
    ['none', {}, 'agrees'],
    ['another amount', { amount: 109_500, currency: 'USD' }, 'contradicts'],
    ['another currency', { amount: 1_095, currency: 'JPY' }, 'contradicts'],
    ['another amount, unsigned', { amount: 109_500, trusted: false }, 'agrees'],
    ['another amount of what pends', { amount: 109_500, status: 'Pending' }, 'agrees'],
    ['another amount of a void', { amount: 109_500, eventType: 'payment.void.update' }, 'agrees'],
  ])('%s', (_what, told, verdict) => {
    expect(classifyLateEvent({ ...EVENT, ...told }, sums)).toBe(verdict);
  });

  test('where a person has decided, who may have seen that sum, agrees', () => {
    const decided = ended({
      status: 'succeeded',
      transactionId: 'txn-1',
      amount: 1_095,
      currency: 'USD',
      evidence: { knownBy: 'operator' },
    });
    expect(classifyLateEvent({ ...EVENT, amount: 1_100, currency: 'USD' }, decided)).toBe('agrees');
  });

  test('of a refund among the commands of a payment', () => {
    const outcome = { status: 'succeeded', transactionId: 'txn-1', amount: 500, currency: 'USD' };
    const commands = ended({ status: 'idle', actions: [{ action: 'refund', outcome }] });
    const refund = { ...EVENT, eventType: 'payment.refund.update', currency: 'USD' };
    expect(classifyLateEvent({ ...refund, amount: 500 }, commands)).toBe('agrees');
    expect(classifyLateEvent({ ...refund, amount: 501 }, commands)).toBe('contradicts');
  });

  test('or of a status that nobody knows, which an ended flow can not read', () => {
    const { status: _none, ...untold } = EVENT;
    expect(classifyLateEvent({ ...untold, unknownStatus: true }, sums)).toBe('contradicts');
    expect(classifyLateEvent({ ...untold, unknownStatus: true, trusted: false }, sums)).toBe('agrees');
    expect(classifyLateEvent({ ...untold, unknownStatus: true }, { status: 'succeeded' })).toBe('unknown');
  });

  test('of a result without one agrees', () => {
    expect(classifyLateEvent({ ...EVENT, amount: 109_500, currency: 'USD' }, charged)).toBe('agrees');
  });
});

describe('an event that only says "look"', () => {
  test.each<[string, TransactionEvent]>([
    ['of the payment itself', { ...EVENT, transactionId: 'pay-1' }],
    ['of the payment itself, without an id', { ...without('transactionId'), eventType: 'payment.payment.update' }],
    ['of what nobody knows, without an id', { ...without('transactionId'), eventType: 'payment.dispute.create' }],
    ['that something pends, without an id', { ...without('transactionId'), status: 'Pending' }],
    [
      'of the older generation, of the payment itself',
      { ...without('status'), transactionId: 'pay-1', trusted: false },
    ],
    ['of the older generation, that names no transaction', { ...without('status', 'transactionId'), trusted: false }],
  ])('%s agrees with any end: the flow has looked', (_name, event) => {
    expect(classifyLateEvent(event, ended({ status: 'declined', transactionId: 'txn-9' }))).toBe('agrees');
  });

  test.each([true, false])(
    'agrees no more where it names a transaction that the flow does not know (signed: %s)',
    (trusted) => {
      const event = { ...without('status'), trusted };
      expect(classifyLateEvent(event, ended({ transactionId: 'txn-9' }))).toBe('unknown');
      expect(classifyLateEvent(event, charged)).toBe('agrees');
      expect(classifyLateEvent({ ...event, eventType: 'payment.refund.create' }, { status: 'succeeded' })).toBe(
        'unknown',
      );
    },
  );
});

test.each(['charge', 'authorization', 'capture', 'void', 'refund', 'credit'])(
  'a signed event of a %s that it does not name agrees with no end: it may be another one than the flow knows',
  (resource) => {
    const event = { ...without('transactionId'), eventType: `payment.${resource}.update` };
    expect(classifyLateEvent(event, charged)).toBe('unknown');
    expect(classifyLateEvent({ ...event, status: 'Failed' }, { status: 'declined', paymentId: 'pay-1' })).toBe(
      'unknown',
    );
    const { status: _none, ...untold } = event;
    expect(classifyLateEvent(untold, charged)).toBe('unknown');
  },
);

describe('where the result of an ended flow can not be read', () => {
  test.each([
    ['charge', 'succeeded', 'Succeed', 'unknown'],
    ['charge', 'succeeded', 'Failed', 'contradicts'],
    ['charge', 'declined', 'Failed', 'agrees'],
    ['charge', 'declined', 'Succeed', 'contradicts'],
    ['charge', 'succeeded', 'Pending', 'agrees'],
    ['credit', 'succeeded', 'Succeed', 'unknown'],
    ['credit', 'declined', 'Succeed', 'contradicts'],
    ['authorization', 'captured', 'Succeed', 'unknown'],
    ['authorization', 'voided', 'Succeed', 'unknown'],
    ['authorization', 'expired', 'Succeed', 'unknown'],
    ['authorization', 'declined', 'Failed', 'agrees'],
    ['authorization', 'declined', 'Succeed', 'contradicts'],
    ['capture', 'captured', 'Succeed', 'unknown'],
    ['capture', 'captured', 'Failed', 'contradicts'],
    ['void', 'voided', 'Succeed', 'unknown'],
    ['void', 'voided', 'Failed', 'contradicts'],
    ['refund', 'succeeded', 'Succeed', 'unknown'],
    ['capture', 'voided', 'Succeed', 'unknown'],
    ['void', 'captured', 'Succeed', 'unknown'],
    ['charge', 'notExecuted', 'Succeed', 'unknown'],
    ['charge', 'idle', 'Failed', 'unknown'],
    ['dispute', 'succeeded', 'Succeed', 'unknown'],
  ] as const)('a %s event of a flow that shows %s: %s %s', (resource, status, says, verdict) => {
    const event = { ...EVENT, eventType: `payment.${resource}.update`, status: says };
    expect(classifyLateEvent(event, { status, paymentId: 'pay-1' })).toBe(verdict);
  });

  test('an event without a status agrees with what such an event would say, and with nothing else', () => {
    expect(classifyLateEvent(without('status'), { status: 'succeeded', paymentId: 'pay-1' })).toBe('agrees');
    expect(classifyLateEvent(without('status'), { paymentId: 'pay-1' })).toBe('unknown');
    expect(classifyLateEvent({ ...EVENT, eventType: 'charge' }, { status: 'succeeded' })).toBe('unknown');
  });

  test('a flow that does not show its payment either is classified by the rest', () => {
    const failed = { ...EVENT, status: 'Failed' } as const;
    expect(classifyLateEvent(failed, { status: 'declined' })).toBe('agrees');
    expect(classifyLateEvent(failed, {})).toBe('unknown');
  });
});
