import { describe, expect, test } from 'vitest';
import { type Conflict, shortestInterval, subscriptionConflicts } from '../../src/contract/subscription.js';

const MONTHLY = { every: 1, unit: 'month' };

describe('the end of a subscription', () => {
  const ends = (message: string): Conflict => ({ path: ['endsOn'], message });
  const NEVER = 'nothing would ever be billed: the first bill is';

  test.each<[string, object, Conflict[]]>([
    ['may be none', { anchor: '2027-01-31', trialDays: 0 }, []],
    ['may be a number of periods', { anchor: '2027-01-31', periods: 1 }, []],
    ['may be the day after the anchor', { anchor: '2027-01-31', endsOn: '2027-02-01' }, []],
    [
      'is not the anchor',
      { anchor: '2027-01-31', trialDays: 0, endsOn: '2027-01-31' },
      [ends(`${NEVER} on the anchor`)],
    ],
    [
      'is not before the anchor, in the year before',
      { anchor: '2027-01-31', endsOn: '2026-12-31' },
      [ends(`${NEVER} on the anchor`)],
    ],
    [
      'is not the day of the first bill after a trial, over the end of a month of 31',
      { anchor: '2027-01-31', trialDays: 29, endsOn: '2027-03-01' },
      [ends(`${NEVER} 29 days after the anchor`)],
    ],
    [
      'may be the day after it, over the end of a month of 31',
      { anchor: '2027-01-31', trialDays: 28, endsOn: '2027-03-01' },
      [],
    ],
    [
      'is not the day of the first bill after a trial, over the end of a month of 30',
      { anchor: '2027-04-30', trialDays: 1, endsOn: '2027-05-01' },
      [ends(`${NEVER} 1 days after the anchor`)],
    ],
    [
      'is not both, and tells each of its faults',
      { anchor: '2027-01-31', periods: 3, endsOn: '2027-01-01' },
      [ends('give either periods or endsOn, not both'), ends(`${NEVER} on the anchor`)],
    ],
    ['is not compared where it is no day', { anchor: '2027-01-31', endsOn: '31.01.2027' }, []],
    ['is not compared where it is a number', { anchor: '2027-01-31', endsOn: 20260131 }, []],
    ['is not compared where it is a list that looks like a day', { anchor: '2027-01-31', endsOn: ['2026-01-31'] }, []],
    ['is not compared with an anchor that is no day', { anchor: 'soon', endsOn: '2026-01-31' }, []],
    ['is not compared without an anchor', { endsOn: '2026-01-31' }, []],
    ['is not compared where something stands before it', { anchor: '2027-01-31', endsOn: 'x2026-01-31' }, []],
    ['is not compared where something stands after it', { anchor: '2027-01-31', endsOn: '2026-01-31T10:00' }, []],
    [
      'is compared with the anchor where the trial is no number of days',
      { anchor: '2027-01-31', trialDays: '14', endsOn: '2027-02-01' },
      [],
    ],
  ])('%s', (_name, input, conflicts) => {
    expect(subscriptionConflicts(input)).toEqual(conflicts);
  });
});

describe('the retries of a subscription', () => {
  const retry = (index: number, message: string): Conflict => ({ path: ['dunning', 'retryDays', index], message });
  const order = (day: number, before: number): string =>
    `${day} does not come after ${before}: days count from the first decline`;
  const meets = (day: number, room: number): string =>
    `a retry after ${day} days would meet the next bill, which may come after ${room}`;

  test.each<[string, unknown, unknown, Conflict[]]>([
    ['may be none', [], MONTHLY, []],
    ['rise', [1, 3, 27], MONTHLY, []],
    ['do not stand still', [3, 3], MONTHLY, [retry(1, order(3, 3))]],
    ['do not fall', [5, 3, 4], MONTHLY, [retry(1, order(3, 5))]],
    ['end before the next bill', [28], MONTHLY, [retry(0, meets(28, 28))]],
    [
      'tell each of their faults',
      [29, 28],
      MONTHLY,
      [retry(0, meets(29, 28)), retry(1, order(28, 29)), retry(1, meets(28, 28))],
    ],
    ['of two weeks have 14 days', [13, 14], { every: 2, unit: 'week' }, [retry(1, meets(14, 14))]],
    ['of a year have 365 days', [364, 365], { every: 1, unit: 'year' }, [retry(1, meets(365, 365))]],
    ['of each day have none', [1], { every: 1, unit: 'day' }, [retry(0, meets(1, 1))]],
    [
      'are compared among themselves where the interval is none',
      [3, 400, 2],
      { every: 1, unit: 'decade' },
      [retry(2, order(2, 400))],
    ],
    ['are compared among themselves without an interval', [400], undefined, []],
    ['are not compared with an interval of text', [400], { every: '1', unit: 'month' }, []],
    ['are not compared where they are text', ['3', '2'], MONTHLY, []],
    ['are not compared with what is no number', ['9', 3], MONTHLY, []],
    ['are not compared with what is no number, after them', [3, '2'], MONTHLY, []],
    ['are not compared where they are no list', '99', MONTHLY, []],
  ])('%s', (_name, retryDays, interval, conflicts) => {
    expect(subscriptionConflicts({ dunning: { retryDays }, interval })).toEqual(conflicts);
  });

  test.each([null, undefined, 7, 'never'])('are not compared where the dunning is %p', (dunning) => {
    expect(subscriptionConflicts({ dunning, interval: MONTHLY })).toEqual([]);
  });
});

describe('the jitter of a subscription', () => {
  const TOO_LONG = [{ path: ['jitter'], message: 'is longer than 6 hours' }];
  test.each<[unknown, Conflict[]]>([
    ['6 hours', []],
    ['361 minutes', TOO_LONG],
    [21_600_000, []],
    [21_600_001, TOO_LONG],
    ['a while', []],
    [null, []],
    [true, []],
    [['7 hours'], []],
    [{ toLowerCase: '7 hours' }, []],
    [undefined, []],
  ])('of %p is at most 6 hours, and compared only where it is a duration', (jitter, conflicts) => {
    expect(subscriptionConflicts({ jitter })).toEqual(conflicts);
  });
});

describe('the fewest days between two bills', () => {
  test.each<[unknown, number | undefined]>([
    [{ every: 3, unit: 'day' }, 3],
    [{ every: 2, unit: 'week' }, 14],
    [{ every: 2, unit: 'month' }, 56],
    [{ every: 2, unit: 'year' }, 730],
    [{ every: 1.5, unit: 'month' }, undefined],
    [{ every: 1, unit: 'fortnight' }, undefined],
    [{ every: 1 }, undefined],
    [{ unit: 'day' }, undefined],
    [null, undefined],
    ['monthly', undefined],
    [undefined, undefined],
  ])('of %j are %p', (interval, days) => {
    expect(shortestInterval(interval)).toBe(days);
  });
});
