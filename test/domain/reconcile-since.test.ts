import { expect, test } from 'vitest';
import { undecodable } from '../../src/contract/payload-marks.js';
import { sinceTheLast } from '../../src/domain/reconcile/since.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const END = Date.UTC(2027, 0, 31, 1);
const iso = (time: number): string => new Date(time).toISOString();

test.each([
  ['without a run before, a day back', undefined, 25 * HOUR],
  ['after a run whose result nobody here can read', undecodable('unknown key id', 'old'), 25 * HOUR],
  ['after the run of the day before', { until: iso(END - DAY) }, 25 * HOUR],
  ['after missed days, from where the last run ended', { until: iso(END - 4 * DAY) }, 4 * DAY],
  ['from the first flow without an answer', { until: iso(END - DAY), askAgainFrom: iso(END - 3 * DAY) }, 3 * DAY],
  [
    'from that, two weeks before the last run at most',
    { until: iso(END - 3 * DAY), askAgainFrom: iso(END - 40 * DAY) },
    17 * DAY,
  ],
  ['after missed days, however many', { until: iso(END - 40 * DAY), askAgainFrom: iso(END - 41 * DAY) }, 41 * DAY],
  ['after a result of another form', { until: 'yesterday', askAgainFrom: 'soon' }, 25 * HOUR],
])('a reconciliation looks %s', (_how, last, backMs) => {
  expect(END - sinceTheLast(last, END).flows).toBe(backMs);
});

test('it matches no statement again because a flow had no answer', () => {
  const last = { until: iso(END - 2 * DAY), askAgainFrom: iso(END - 9 * DAY) };
  expect(END - sinceTheLast(last, END).statements).toBe(2 * DAY);
});

test('it matches those that the run before could not read, and not what else that has refused', () => {
  const refusedStatements = [
    { name: 'a.csv', faults: ["can't be read: EIO"], unread: true },
    { name: 'b.csv', faults: ['line 2: amount'] },
  ];
  expect(sinceTheLast({ until: iso(END - DAY), refusedStatements }, END).statementsAgain).toEqual(['a.csv']);
  expect(sinceTheLast({ until: iso(END - DAY) }, END)).not.toHaveProperty('statementsAgain');
});
