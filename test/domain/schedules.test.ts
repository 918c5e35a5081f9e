import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { HOUR_MS as HOUR } from '../../src/contract/time-units.js';
import {
  NETWORK_ERROR_BELIEVED_AFTER_MS,
  NETWORK_ERROR_REPOSTS_MS,
  OPERATOR_AFTER_MS,
  parkedDelay,
  parkedOrSlowDelay,
  pollDelay,
  PROVIDER_ERROR_READ_AFTER_MS,
  resendDelay,
  CVV_WINDOW_MS,
  KEY_WINDOW_MS,
  postUntil,
} from '../../src/domain/schedules.js';
import { showMoney } from '../../src/domain/money.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const LONGEST_CALL_MS = 65 * SECOND;
const round = fc.nat(100_000);

describe('schedules', () => {
  test('poll after 5 s, 15 s, 1 min, 5 min, 15 min, then hourly for two weeks, then daily for ever', () => {
    const seconds = [0, 1, 2, 3, 4, 5, 6, 340, 341, 1_000].map((n) => pollDelay(n) / SECOND);
    expect(seconds).toEqual([5, 15, 60, 300, 900, 3600, 3600, 3600, 86_400, 86_400]);
  });

  test.each([
    ['pollDelay', pollDelay, 5 * SECOND, 24 * HOUR],
    ['parkedDelay', parkedDelay, 15 * SECOND, 15 * MINUTE],
    ['resendDelay', resendDelay, SECOND, 15 * MINUTE],
    ['parkedOrSlowDelay', parkedOrSlowDelay, 15 * SECOND, 24 * HOUR],
  ])('%s starts low, never falls, and is bounded for any number of rounds', (_name, delay, first, most) => {
    expect(delay(0)).toBe(first);
    fc.assert(
      fc.property(round, (n) => {
        expect(delay(n + 1)).toBeGreaterThanOrEqual(delay(n));
        expect(delay(n)).toBeGreaterThanOrEqual(first);
        expect(delay(n)).toBeLessThanOrEqual(most);
      }),
    );
    expect(delay(100_000)).toBe(most);
  });

  test('look for a corrected key every 15 min for a day, then hourly for two weeks, then daily for years', () => {
    const minutes = [0, 1, 2, 6, 99, 100, 435, 436, 5_000].map((n) => parkedOrSlowDelay(n) / MINUTE);
    expect(minutes).toEqual([0.25, 0.5, 1, 15, 15, 60, 60, 1_440, 1_440]);
    const firstDay = Array.from({ length: 100 }, (_, n) => parkedOrSlowDelay(n)).reduce((sum, ms) => sum + ms, 0);
    expect(Math.round(firstDay / HOUR)).toBe(24);
  });

  test('ask an unreachable provider 5 times in all, over 10 minutes', () => {
    expect(NETWORK_ERROR_REPOSTS_MS).toHaveLength(4);
    expect(NETWORK_ERROR_REPOSTS_MS.reduce((sum, wait) => sum + wait, 0)).toBe(10 * MINUTE);
    expect(NETWORK_ERROR_BELIEVED_AFTER_MS).toBe(HOUR);
    expect(PROVIDER_ERROR_READ_AFTER_MS).toBe(5 * SECOND);
    expect(OPERATOR_AFTER_MS).toBe(24 * HOUR);
  });
});

describe('the window for sending', () => {
  test('ends 20 h after the anchor, with a CVV after 2 h 30 min', () => {
    const anchor = Date.UTC(2027, 0, 31);
    expect(postUntil(anchor, false)).toBe(Date.UTC(2027, 0, 31, 20));
    expect(postUntil(anchor, true)).toBe(Date.UTC(2027, 0, 31, 2, 30));
  });

  test('leaves room for the longest call and a wrong clock before the service forgets key or CVV', () => {
    expect(KEY_WINDOW_MS + LONGEST_CALL_MS + 3 * HOUR).toBeLessThan(24 * HOUR);
    expect(CVV_WINDOW_MS + LONGEST_CALL_MS + 20 * MINUTE).toBeLessThan(3 * HOUR);
    expect(CVV_WINDOW_MS).toBeLessThan(KEY_WINDOW_MS);
  });
});

test.each([
  [1095, 'USD', '10.95 USD'],
  [1095, 'JPY', '1095 JPY'],
  [5, 'KWD', '0.005 KWD'],
])('%d minor units of %s are shown as %s', (amount, currency, shown) => {
  expect(showMoney(amount, currency)).toBe(shown);
});
