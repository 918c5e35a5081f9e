import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { TIME_ZONES } from '../../src/contract/time-zones.js';
import { periodOf } from '../../src/domain/billing-calendar.js';
import { fractionOf, spread, addDays, endOfLocalDay, instantOf, localDateOf } from '../../src/domain/local-time.js';
import { fullOr } from '../support/counts.js';
import { anyAnchor, anyTime, anyZone, HARD_ZONES, planFor, wallClock } from './calendar-arbitraries.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('a local time', () => {
  test.each([
    ['in a gap of an hour', 'Europe/Rome', '2027-03-28', '02:30', '2027-03-28T01:00:00Z'],
    ['at the beginning of a gap', 'America/New_York', '2027-03-14', '02:00', '2027-03-14T07:00:00Z'],
    ['in a gap of half an hour', 'Australia/Lord_Howe', '2027-10-03', '02:10', '2027-10-02T15:30:00Z'],
    ['in a gap at midnight', 'America/Sao_Paulo', '2018-11-04', '00:00', '2018-11-04T03:00:00Z'],
    ['in a gap of two hours', 'Antarctica/Troll', '2027-03-28', '02:00', '2027-03-28T01:00:00Z'],
    ['in the gap after Ramadan', 'Africa/Casablanca', '2027-03-14', '02:30', '2027-03-14T02:00:00Z'],
    ['on a day that was left out', 'Pacific/Apia', '2011-12-30', '10:00', '2011-12-30T10:00:00Z'],
  ])('%s becomes the first instant after it', (_name, zone, date, time, instant) => {
    expect(instantOf(date, time, zone)).toBe(Date.parse(instant));
  });

  test.each([
    ['Europe/Rome', '2027-10-31', '02:30', '2027-10-31T00:30:00Z'],
    ['America/New_York', '2027-11-07', '01:30', '2027-11-07T05:30:00Z'],
    ['Australia/Lord_Howe', '2027-04-04', '01:45', '2027-04-03T14:45:00Z'],
    ['America/Sao_Paulo', '2018-02-17', '23:30', '2018-02-18T01:30:00Z'],
  ])('that comes twice in %s is the first of the two', (zone, date, time, instant) => {
    expect(instantOf(date, time, zone)).toBe(Date.parse(instant));
  });

  test('is shown by the clocks of its zone, the first time they do, and else falls to the end of a gap', () => {
    const days = fc.oneof(anyAnchor, fc.constantFrom('2011-12-30', '2018-11-04', '2027-03-28', '2027-10-31'));
    fc.assert(
      fc.property(days, anyTime, anyZone, (date, time, zone) => {
        const instant = instantOf(date, time, zone);
        const wanted = `${date} ${time}:00`;
        const shown = wallClock(instant, zone);
        if (shown === wanted) {
          for (const earlier of [HOUR / 2, HOUR, 2 * HOUR]) expect(wallClock(instant - earlier, zone)).not.toBe(wanted);
        } else {
          expect(shown > wanted).toBe(true);
          expect(wallClock(instant - 1, zone) < wanted).toBe(true);
        }
      }),
      { numRuns: fullOr(30_000, 1_000) },
    );
  });

  test.each(HARD_ZONES)('on each day of four years in %s is on that day, or right after what was left out', (zone) => {
    for (let date = '2026-01-01'; date < '2030-01-01'; date = addDays(date, fullOr(1, 17))) {
      for (const time of ['00:00', '02:30', '23:59']) expect(localDateOf(instantOf(date, time, zone), zone)).toBe(date);
    }
  });

  test.each([
    ['2027-02-30', '10:00', 'Europe/Rome'],
    ['2027-02-28', '25:00', 'Europe/Rome'],
    ['2027-02-28', '10:00', 'Europe/Atlantis'],
  ])('%s %s in %s does not exist and is refused', (date, time, zone) => {
    expect(() => instantOf(date, time, zone)).toThrow(RangeError);
  });
});

