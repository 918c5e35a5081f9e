import fc from 'fast-check';
import type { Interval } from '../../src/contract/subscription.js';
import { TIME_ZONES } from '../../src/contract/time-zones.js';
import type { BillingPlan } from '../../src/contract/billing-activities.js';

export const MONTHLY: Interval = { every: 1, unit: 'month' };

/** Where clocks do unusual things: half an hour, in Ramadan, at midnight, a whole day. */
export const HARD_ZONES = [
  'Europe/Rome',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Asia/Beirut',
  'Antarctica/Troll',
  'Asia/Kathmandu',
];

export function planFor(change: Partial<BillingPlan> = {}): BillingPlan {
  return {
    reference: 'club-7',
    anchor: '2027-01-31',
    trialDays: 0,
    interval: MONTHLY,
    timeZone: 'Europe/Rome',
    billAt: '10:00',
    jitterMs: 0,
    ...change,
  };
}

/** Any day whose next ten years lie between 2005 and 2070: rules that were, are, and are foreseen. */
export const anyAnchor = fc
  .integer({ min: Date.UTC(2005, 0, 1) / 86_400_000, max: Date.UTC(2060, 0, 1) / 86_400_000 })
  .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10));

const anyInterval: fc.Arbitrary<Interval> = fc.oneof(
  fc.record({ every: fc.integer({ min: 1, max: 45 }), unit: fc.constant('day' as const) }),
  fc.record({ every: fc.integer({ min: 1, max: 9 }), unit: fc.constant('week' as const) }),
  fc.record({ every: fc.integer({ min: 1, max: 24 }), unit: fc.constant('month' as const) }),
  fc.record({ every: fc.integer({ min: 1, max: 4 }), unit: fc.constant('year' as const) }),
);

export const anyTime = fc.oneof(
  fc.constantFrom('00:00', '00:30', '01:30', '02:00', '02:15', '02:30', '03:00', '23:30', '23:59'),
  fc
    .record({ hour: fc.nat(23), minute: fc.nat(59) })
    .map(({ hour, minute }) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`),
);

export const anyZone = fc.oneof(fc.constantFrom(...HARD_ZONES), fc.constantFrom(...TIME_ZONES));

export const anyPlan: fc.Arbitrary<BillingPlan> = fc.record({
  reference: fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/),
  anchor: anyAnchor,
  trialDays: fc.oneof(fc.constant(0), fc.nat(60)),
  interval: anyInterval,
  timeZone: anyZone,
  billAt: anyTime,
  jitterMs: fc.constantFrom(0, 15 * 60_000, 6 * 3_600_000),
});

/** `2027-01-31 10:00:00` in a zone, by the runtime and not by the library under test. */
export function wallClock(epochMs: number, timeZone: string): string {
  return clockOf(timeZone).format(epochMs).replace(',', '');
}

const clocks = new Map<string, Intl.DateTimeFormat>();
function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  clocks.set(timeZone, made);
  return made;
}
