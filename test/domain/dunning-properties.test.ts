import { expect, test } from 'vitest';
import fc from 'fast-check';
import type { Retryable } from '../../src/contract/charge.js';
import {
  afterAttempt,
  type DunningContext,
  afterCardChange,
  attemptRefusal,
  NOTHING_TRIED,
} from '../../src/domain/dunning.js';
import type { AttemptResult, DunningState } from '../../src/contract/billing-activities.js';
import { localDateOf } from '../../src/domain/local-time.js';
import { fullOr } from '../support/counts.js';
import { anyZone, wallClock } from './calendar-arbitraries.js';

const DAY = 86_400_000;
const START = Date.parse('2027-01-31T09:00:00Z');

const anyPolicy = fc.record({
  retryDays: fc
    .uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 6 })
    .map((days) => days.toSorted((a, b) => a - b)),
  localHour: fc.nat(23),
  maxAttempts: fc.integer({ min: 1, max: 6 }),
  onGivenUp: fc.constantFrom('cancel' as const, 'pause' as const, 'continue' as const),
  onCutShort: fc.constantFrom('cancel' as const, 'pause' as const, 'continue' as const),
});
const anyContext: fc.Arbitrary<Omit<DunningContext, 'now'>> = fc.record({
  policy: anyPolicy,
  timeZone: anyZone,
  jitterMs: fc.constantFrom(0, 900_000),
  fraction: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  periodEndsAt: fc.integer({ min: 1, max: 60 }).map((days) => START + days * DAY),
});
const anyResult: fc.Arbitrary<AttemptResult> = fc.oneof(
  fc.record({
    status: fc.constant('declined' as const),
    category: fc.constantFrom(
      'payment_method_declined',
      'provider_error',
      'provider_network_error',
      'unknown_category',
    ),
    retryable: fc.constantFrom<Retryable>('newReference', 'newCard', 'nobody'),
    confirmed: fc.boolean(),
  }),
  fc.record({
    status: fc.constantFrom('notExecuted' as const, 'refused' as const, 'pending' as const, 'unknown' as const),
  }),
);
/** What happens around the attempts: their results, and what buyer and merchant do meanwhile. */
const anyStory = fc.array(
  fc.record({
    result: anyResult,
    cardChanged: fc.boolean(),
    personActs: fc.constantFrom(undefined, 'person' as const, 'personAtRisk' as const),
    waitMs: fc.nat(3 * DAY),
  }),
  { minLength: 1, maxLength: 25 },
);

interface Sent {
  card: number;
  result: AttemptResult;
  now: number;
  by: 'schedule' | 'person' | 'personAtRisk';
}

/** Runs a story as a subscription would: no attempt leaves that is refused, and none after giving up. */
function attemptsOf(
  base: Omit<DunningContext, 'now'>,
  story: typeof anyStory extends fc.Arbitrary<infer T> ? T : never,
): Sent[] {
  const sent: Sent[] = [];
  let state: DunningState = NOTHING_TRIED;
  let card = 1;
  let now = START;
  let by: Sent['by'] = 'schedule';
  for (const { result, cardChanged, personActs, waitMs } of story) {
    if (attemptRefusal(state, base.policy, by) === undefined) {
      sent.push({ card, result, now, by });
      const next = afterAttempt(state, result, { ...base, now });
      state = next.state;
      if (next.step.do === 'giveUp') return sent;
      if (next.step.do === 'retry') {
        expect(next.step.at).toBeGreaterThan(now);
        expect(next.step.at).toBeLessThan(base.periodEndsAt);
        now = next.step.at;
      } else now += waitMs;
    } else now += waitMs;
    if (cardChanged) {
      card += 1;
      state = afterCardChange(state);
    }
    by = personActs ?? 'schedule';
  }
  return sent;
}

const RUNS = { numRuns: fullOr(12_000, 500) };
const isDoubt = ({ result }: Sent): boolean =>
  result.status === 'unknown' || result.status === 'pending' || (result.status === 'declined' && !result.confirmed);

test('no period sees more declines than the policy allows, whoever asks for attempts and with how many cards', () => {
  fc.assert(
    fc.property(anyContext, anyStory, (base, story) => {
      const counted = attemptsOf(base, story).filter(
        ({ result }) =>
          result.status === 'declined' &&
          result.confirmed &&
          !(result.category === 'provider_network_error' && result.retryable === 'newReference'),
      );
      expect(counted.length).toBeLessThanOrEqual(base.policy.maxAttempts);
    }),
    RUNS,
  );
});

test('a card that was declined for good is never tried again, not even on request', () => {
  fc.assert(
    fc.property(anyContext, anyStory, (base, story) => {
      const dead = new Set<number>();
      for (const { card, result } of attemptsOf(base, story)) {
        expect(dead.has(card)).toBe(false);
        if (result.status === 'declined' && result.confirmed && result.retryable === 'newCard') dead.add(card);
      }
    }),
    RUNS,
  );
});

test('nothing follows an attempt whose outcome is unknown, and only a person who takes the risk follows one that nobody confirmed', () => {
  fc.assert(
    fc.property(anyContext, anyStory, (base, story) => {
      const sent = attemptsOf(base, story);
      for (const [index, attempt] of sent.entries()) {
        const next = sent[index + 1];
        if (next === undefined || !isDoubt(attempt)) continue;
        expect(attempt.result.status).toBe('declined');
        expect(next.by).toBe('personAtRisk');
      }
    }),
    RUNS,
  );
});

test('a scheduled retry comes at its local hour on a day of the list, and on a later day than the decline', () => {
  fc.assert(
    fc.property(anyContext, fc.array(fc.nat(5 * DAY), { maxLength: 6 }), (base, lateness) => {
      const soft: AttemptResult = { status: 'declined', category: 'x', retryable: 'newReference', confirmed: true };
      let state: DunningState = NOTHING_TRIED;
      let now = START;
      const first = Date.parse(localDateOf(now, base.timeZone));
      for (const late of lateness) {
        const next = afterAttempt(state, soft, { ...base, now });
        if (next.step.do !== 'retry') return;
        const day = localDateOf(next.step.at, base.timeZone);
        expect(day > localDateOf(now, base.timeZone)).toBe(true);
        expect(base.policy.retryDays).toContain((Date.parse(day) - first) / DAY);
        const hour = Number(wallClock(next.step.at, base.timeZone).slice(11, 13));
        // One later where the hour was left out.
        expect([base.policy.localHour, base.policy.localHour + 1]).toContain(hour);
        state = next.state;
        now = next.step.at + late;
      }
    }),
    RUNS,
  );
});

test('a wait for a card or a person always ends, and never after its period', () => {
  fc.assert(
    fc.property(anyContext, anyResult, fc.integer({ min: -3, max: 30 }), (base, result, days) => {
      const now = START + days * DAY;
      const { step } = afterAttempt({ ...NOTHING_TRIED, firstDeclinedAt: START }, result, { ...base, now });
      if (step.do !== 'wait') return;
      expect(step.giveUpAt).toBeGreaterThan(now);
      expect(step.giveUpAt).toBeLessThanOrEqual(base.periodEndsAt);
    }),
    RUNS,
  );
});
