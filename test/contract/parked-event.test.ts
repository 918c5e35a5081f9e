import { describe, expect, test } from 'vitest';
import { disputeSeenSchema, paymentDisputedSchema } from '../../src/contract/disputes.js';
import { transactionEventSchema } from '../../src/contract/messages.js';
import { needsPerson, PARK_REASONS, parkedEventInputSchema } from '../../src/contract/parked-event.js';
import { LEAST_EVENT } from '../support/least-event.js';

test('a parked event needs a person exactly where its flow has ended otherwise or does not know it', () => {
  expect(Object.fromEntries(PARK_REASONS.map((reason) => [reason, needsPerson(reason)]))).toEqual({
    flowNotFound: false,
    lookUpFailed: false,
    contradictsResult: true,
    unknownTransaction: true,
  });
});

/** Each has been answered 2xx by then, or its sender waits for nobody. */
describe('what a process of a later build writes', () => {
  test.each([
    ['an event', transactionEventSchema, LEAST_EVENT, 'trusted'],
    ['a parked event', parkedEventInputSchema, { event: LEAST_EVENT, reason: 'flowNotFound' }, 'reason'],
    ['news of a dispute', disputeSeenSchema, { paymentId: 'p', seenBy: 'event', hash: 'ab' }, 'seenBy'],
    ['a disputed payment', paymentDisputedSchema, { paymentId: 'p', paymentReference: 's.1.1' }, 'paymentReference'],
  ] as const)(
    'with one more field, %s is taken without it, and refused without what is needed',
    (_name, schema, least, needed) => {
      expect(schema.parse({ ...least, addedLater: 1 })).toEqual(least);
      expect(schema.safeParse({ ...least, [needed]: 7 }).success).toBe(false);
    },
  );

  test('with one more field in its event, a parked event is taken without it', () => {
    const input = { event: LEAST_EVENT, reason: 'lookUpFailed' };
    expect(parkedEventInputSchema.parse({ ...input, event: { ...LEAST_EVENT, addedLater: 1 } })).toEqual(input);
  });
});
