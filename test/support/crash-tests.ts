import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askInTurn, auditJourneys } from './crash-audit.js';
import type { CrashPath } from './crash-paths.js';
import { type CrashPoint, crashPointsOf, isSlow } from './crash-points.js';
import { type CrashStack, startCrashStack, withoutCreationEvents } from './crash-stack.js';
import { crashAt, type Victim, type BatchOfCrashes } from './crash-batch.js';
import { flowProblems, untilNoneIsOpen } from './flow-health.js';
import { forEach } from './for-each.js';
import { fullOr } from './counts.js';

const KILLS: readonly { victim: Victim; who: string }[] = [
  { victim: 'both', who: 'the worker and the Temporal server die' },
  { victim: 'worker', who: 'the worker dies' },
  { victim: 'server', who: 'the Temporal server dies' },
];
/** Flows that one kill hits together: as many as can be brought to their points before the first of them times out. */
const AT_ONCE = 52;
/** A busy machine may let a flow pass its point; then another one is sent there. */
const ROUNDS = 4;

/**
 * A sample of them on real processes: which, goes by the seed. The simulation takes each point of each type of flow.
 * @param takes of the points of a path, by their number from 0
 */
export function crashTests(paths: readonly CrashPath[], takes: (index: number) => boolean): void {
  let crashStack: CrashStack;
  let points: CrashPoint[];
  beforeAll(async () => {
    crashStack = await startCrashStack();
    await withoutCreationEvents(crashStack);
    const ofPaths = await Promise.all(paths.map((path) => crashPointsOf(crashStack, path)));
    points = ofPaths.flatMap((ofPath) => {
      const taken = ofPath.filter((_, index) => takes(index));
      // A path with few points may have none that is taken: it would go untried, by the kills of the server at least.
      const forAll = taken.some(isForEachVictim) ? [] : ofPath.filter(isForEachVictim).slice(0, 1);
      return [...taken, ...forAll];
    });
  }, 400_000);
  afterAll(async () => {
    await crashStack?.close();
  });

  describe.each(KILLS.slice(0, fullOr(KILLS.length, 1)))('flows while $who', ({ victim }) => {
    const hit: BatchOfCrashes['hit'][number][] = [];
    let missed: readonly CrashPoint[] = [];

    test('end as the ledger says, with each movement made once, wherever they are at that moment', async () => {
      missed = points.filter((point) => victim !== 'server' || isForEachVictim(point));
      for (let round = 0; round < ROUNDS && missed.length > 0; round += 1) {
        const results: BatchOfCrashes[] = [];
        for (const batch of batchesOf(missed)) {
          results.push(await crashAt(crashStack, batch, victim));
          await expectLedgerFits(crashStack);
        }
        hit.push(...results.flatMap((result) => result.hit));
        missed = results.flatMap((result) => result.missed);
      }
    }, 600_000);

    test('have been hit on each path, at a sample of its HTTP writes and of its writes to the history', () => {
      expect(missed.map(({ name }) => name)).toEqual([]);
      // Else nothing was attacked.
      const attacked = new Set(hit.map(({ point }) => point.path));
      expect(paths.filter((path) => !attacked.has(path)).map(({ name }) => name)).toEqual([]);
    });

    test('leave no flow whose tasks fail', async () => {
      expect(await flowProblems(crashStack.stack.temporal)).toEqual([]);
    });
  });

  describe('flows that have ended', () => {
    test('answer the same when asked again, and no more money moves', async () => {
      const changed: unknown[] = [];
      await forEach(crashStack.records, 8, async (one) => {
        const again = await askInTurn(one.journey, 90_000);
        const [before, after] = [one, again].map(({ answers }) => JSON.stringify(answers.at(-1)));
        if (before !== after) changed.push({ before, after, error: again.error });
      });
      expect(changed).toEqual([]);
      await expectLedgerFits(crashStack);
    }, 240_000);
  });
}

/** A request that is under way is no matter of the server: its death is met at the other points. */
function isForEachVictim({ inFlight }: CrashPoint): boolean {
  return inFlight !== true;
}

/** Points past a poll wait seconds longer than the others, which would time out meanwhile. */
function batchesOf(left: readonly CrashPoint[]): CrashPoint[][] {
  return [left.filter((point) => !isSlow(point)), left.filter(isSlow)].flatMap((alike) => {
    const count = Math.ceil(alike.length / AT_ONCE);
    // Points of one path hold up the same slots of the worker: a few of each go together.
    return Array.from({ length: count }, (_, batch) => alike.filter((_point, index) => index % count === batch));
  });
}

async function expectLedgerFits(crashStack: CrashStack): Promise<void> {
  const { stack, records } = crashStack;
  expect(auditJourneys(records, await stack.sandbox.ledger())).toEqual([]);
  expect((await stack.sandbox.health()).payments).toBe(records.length);
  await untilNoneIsOpen(stack.temporal);
}
