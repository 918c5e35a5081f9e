import { Temporal } from 'temporal-polyfill';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { checkSubscription } from '../../src/domain/check-subscription.js';

/** As on a version of Node whose rules of time zones are older than the name. */
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

const UUID = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';
const NOW = Date.parse('2027-01-15T12:00:00Z');

test.each([{}, { missedPeriods: 'skip' }])(
  'a zone that this process does not know is a fault of the input, and no question without an answer (%o)',
  (more) => {
    const input = {
      reference: 'club-7',
      customerId: UUID,
      token: UUID,
      amount: 999,
      currency: 'EUR',
      interval: { every: 1, unit: 'month' },
      anchor: '2027-01-31',
      ...more,
    };
    expect(checkSubscription({ ...input, timeZone: 'Europe/Kyiv' }, NOW)).toEqual({
      faults: [expect.stringMatching(/^timeZone: Europe\/Kyiv is not known to this process/)],
      // One that runs is joined all the same.
      late: expect.any(Object),
    });
    expect(checkSubscription({ ...input, timeZone: 'Europe/Kiev' }, NOW)).toMatchObject({
      input: { anchor: '2027-01-31' },
    });
  },
);
