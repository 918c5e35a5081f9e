import { describe, expect, test } from 'vitest';
import { msToNumber } from '@temporalio/common/lib/time.js';
import fc from 'fast-check';
import { durationMs, durationSchema } from '../../src/contract/fields.js';

const UNITS = [
  ...['ms', 'millisecond', 'milliseconds', 's', 'second', 'seconds', 'm', 'minute', 'minutes'],
  ...['h', 'hour', 'hours', 'd', 'day', 'days', 'w', 'week', 'weeks'],
];

describe('a duration', () => {
  test.each<[string | number, number]>([
    ['8 seconds', 8_000],
    ['6 days', 518_400_000],
    ['1 minute', 60_000],
    ['1.5 hours', 5_400_000],
    ['250ms', 250],
    ['250 ms', 250],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1 week', 604_800_000],
    ['0 seconds', 0],
    [0, 0],
    [1500, 1500],
    ['3ms', 3],
    ['3 msec', 3],
    ['3 m', 180_000],
    ['100000 weeks', 60_480_000_000_000],
    [60_480_000_000_000, 60_480_000_000_000],
  ])('%p is %d ms', (value, ms) => {
    expect(durationMs(value)).toBe(ms);
    expect(durationSchema.parse(value)).toBe(value);
  });

  test('means what the Temporal SDK takes it to mean', () => {
    const amount = fc.oneof(
      fc.nat(100_000).map(String),
      fc.tuple(fc.nat(999), fc.nat(99)).map(([a, b]) => `${a}.${b}`),
    );
    fc.assert(
      fc.property(amount, fc.constantFrom('', ' '), fc.constantFrom(...UNITS), (n, space, unit) => {
        const value = `${n}${space}${unit}` as `${number} seconds`;
        expect(durationMs(value)).toBe(Math.round(msToNumber(value)));
      }),
    );
  });

  test('may be written in every short form and letter case that the Temporal SDK takes', () => {
    const forms = ['10 secs', '5 min', '5 mins', '1 hr', '2 hrs', '20 msecs', '8 Seconds', '8 SECONDS', '3 D'];
    const read = Object.fromEntries(forms.map((form) => [form, durationMs(form)]));
    expect(read).toEqual(Object.fromEntries(forms.map((form) => [form, msToNumber(form as `${number} seconds`)])));
  });

  test.each([
    '',
    'soon',
    'seconds',
    '8',
    '8 fortnights',
    '-8 seconds',
    '8  seconds',
    '8 seconds ',
    '1e3 seconds',
    'Infinity days',
    '99999999999999999999 weeks',
    '8 constructor',
    '8 tostring',
    '8 atoms',
    '8 ',
    's',
    ' seconds',
    '100001 weeks',
    '60480000000001 ms',
    60_480_000_000_001,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
  ])('%p is none', (value) => {
    expect(durationMs(value)).toBeUndefined();
    expect(durationSchema.safeParse(value).success).toBe(false);
  });

  test('of any text is either none or a safe number of ms that is not negative', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d{1,25}\.?\d{0,9} ?[a-z]{0,12}$/)), (value) => {
        const ms = durationMs(value);
        if (ms !== undefined) expect(Number.isSafeInteger(ms) && ms >= 0).toBe(true);
      }),
    );
  });
});
