import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { PaymentAction } from '../../src/contract/payment-actions.js';
import type { Phase } from '../../src/domain/flow-states.js';
import { nextPhase } from '../../src/domain/flow-states.js';
import { holdTerms } from '../../src/domain/hold.js';
import { allowedAmount, listsLag, sumsOf } from '../../src/domain/payment-sums.js';
import { fullOr } from '../support/storm.js';
import { anyEvent, HoldModel } from './hold-model.js';
import type { Fate, Truth } from './payment-facts.js';
import { actionsOf, anyAmount, factsOf } from './payment-facts.js';

const HOUR = 3_600_000;
const SENT = Date.UTC(2027, 0, 31);
const RUNS = { numRuns: fullOr(20_000, 500) };

const terms = fc.record({
  holdMs: fc.integer({ min: 2 * HOUR, max: 10 * 24 * HOUR }),
  deadlineMs: fc.integer({ min: HOUR / 60, max: 4 * 24 * HOUR }),
  onDeadline: fc.constantFrom('capture' as const, 'void' as const),
});
const events = fc.array(anyEvent, { maxLength: 60, size: 'max' });

function begin({
  holdMs,
  deadlineMs,
  onDeadline,
}: {
  holdMs: number;
  deadlineMs: number;
  onDeadline: 'capture' | 'void';
}) {
  return new HoldModel(holdTerms(SENT, SENT, holdMs, { deadlineMs }), onDeadline, SENT);
}

describe('a hold under any sequence of commands, answers, cancels and delays', () => {
  test('is captured at most once, never beyond what was authorized, and never once it is voided', () => {
    fc.assert(
      fc.property(terms, events, (asked, heard) => {
        const hold = begin(asked);
        for (const event of heard) {
          const { voided } = hold;
          const before = hold.captures.length;
          hold.hear(event);
          if (voided) expect(hold.captures).toHaveLength(before);
          expect(hold.captures.length).toBeLessThanOrEqual(1);
          expect(hold.captures[0] ?? 0).toBeLessThanOrEqual(100);
          expect(hold.voided && hold.captures.length > 0).toBe(false);
        }
      }),
      RUNS,
    );
  });

  test('comes to an end, and the end says what became of the money', () => {
    fc.assert(
      fc.property(terms, events, (asked, heard) => {
        const hold = begin(asked);
        for (const event of heard) hold.hear(event);
        hold.drain();
        const { phase, captures, voided, heldElsewhere } = hold;
        const captured = captures.length > 0 || heldElsewhere === 'captured';
        if (phase === 'captured') expect(captured).toBe(true);
        else expect({ phase, captured }).toEqual({ phase, captured: false });
        if (phase === 'voided') expect(voided || heldElsewhere === 'voided').toBe(true);
      }),
      RUNS,
    );
  });

  test('never changes once it has ended, and sends nothing any more', () => {
    fc.assert(
      fc.property(terms, events, events, (asked, heard, late) => {
        const hold = begin(asked);
        for (const event of heard) hold.hear(event);
        hold.drain();
        const { phase, sent } = hold;
        for (const event of late) hold.hear(event);
        expect({ phase: hold.phase, sent: hold.sent }).toEqual({ phase, sent });
      }),
    );
  });
});

interface Step {
  action: PaymentAction;
  asked: number | undefined;
  fate: Fate | 'refused';
  /** What the lists show of each earlier command of ours. */
  shown: readonly Truth['shown'][];
  /** The provider has executed what nobody confirmed. */
  moved: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  action: fc.constantFrom<PaymentAction>('refund', 'refund', 'capture', 'void'),
  asked: fc.option(fc.integer({ min: 1, max: 150 }), { nil: undefined }),
  fate: fc.constantFrom<Step['fate']>('succeeded', 'succeeded', 'unconfirmed', 'failed', 'refused'),
  shown: fc.array(fc.constantFrom<Truth['shown']>('now', 'as pending', 'not at all'), { minLength: 20, maxLength: 20 }),
  moved: fc.boolean(),
});

describe('commands to a payment, whatever lists lag and whatever is never confirmed', () => {
  test('never capture more than was authorized, refund more than was captured, or do both of capture and void', () => {
    fc.assert(
      fc.property(anyAmount, fc.array(step, { maxLength: 20 }), (scale, steps) => {
        const authorized = 100 + (scale % 50);
        const truths: Truth[] = [];
        const moved = { capture: 0, refund: 0, void: 0 };
        let phase: Phase = 'idle';
        for (const { action, asked, fate, shown, moved: all } of steps) {
          const seen = truths.map((truth, index) => ({ ...truth, shown: shown[index] ?? 'now' }));
          const facts = factsOf(seen, authorized, 'Authorized');
          const sums = sumsOf(facts, actionsOf(seen));
          if (listsLag(facts, sums)) continue;
          phase = nextPhase('paymentActions', phase, action) ?? phase;
          const allowed = allowedAmount(action, asked, sums, String);
          const refused = 'refusal' in allowed || fate === 'refused';
          const on = refused ? 'refused' : fate === 'succeeded' ? 'done' : 'failed';
          phase = nextPhase('paymentActions', phase, on) ?? phase;
          expect(phase).toBe('idle');
          if ('refusal' in allowed || fate === 'refused') continue;
          const { amount } = allowed;
          truths.push({ kind: action, id: `t-${truths.length}`, amount, fate, ours: true, shown: 'now' });
          // A void is all or nothing: the service itself refuses what comes after one that was done.
          if (fate === 'succeeded' || (fate === 'unconfirmed' && all && action !== 'void')) moved[action] += amount;
          expect(moved.capture).toBeLessThanOrEqual(authorized);
          expect(moved.refund).toBeLessThanOrEqual(moved.capture);
          expect(moved.void > 0 && moved.capture > 0).toBe(false);
        }
      }),
      RUNS,
    );
  });
});
