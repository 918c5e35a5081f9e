import { Temporal } from 'temporal-polyfill';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { faultsOf } from '../../src/contract/fields.js';
import {
  jitterMs,
  MAX_JITTER_MS,
  type SubscriptionInput,
  subscriptionInputSchema,
} from '../../src/contract/subscription.js';
import {
  billNowSchema,
  cancelSubscriptionSchema,
  changeCardSchema,
  changePlanSchema,
  pauseSchema,
  refundPeriodSchema,
  resumeSchema,
  setAmountSchema,
  skipPeriodSchema,
} from '../../src/contract/subscription-commands.js';
import { planOf } from '../../src/domain/billing-calendar.js';
import { checkSubscription } from '../../src/domain/check-subscription.js';

const UUID = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';
/** The least that a subscription needs. */
const LEAST: SubscriptionInput = {
  reference: 'club-7',
  customerId: UUID,
  token: UUID,
  amount: 999,
  currency: 'EUR',
  interval: { every: 1, unit: 'month' },
  anchor: '2027-01-31',
  timeZone: 'Europe/Rome',
};
const NOW = Date.parse('2027-01-15T12:00:00Z');

function faults(change: object, now = NOW): string[] {
  const checked = checkSubscription({ ...LEAST, ...change }, now);
  return 'faults' in checked ? checked.faults : [];
}
const pathsOf = (lines: readonly string[]): string[] => lines.map((line) => line.slice(0, line.indexOf(': ')));

describe('the input of a subscription', () => {
  test('needs card, plan and anchor, and fills in the rest', () => {
    const input = {
      ...LEAST,
      entryMode: 'recurring_subsequent_transaction',
      billAt: '10:00',
      trialDays: 0,
      jitter: '1 hour',
      businessUnit: 'default',
    };
    expect(checkSubscription(LEAST, NOW)).toEqual({ input });
    expect(subscriptionInputSchema.parse(input)).toEqual(input);
    for (const field of Object.keys(LEAST)) expect(pathsOf(faults({ [field]: undefined }))).toEqual([field]);
  });

  test('becomes a plan of plain data, with its end if it has one', () => {
    const { reference, anchor, interval, timeZone } = LEAST;
    const plan = { reference, anchor, interval, timeZone, trialDays: 0, billAt: '10:00', jitterMs: 3_600_000 };
    expect(planOf(subscriptionInputSchema.parse(LEAST))).toStrictEqual(plan);
    expect(planOf(subscriptionInputSchema.parse({ ...LEAST, periods: 12, jitter: 0 }))).toEqual({
      ...plan,
      periods: 12,
      jitterMs: 0,
    });
    expect(planOf(subscriptionInputSchema.parse({ ...LEAST, endsOn: '2028-01-31' }))).toMatchObject({
      endsOn: '2028-01-31',
    });
  });

  test.each<[string, object]>([
    ['reference', { reference: 'a'.repeat(41) }],
    ['reference', { reference: 'club.7' }],
    ['anchor', { anchor: '2027-02-29' }],
    ['anchor', { anchor: '31.01.2027' }],
    ['anchor', { anchor: '2227-01-31' }],
    ['anchor', { anchor: 20270131 }],
    ['timeZone', { timeZone: 'Europe/Atlantis' }],
    ['timeZone', { timeZone: '+01:00' }],
    ['billAt', { billAt: '24:00' }],
    ['billAt', { billAt: '9:00' }],
    ['interval.unit', { interval: { every: 1, unit: 'fortnight' } }],
    ['interval.every', { interval: { every: 0, unit: 'day' } }],
    ['interval.every', { interval: { every: 1.5, unit: 'month' } }],
    ['interval.every', { interval: { every: 11, unit: 'year' } }],
    ['trialDays', { trialDays: -1 }],
    ['periods', { periods: 0 }],
    ['missedPeriods', { missedPeriods: 'all' }],
    ['jitter', { jitter: '7 hours' }],
    ['jitter', { jitter: 'a while' }],
    ['entryMode', { entryMode: 'consent_transaction' }],
    ['notify.url', { notify: { url: 'ftp://shop.example' } }],
    ['endsOn', { periods: 3, endsOn: '2028-01-31' }],
    ['endsOn', { endsOn: '2027-01-31' }],
    ['endsOn', { trialDays: 14, endsOn: '2027-02-14' }],
    ['dunning.retryDays.1', { dunning: { retryDays: [3, 3] } }],
    ['dunning.retryDays.1', { dunning: { retryDays: [1, 28] } }],
    ['dunning.retryDays.0', { interval: { every: 1, unit: 'week' }, dunning: { retryDays: [7] } }],
    ['dunning.localHour', { dunning: { localHour: 24 } }],
    ['dunning.maxAttempts', { dunning: { maxAttempts: 0 } }],
    ['dunning.onGivenUp', { dunning: { onGivenUp: 'ignore' } }],
    ['cvv', { cvv: '123' }],
  ])('is refused for its %s alone: %j', (path, change) => {
    expect(pathsOf(faults(change))).toEqual([path]);
  });

  test.each<[string, object]>([
    ['a reference of 40 characters', { reference: 'a'.repeat(40) }],
    ['a leap day', { anchor: '2028-02-29' }],
    ['an end the day after the only bill', { trialDays: 14, endsOn: '2027-02-15' }],
    ['retries that just fit', { dunning: { retryDays: [1, 27], maxAttempts: 3, onGivenUp: 'pause', localHour: 0 } }],
    ['an old name of a zone', { timeZone: 'Asia/Calcutta' }],
    ['no jitter', { jitter: 0 }],
    ['the longest jitter', { jitter: '6 hours' }],
  ])('may have %s', (_name, change) => {
    expect(faults(change)).toEqual([]);
  });

  test('is refused with every fault at once, those between two fields and those of the day included', () => {
    const lines = faults({
      reference: 'club 7',
      amount: 9.99,
      timeZone: 'Europe/Rome',
      anchor: '2026-01-31',
      periods: 12,
      endsOn: '2026-01-31',
      dunning: { retryDays: [5, 3], localHour: '10' },
      jitter: '2 days',
      plan: 'gold',
    });
    expect(pathsOf(lines).toSorted()).toEqual([
      'amount',
      'anchor',
      'dunning.localHour',
      'dunning.retryDays.1',
      'endsOn',
      'endsOn',
      'jitter',
      'plan',
      'reference',
    ]);
  });

  test.each([null, undefined, 7, 'club-7', [], [LEAST]])('can not be %p', (raw) => {
    expect(checkSubscription(raw, NOW)).toStrictEqual({ faults: [expect.stringMatching(/^input: /)] });
  });

  test('has a jitter in ms, never above its limit', () => {
    expect(jitterMs('15 minutes')).toBe(900_000);
    expect(jitterMs('1 year of Sundays')).toBe(0);
    expect(jitterMs(10 * MAX_JITTER_MS)).toBe(MAX_JITTER_MS);
  });
});