describe('the day left out in Samoa', () => {
  const plan = planFor({ anchor: '2011-12-29', interval: { every: 1, unit: 'day' }, timeZone: 'Pacific/Apia' });
  const due = (n: number, billAt = '10:00'): string => {
    const period = periodOf({ ...plan, billAt }, n);
    return wallClock(period?.dueAt ?? Number.NaN, plan.timeZone);
  };

  test('is billed once, at the beginning of the next, before the bill of that one', () => {
    expect([1, 2, 3].map((n) => due(n))).toEqual(['2011-12-29 10:00:00', '2011-12-31 00:00:00', '2011-12-31 10:00:00']);
  });

  test('coincides with the next day where both are billed at midnight, as two periods still', () => {
    expect([2, 3, 4].map((n) => due(n, '00:00'))).toEqual([
      '2011-12-31 00:00:00',
      '2011-12-31 00:00:00',
      '2012-01-01 00:00:00',
    ]);
  });
});

describe('jitter', () => {
  test('is the same for a reference in every release, and spreads references evenly', () => {
    // The first four bytes of the SHA-256 of the reference: another number would move the hour of every subscription.
    expect(fractionOf('club-7')).toBe(1_321_668_632 / 2 ** 32);
    expect(fractionOf('order-1001')).toBe(1_353_487_348 / 2 ** 32);
    expect(fractionOf('a'.repeat(200))).toBe(3_265_857_753 / 2 ** 32);
    const counts = Array.from({ length: 10 }, () => 0);
    for (let index = 0; index < 2_000; index += 1) {
      const tenth = Math.floor(10 * fractionOf(`club-${index}`));
      counts[tenth] = (counts[tenth] ?? 0) + 1;
    }
    expect(counts.reduce((sum, count) => sum + count)).toBe(2_000);
    for (const count of counts) expect(count).toBeGreaterThan(140);
  });

  test('is bounded and never reaches the next local day, not even at one minute to midnight', () => {
    const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(anyAnchor, anyTime, anyZone, fraction, fc.nat(6 * HOUR), (date, time, zone, part, most) => {
        const due = instantOf(date, time, zone);
        const moved = spread(due, most, part, zone);
        expect(moved).toBeGreaterThanOrEqual(due);
        expect(moved - due).toBeLessThanOrEqual(most);
        expect(localDateOf(moved, zone)).toBe(localDateOf(due, zone));
        expect(wallClock(endOfLocalDay(due, zone) - 1, zone).slice(0, 10)).toBe(localDateOf(due, zone));
      }),
      { numRuns: fullOr(10_000, 500) },
    );
    const late = instantOf('2027-01-31', '23:59', 'Europe/Rome');
    expect(spread(late, 6 * HOUR, 0.999, 'Europe/Rome') - late).toBeLessThan(MINUTE);
    expect(spread(late, 0, 0.999, 'Europe/Rome')).toBe(late);
    expect(spread(late, -HOUR, 0.999, 'Europe/Rome')).toBe(late);
    const noon = instantOf('2027-01-31', '12:00', 'Europe/Rome');
    expect(spread(noon, HOUR, 0.25, 'Europe/Rome') - noon).toBe(HOUR / 4);
    expect(spread(late, HOUR, 0.25, 'Europe/Rome') - late).toBe(MINUTE / 4);
  });
});

describe('the table of zones', () => {
  test('holds every zone that this Node version lists', () => {
    expect(Intl.supportedValuesOf('timeZone').filter((zone) => !TIME_ZONES.has(zone))).toEqual([]);
  });

  test('holds no zone that this Node version can not reckon with', () => {
    const zones = [...TIME_ZONES];
    expect(zones.length).toBeGreaterThan(590);
    expect(zones.filter((zone) => !Number.isFinite(instantOf('2027-06-30', '10:00', zone)))).toEqual([]);
  });

  test.each(['', 'europe/rome', 'Europe/Atlantis', '+01:00', 'Rome', 'Factory', 'Europe/Rome ', 'CEST'])(
    'does not hold %p',
    (name) => {
      expect(TIME_ZONES.has(name)).toBe(false);
    },
  );
});
