import { expect, test } from 'vitest';
import { collectedUntil } from '../../src/domain/billing-calendar.js';

const DAY = 86_400_000;
const NOW = Date.UTC(2027, 0, 15, 1, 20);
const week = { intervalDays: 7, now: NOW };

test.each([
  ['before its day is tried for as long as from its day on', { dueAt: NOW + 3 * DAY, nextDueAt: undefined }, 10 * DAY],
  ['at its very due time is tried for as long as from its day on', { dueAt: NOW, nextDueAt: NOW + 9 * DAY }, 7 * DAY],
  ['that is overdue is tried until the next regular one', { dueAt: NOW - 3 * DAY, nextDueAt: NOW + 4 * DAY }, 4 * DAY],
  ['that is overdue, with the next one at once, is tried for a day', { dueAt: NOW - 7 * DAY, nextDueAt: NOW + 1 }, DAY],
  ['that is overdue and the last one is tried for a period', { dueAt: NOW - 7 * DAY, nextDueAt: undefined }, 7 * DAY],
])('a period billed by a person %s', (_, due, lasts) => {
  expect(collectedUntil({ ...week, ...due }) - NOW).toBe(lasts);
});
