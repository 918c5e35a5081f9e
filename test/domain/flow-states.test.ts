import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { Happening, Phase, StatefulFlow, Transition } from '../../src/domain/flow-states.js';
import {
  firstPhase,
  isFinalPhase,
  nextPhase,
  PHASES,
  STATEFUL_FLOWS,
  transitionsOf,
} from '../../src/domain/flow-states.js';

/** Phases that can follow `phase`, itself included only where a path leads back to it. */
function reachableFrom(type: StatefulFlow, phase: Phase, goes: (line: Transition) => boolean = () => true): Set<Phase> {
  const reached = new Set<Phase>();
  const look = [phase];
  for (let at = look.pop(); at !== undefined; at = look.pop()) {
    for (const line of transitionsOf(type)) {
      const { from, to } = line;
      if (from !== at || reached.has(to) || !goes(line)) continue;
      reached.add(to);
      look.push(to);
    }
  }
  return reached;
}

function phasesOf(type: StatefulFlow): Phase[] {
  return [...new Set(transitionsOf(type).flatMap(({ from, to }) => [from, to]))];
}

/** Lines on which money changes its owner. A capture made elsewhere is one too. */
function movesMoney({ from, on }: Transition): boolean {
  const operations: readonly Phase[] = ['creatingPayment', 'charging', 'crediting', 'capturing', 'refunding'];
  return (operations.includes(from) && (on === 'done' || on === 'captureInPart')) || on === 'capturedElsewhere';
}

/** Lines on which the hold is let go. */
function letsGo({ from, on }: Transition): boolean {
  return (VOIDING.includes(from) && on === 'done') || on === 'voidedElsewhere' || on === 'holdEnded';
}
const VOIDING: readonly Phase[] = ['voiding', 'voidingToRenew', 'lettingGoOnFile', 'lettingGoNotOnFile'];

/** The line on which another hold takes the place of the one that is gone. */
function holdsAnew({ from, on }: Transition): boolean {
  return from === 'renewing' && on === 'done';
}

const COMMANDS: readonly Happening[] = ['capture', 'void', 'refund'];
const HAPPENINGS = [...new Set(STATEFUL_FLOWS.flatMap((type) => transitionsOf(type).map(({ on }) => on)))];

describe.each(STATEFUL_FLOWS)('the states of %s', (type) => {
  const lines = transitionsOf(type);
  const phases = phasesOf(type);

  test('are each reached from the first one', () => {
    const reached = reachableFrom(type, firstPhase(type));
    expect(phases.filter((phase) => phase !== firstPhase(type) && !reached.has(phase))).toEqual([]);
  });

  test('are final exactly when no line leads out, and every other one can still come to an end', () => {
    const ends = type === 'paymentActions' ? ['idle'] : phases.filter((phase) => isFinalPhase(type, phase));
    expect(ends.length).toBeGreaterThan(0);
    for (const phase of phases) {
      const out = lines.filter(({ from }) => from === phase);
      expect({ phase, final: isFinalPhase(type, phase) }).toEqual({ phase, final: out.length === 0 });
      if (out.length > 0) expect([...reachableFrom(type, phase)].some((next) => ends.includes(next))).toBe(true);
    }
  });

  test('lead to one place for each happening', () => {
    const keys = lines.map(({ from, on }) => `${from} ${on}`);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });

  test('never change once they are final, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...HAPPENINGS), { maxLength: 30 }), (story) => {
        let phase: Phase = firstPhase(type);
        for (const on of story) {
          const next = nextPhase(type, phase, on);
          if (isFinalPhase(type, phase)) expect(next).toBeUndefined();
          phase = next ?? phase;
        }
      }),
    );
  });
});

describe.each(STATEFUL_FLOWS.filter((type) => type !== 'paymentActions'))('on every path of %s', (type) => {
  const lines = transitionsOf(type);

  test('money moves at most once', () => {
    for (const line of lines.filter(movesMoney)) {
      const after = reachableFrom(type, line.to).add(line.to);
      expect({ line, again: lines.filter((each) => after.has(each.from) && movesMoney(each)) }).toEqual({
        line,
        again: [],
      });
    }
  });

  test('nothing is captured after the hold has been let go, and nothing let go but the rest after a capture', () => {
    const ofThisHold = (line: Transition): boolean => !holdsAnew(line);
    for (const line of lines.filter(letsGo)) {
      const after = reachableFrom(type, line.to, ofThisHold).add(line.to);
      const taken = lines.filter((each) => after.has(each.from) && movesMoney(each) && each.from !== 'renewing');
      expect({ line, taken, final: isFinalPhase(type, line.to) || line.to === 'renewing' }).toEqual({
        line,
        taken: [],
        final: true,
      });
    }
    for (const line of lines.filter(movesMoney)) {
      const after = reachableFrom(type, line.to).add(line.to);
      expect(lines.filter((each) => after.has(each.from) && letsGo(each))).toEqual([]);
    }
  });

  test('a hold is made anew only where the one before is gone', () => {
    const ways = lines.filter(({ to }) => lines.some((line) => holdsAnew(line) && line.from === to));
    expect(ways.filter((way) => !letsGo(way))).toEqual([]);
  });
});

test('paymentActions moves money at most once for each command; under way it takes none but the void of a capture', () => {
  for (const line of transitionsOf('paymentActions')) {
    const { from, on, to } = line;
    if (from === 'voidingPending') expect(to).toBe('capturing');
    else if (from === 'capturing' && on === 'void') expect(to).toBe('voidingPending');
    else if (COMMANDS.includes(on)) expect({ from, idle: to === 'idle' }).toEqual({ from: 'idle', idle: false });
    else expect({ to, idle: from === 'idle' }).toEqual({ to: 'idle', idle: false });
  }
});

test('every phase that there is belongs to a flow', () => {
  const used = new Set(STATEFUL_FLOWS.flatMap(phasesOf));
  expect(PHASES.filter((phase) => !used.has(phase))).toEqual([]);
});

test.each(STATEFUL_FLOWS)('every line of %s leads where it says', (type) => {
  for (const { from, on, to } of transitionsOf(type)) expect(nextPhase(type, from, on)).toBe(to);
});

test.each<[StatefulFlow, Phase, Happening, Phase]>([
  ['paymentActions', 'idle', 'capture', 'capturing'],
  ['paymentActions', 'idle', 'refund', 'refunding'],
  ['paymentActions', 'idle', 'void', 'voiding'],
  ['paymentActions', 'capturing', 'done', 'idle'],
])('%s: %s, then %s, is %s', (type, from, on, to) => {
  expect(nextPhase(type, from, on)).toBe(to);
});
