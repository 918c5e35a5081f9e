import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CrashPoint } from '../support/crash-points.js';
import { crashPointsOf, isSlow } from '../support/crash-points.js';
import type { CrashPath, CrashScene } from '../support/crash-scene.js';
import { startCrashScene, withoutCreationEvents } from '../support/crash-scene.js';
import type { Victim, VolleyResult } from '../support/crash-volley.js';
import { crashAt } from '../support/crash-volley.js';
import { flowProblems, openFlows } from '../support/flow-health.js';
import { differencesFromLedger } from '../support/ledger-check.js';
import { askForAll, fullOr } from '../support/storm.js';
import { until } from '../support/until.js';

const LOCAL: readonly CrashPath[] = [
  { name: 'succeeds', card: 'succeeds' },
  { name: 'pends', card: 'pendsThenSucceeds', settledBy: 'event' },
];
const REGULAR: readonly CrashPath[] = [
  { name: 'succeeds, first POST lost', card: 'succeeds', lost: 'createPayment' },
  { name: 'succeeds, first charge lost', card: 'succeeds', lost: 'createCharge' },
  { name: 'pends, first POST lost', card: 'pendsThenSucceeds', lost: 'createPayment', settledBy: 'event' },
  { name: 'pends, first charge and event lost', card: 'pendsThenSucceeds', lost: 'createCharge', settledBy: 'poll' },
];
const FULL = process.env['HOLDFAST_FULL'] === '1';
const PATHS = FULL ? [...LOCAL, ...REGULAR] : LOCAL;
const KILLS: readonly { victim: Victim; who: string }[] = [
  { victim: 'both', who: 'the worker and the Temporal server die' },
  { victim: 'worker', who: 'the worker dies' },
  { victim: 'server', who: 'the Temporal server dies' },
];
/** Charges that one kill hits together: as many as can be brought to their points before the first of them times out. */
const AT_ONCE = 45;
/** A busy machine may let a charge pass its point; then another one is sent there. */
const ROUNDS = 4;

let scene: CrashScene;
let points: CrashPoint[];
beforeAll(async () => {
  scene = await startCrashScene();
  await withoutCreationEvents(scene);
  points = (await Promise.all(PATHS.map((path) => crashPointsOf(scene, path)))).flat();
}, 120_000);
afterAll(async () => {
  await scene?.close();
});

describe.each(KILLS.slice(0, fullOr(KILLS.length, 1)))('charges while $who', ({ victim }) => {
  const hit: VolleyResult['hit'][number][] = [];
  let missed: readonly CrashPoint[] = [];

  test('end as the ledger says, each with one movement, wherever they are at that moment', async () => {
    missed = points.filter(({ inFlight }) => inFlight !== true || victim !== 'server');
    for (let round = 0; round < ROUNDS && missed.length > 0; round += 1) {
      const results: VolleyResult[] = [];
      for (const volley of volleysOf(missed)) {
        results.push(await crashAt(scene, volley, victim));
        await expectRightBooks();
      }
      hit.push(...results.flatMap((result) => result.hit));
      missed = results.flatMap((result) => result.missed);
    }
  }, 600_000);

  test('have been hit before, during and after every HTTP write, and after every write to the history', () => {
    expect(missed.map(({ name }) => name)).toEqual([]);
    for (const path of PATHS) {
      const ofPath = points.filter((point) => point.path === path);
      const lengths = new Set(hit.filter(({ point }) => point.path === path).map(({ writes }) => writes));
      expect([...lengths].sort((a, b) => a - b)).toEqual(ofPath[0]?.undisturbed.map((_, index) => index + 1));
    }
  });

  test('leave no flow whose tasks fail', async () => {
    expect(await flowProblems(scene.stack.temporal)).toEqual([]);
  });
});

describe('charges that have ended', () => {
  test('are answered the same when asked again, and no more money moves', async () => {
    const inputs = scene.asked.map(({ input }) => input);
    expect(await askForAll(scene.stack.holdfast, inputs, { concurrency: 8, limitMs: 30_000 })).toEqual(scene.asked);
    await expectRightBooks();
  }, 120_000);
});

/** Points past a poll wait seconds longer than the others, which would time out meanwhile. */
function volleysOf(left: readonly CrashPoint[]): CrashPoint[][] {
  return [left.filter((point) => !isSlow(point)), left.filter(isSlow)].flatMap((alike) =>
    Array.from({ length: Math.ceil(alike.length / AT_ONCE) }, (_, index) =>
      alike.slice(index * AT_ONCE, (index + 1) * AT_ONCE),
    ),
  );
}

async function expectRightBooks(): Promise<void> {
  const { stack, asked } = scene;
  expect(differencesFromLedger(asked, await stack.sandbox.ledger())).toEqual([]);
  expect((await stack.sandbox.health()).payments).toBe(asked.length);
  // Both cards end so, and an honest "not executed" would be the wrong answer to a crash.
  expect(new Set(asked.map(({ answer }) => answer?.status))).toEqual(new Set(['succeeded']));
  await until(
    () => openFlows(stack.temporal),
    (open) => open.length === 0,
  );
}