describe('an anchor in the past', () => {
  test('is refused, with what to do, unless missedPeriods says what becomes of the periods since', () => {
    expect(faults({ anchor: '2027-01-14' })).toEqual([
      'anchor: 2027-01-14 is in the past, today is 2027-01-15 in Europe/Rome: give a later day, or say with ' +
        'missedPeriods what to do with the periods since then (billAll, billLatest or skip)',
    ]);
    expect(faults({ anchor: '2027-01-14', missedPeriods: 'skip' })).toEqual([]);
  });

  test('is one before today in the zone of the subscription, whatever the day is elsewhere', () => {
    expect(faults({ anchor: '2027-01-15' })).toEqual([]);
    const lateInRome = Date.parse('2027-01-15T23:30:00Z');
    expect(pathsOf(faults({ anchor: '2027-01-15' }, lateInRome))).toEqual(['anchor']);
    expect(faults({ anchor: '2027-01-15', timeZone: 'America/New_York' }, lateInRome)).toEqual([]);
  });

  test('is refused beside other faults, but not on the word of a zone that does not exist', () => {
    expect(pathsOf(faults({ anchor: '2026-01-31', amount: -1 })).toSorted()).toEqual(['amount', 'anchor']);
    expect(pathsOf(faults({ anchor: '2026-01-31', timeZone: 'Mars/Olympus' }))).toEqual(['timeZone']);
  });
});

