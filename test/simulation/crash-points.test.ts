import { beforeAll, describe, expect, test } from 'vitest';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import { PLAIN_UNIT, withRisk } from '../../tools/stack/profile-units.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { BRIEF_UNIT } from '../support/crash-paths.js';
import { SEED, seededRandom } from '../support/seeded.js';
import { fullOr } from '../support/counts.js';
import { JOURNEYS, type SimulatedJourney } from './crash/journeys.js';
import { type Crash, Moments, type Victim, VICTIMS } from './crash/moments.js';
import { createSimulation } from './simulation.js';
import { stackOn } from './simulated-stack.js';

/** Of each journey and victim, how many moments a short run takes. It spares each journey one victim, another with each seed. */
const SAMPLE = 1;

/** A journey has fewer than a thousand: one that goes round in circles fails, and does not hang. */
const MOST_FIRINGS = 20_000;

/** One journey on a simulation of its own. Without a crash it tells which moments there are. */
async function travel(journey: SimulatedJourney, crash?: Crash): Promise<{ moments: Moments; wrong: string[] }> {
  const simulation = await createSimulation({
    seed: journey.name,
    units: [withRisk(PLAIN_UNIT), BRIEF_UNIT],
    // What pends is ended by the journey.
    settings: { pendingMs: 86_400_000 },
    keys: TEST_ENCRYPTION_KEYS,
    longPollMs: 86_400_000,
    mostFirings: MOST_FIRINGS,
  });
  try {
    const finish = await journey.begin(stackOn(simulation));
    const moments = new Moments(simulation, crash);
    const wrong = (await simulation.world.time.runUntil(finish(), `the end of "${journey.name}"`)) ?? [];
    return { moments, wrong: [...wrong, ...simulation.engine.findings] };
  } finally {
    await simulation.close();
  }
}

const all = fullOr(1, 0) === 1;
const hits = new Map<string, number>();

/** For the journey of this number. */
const victimsOf = (journey: number): readonly Victim[] =>
  all ? VICTIMS : VICTIMS.filter((_victim, index) => index !== (journey + SEED) % VICTIMS.length);

describe.each(JOURNEYS)('$name', (journey) => {
  let passed: readonly string[] = [];
  beforeAll(async () => {
    const undisturbed = await travel(journey);
    expect(undisturbed.wrong).toEqual([]);
    ({ passed } = undisturbed.moments);
  });

  test.each(victimsOf(JOURNEYS.indexOf(journey)))(
    'ends as the ledger says, with each movement made once, wherever it is when the %s dies',
    async (victim) => {
      const { length } = passed;
      const random = seededRandom(VICTIMS.indexOf(victim));
      const taken = all
        ? Array.from({ length }, (_, moment) => moment)
        : Array.from({ length: SAMPLE }, () => Math.floor(random() * length));
      const wrong: unknown[] = [];
      for (const moment of new Set(taken)) {
        const end = await travel(journey, { moment, victim }).catch((error: unknown) => ({ error }));
        if ('error' in end) {
          wrong.push({ moment, at: passed[moment], wrong: String(end.error) });
          continue;
        }
        expect(end.moments.hit).toBe(passed[moment]);
        hits.set(journey.type, (hits.get(journey.type) ?? 0) + 1);
        if (end.wrong.length > 0) wrong.push({ moment, at: end.moments.hit, wrong: end.wrong });
      }
      expect(wrong).toEqual([]);
    },
    fullOr(600_000, 60_000),
  );
});

test('every flow type has been hit', () => {
  expect(Object.values(WORKFLOW_TYPES).filter((type) => (hits.get(type) ?? 0) === 0)).toEqual([]);
  console.log(`Crash points hit: ${[...hits].map(([type, count]) => `${type} ${count}`).join(', ')}`);
});
