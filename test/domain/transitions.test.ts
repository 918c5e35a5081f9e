import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { TransactionRecord } from '../../src/contract/records.js';
import { advance, hasFailed, isFinal, isInDoubt, isUnconfirmedFailure } from '../../src/domain/settling.js';
import {
  anyRecord,
  finalRecord,
  openRecord,
  OURS,
  pendingRecord,
  succeededRecord,
  unconfirmedRecord,
} from './records.js';

const advanceByAll = (known: TransactionRecord, news: readonly TransactionRecord[]): TransactionRecord =>
  news.reduce((before, each) => advance(before, each, 'event'), known);
const anySource = fc.constantFrom('event' as const, 'answer' as const);

/** What decides about the outcome; other fields only inform. */
function decidingFields({ status, category, subCategory, description }: TransactionRecord) {
  return { status, category, subCategory, description };
}

describe('what is known of a transaction', () => {
  test('is final exactly when the money has moved, or will not move whatever happens', () => {
    const finals = fc.property(finalRecord, (record) => {
      expect(isFinal(record)).toBe(true);
    });
    const open = fc.property(openRecord, (record) => {
      expect(isFinal(record)).toBe(false);
    });
    const unconfirmed = fc.property(unconfirmedRecord, (record) => {
      expect(isUnconfirmedFailure(record)).toBe(true);
    });
    const others = fc.property(fc.oneof(finalRecord, pendingRecord), (record) => {
      expect(isUnconfirmedFailure(record)).toBe(false);
    });
    for (const property of [finals, open, unconfirmed, others]) fc.assert(property);
  });

  test('is never changed again once it is final, whatever is received and in whatever order', () => {
    fc.assert(
      fc.property(anyRecord, fc.array(anyRecord, { maxLength: 12 }), anySource, (start, news, by) => {
        let known = start;
        for (const each of news) {
          const next = advance(known, each, by);
          if (isFinal(known)) expect(next).toEqual(known);
          known = next;
        }
      }),
    );
  });

  test('gives way to a final event, and to any answer, as long as it is in doubt', () => {
    const failed = { transactionId: OURS, status: 'Failed', category: 'provider_error' } as const;
    fc.assert(
      fc.property(anyRecord, anySource, (news, by) => {
        const after = advance(failed, news, by, isInDoubt(failed, 'reply'));
        if (isFinal(news) || by === 'answer') expect(after).toEqual(news);
        else expect(after).toEqual(failed);
        expect(advance(failed, news, by, isInDoubt(failed, 'poll'))).toEqual(failed);
      }),
    );
  });

  test('goes back from an unconfirmed failure to pending when the service answers so, and never by an event', () => {
    fc.assert(
      fc.property(unconfirmedRecord, fc.array(pendingRecord, { maxLength: 5 }), pendingRecord, (known, news, last) => {
        expect(advanceByAll(known, news)).toEqual(known);
        expect(advance(known, last, 'answer')).toMatchObject({ status: 'Pending' });
        expect(advance(known, last, 'answer')).not.toHaveProperty('category');
      }),
    );
  });

  test('ends with the one final answer among the news, in any order and however often each is repeated', () => {
    const story = fc
      .tuple(openRecord, finalRecord, fc.array(openRecord, { maxLength: 6 }))
      .chain(([start, final, others]) =>
        fc.record({
          start: fc.constant(start),
          final: fc.constant(final),
          news: fc
            .array(fc.constantFrom(final, ...others), { maxLength: 10 })
            .chain((repeated) =>
              fc.shuffledSubarray([final, ...others, ...repeated], { minLength: 1 + others.length + repeated.length }),
            ),
        }),
      );
    fc.assert(
      fc.property(story, ({ start, final, news }) => {
        expect(decidingFields(advanceByAll(start, news))).toEqual(decidingFields(final));
      }),
    );
  });

  test('is not changed by receiving the same news twice', () => {
    fc.assert(
      fc.property(anyRecord, anyRecord, anySource, (known, news, by) => {
        const once = advance(known, news, by);
        expect(advance(once, news, by)).toEqual(once);
      }),
    );
  });

  test('keeps what newer news do not mention', () => {
    const known: TransactionRecord = {
      transactionId: OURS,
      status: 'Pending',
      amount: 1095,
      redirectUrl: 'https://x.test',
    };
    expect(advance(known, { transactionId: OURS, status: 'Succeed' }, 'event')).toEqual({
      ...known,
      status: 'Succeed',
    });
  });

  test('does not say of a success what was said of the failure before it', () => {
    fc.assert(
      fc.property(unconfirmedRecord, succeededRecord, (known, news) => {
        const after = advance(known, news, 'event');
        expect(after).not.toHaveProperty('category');
        expect(after).not.toHaveProperty('subCategory');
        expect(after).not.toHaveProperty('description');
      }),
    );
  });

  test('does not give a decline the sub-category or the words of the unconfirmed failure before it', () => {
    const known: TransactionRecord = {
      transactionId: OURS,
      status: 'Failed',
      category: 'provider_network_error',
      subCategory: 'lost_stolen_card',
      description: 'Unable to reach the provider network.',
    };
    const news: TransactionRecord = { transactionId: OURS, status: 'Failed', category: 'payment_method_declined' };
    expect(decidingFields(advance(known, news, 'event'))).toEqual(decidingFields(news));
  });

  test('stays unconfirmed when a failure is received that does not say why', () => {
    fc.assert(
      fc.property(unconfirmedRecord, (known) => {
        const after = advance(known, { transactionId: OURS, status: 'Failed' }, 'answer');
        expect(isUnconfirmedFailure(after)).toBe(true);
      }),
    );
  });
});

test('only a failure is one that nobody confirmed, whatever category a success or a pending one carries', () => {
  const category = 'provider_network_error';
  const is = (status: TransactionRecord['status']): boolean =>
    isUnconfirmedFailure({ transactionId: OURS, status, category });
  expect({ Failed: is('Failed'), Pending: is('Pending'), Succeed: is('Succeed') }).toEqual({
    Failed: true,
    Pending: false,
    Succeed: false,
  });
});

test.each<[TransactionRecord['status'], string | undefined, boolean]>([
  ['Failed', 'payment_method_declined', true],
  ['Failed', 'provider_error', true],
  ['Failed', undefined, true],
  ['Failed', 'provider_network_error', false],
  ['Pending', undefined, false],
  ['Pending', 'payment_method_declined', false],
  ['Succeed', undefined, false],
  ['Succeed', 'payment_method_declined', false],
])('of a transaction that is %s (%s) it is said that no money moved nor ever will: %s', (status, category, failed) => {
  expect(hasFailed({ transactionId: OURS, status, ...(category !== undefined && { category }) })).toBe(failed);
});