describe('the argument of', () => {
  const command = { commandId: 'case-17', who: 'ada', why: 'the buyer asked' };
  test.each([
    ['pause', pauseSchema, {}, { openPeriod: 'hold' }],
    ['resume', resumeSchema, {}, {}],
    ['changeCard', changeCardSchema, { token: UUID }, {}],
    ['changePlan', changePlanSchema, { amount: 1299 }, {}],
    ['changePlan', changePlanSchema, { interval: { every: 1, unit: 'year' }, billAt: '08:30' }, {}],
    ['changePlan', changePlanSchema, { amount: 0, fromPeriod: 3 }, {}],
    ['skipPeriod', skipPeriodSchema, { period: 3 }, {}],
    ['setAmount', setAmountSchema, { period: 3, amount: 0 }, {}],
    ['cancel', cancelSubscriptionSchema, { when: 'periodEnd' }, {}],
    ['billNow', billNowSchema, { period: 3 }, {}],
    ['refundPeriod', refundPeriodSchema, {}, {}],
    ['refundPeriod', refundPeriodSchema, { period: 3, amount: 500 }, {}],
  ])(
    '%s is taken at its least and with who asks and why, and not with an unknown field',
    (_name, schema, least, more) => {
      expect(schema.parse(least)).toEqual({ ...least, ...more });
      expect(schema.parse({ ...least, ...command })).toEqual({ ...least, ...command, ...more });
      expect(schema.safeParse({ ...least, surprise: 1 }).success).toBe(false);
    },
  );

  test.each([
    ['changeCard', changeCardSchema, {}, 'token'],
    ['changeCard', changeCardSchema, { token: 'tok_1' }, 'token'],
    ['changePlan', changePlanSchema, {}, 'input'],
    ['changePlan', changePlanSchema, { amount: -1 }, 'amount'],
    ['changePlan', changePlanSchema, { fromPeriod: 3, billAt: '10:00', amount: 5 }, 'fromPeriod'],
    ['changePlan', changePlanSchema, { amount: 5, amounts: [{ fromPeriod: 3, amount: 5 }] }, 'amounts'],
    ['changePlan', changePlanSchema, { amounts: [] }, 'amounts'],
    ['skipPeriod', skipPeriodSchema, { period: 0 }, 'period'],
    ['setAmount', setAmountSchema, { period: 1 }, 'amount'],
    ['setAmount', setAmountSchema, { period: 1, amount: 1.5 }, 'amount'],
    ['changePlan', changePlanSchema, { amount: 1, currency: 'USD' }, 'currency'],
    ['cancel', cancelSubscriptionSchema, {}, 'when'],
    ['cancel', cancelSubscriptionSchema, { when: 'later' }, 'when'],
    ['billNow', billNowSchema, {}, 'period'],
    ['billNow', billNowSchema, { period: 0 }, 'period'],
    ['refundPeriod', refundPeriodSchema, { amount: 0.5 }, 'amount'],
    ['pause', pauseSchema, { who: ' ' }, 'who'],
    ['resume', resumeSchema, { missedPeriods: 'none' }, 'missedPeriods'],
  ])('%s is refused: %#', (_name, schema, value, path) => {
    const parsed = schema.safeParse(value);
    expect(parsed.success ? [] : pathsOf(faultsOf(parsed.error))).toEqual([path]);
  });
});

describe('a zone that is newer than the rules of this Node', () => {
  beforeEach(() => {
    vi.spyOn(Temporal.Instant.prototype, 'toZonedDateTimeISO').mockImplementation(function (
      this: Temporal.Instant,
      zone,
    ) {
      if (zone === 'Europe/Kyiv') throw new RangeError(`Invalid time zone: ${zone}`);
      return new Temporal.ZonedDateTime(this.epochNanoseconds, typeof zone === 'string' ? zone : zone.timeZoneId);
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.each([{}, { missedPeriods: 'skip' }])(
    'is a fault of the input, and no question without an answer (%o)',
    (more) => {
      expect(checkSubscription({ ...LEAST, ...more, timeZone: 'Europe/Kyiv' }, NOW)).toEqual({
        faults: [expect.stringMatching(/^timeZone: Europe\/Kyiv is not known to this process/)],
        // One that runs is joined all the same.
        late: expect.any(Object),
      });
      expect(checkSubscription({ ...LEAST, ...more, timeZone: 'Europe/Kiev' }, NOW)).toMatchObject({
        input: { anchor: '2027-01-31' },
      });
    },
  );
});
