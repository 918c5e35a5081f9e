import { setTimeout as sleep } from 'node:timers/promises';
import type { ChargeInput, ChargeOutcome } from '../../src/contract/charge.js';
import type { CrashPoint } from './crash-points.js';
import { isHttpWrite, isSlow } from './crash-points.js';
import type { CrashScene } from './crash-scene.js';
import { prepare, withoutCreationEvents, writesOf } from './crash-scene.js';
import { askUntilFinal } from './storm.js';
import { until } from './until.js';

export type Victim = 'worker' | 'server' | 'both';

/** Later than this a held task or try times out by itself, and the charge is no longer where it should be. */
const BRING_LIMIT_MS = 7_000;
/** Callers ask on for this long after the kill. */
const RECOVER_LIMIT_MS = 90_000;
const LOOK_MS = 200;

interface Runner {
  readonly point: CrashPoint;
  readonly input: ChargeInput;
  readonly firstAnswer: Promise<ChargeOutcome | undefined>;
}

export interface VolleyResult {
  /** Points whose charge was exactly there, with the number of writes that its history had. */
  readonly hit: readonly { point: CrashPoint; writes: number }[];
  /** Points that a charge was past, or had not come to, when the kill came. */
  readonly missed: readonly CrashPoint[];
}

/**
 * Brings one charge to each point, kills once, starts again what was killed and follows every charge to
 * its end; what their callers were told is in `scene.asked`.
 */
export async function crashAt(scene: CrashScene, points: readonly CrashPoint[], victim: Victim): Promise<VolleyResult> {
  const { stack, engine, proxy, stops } = scene;
  await withoutCreationEvents(scene);
  const inputs = new Map<CrashPoint, ChargeInput>();
  for (const point of points) inputs.set(point, await prepare(scene, point.path, point.stop));
  const runners: Runner[] = [];
  const run = (chosen: readonly CrashPoint[]): Runner[] => {
    const started = chosen.map((point) => start(scene, point, inputs.get(point) as ChargeInput));
    runners.push(...started);
    return started;
  };

  const starts = points.filter(({ scheduledBy }) => scheduledBy?.cause === 'start');
  const timers = points.filter(({ scheduledBy }) => scheduledBy?.cause === 'timer');
  const others = points.filter((point) => !starts.includes(point) && !timers.includes(point));
  await allThere(scene, run(others.filter(isSlow)));
  await allThere(scene, run([...timers, ...others.filter((point) => !isSlow(point))]));

  if (points.some(({ scheduledBy }) => scheduledBy !== undefined)) {
    await proxy.pausePolls();
    run(starts);
    const causes = new Set(
      runners.filter(({ point }) => point.scheduledBy?.cause === 'stop').map(({ input }) => input.reference),
    );
    stops.release((reference) => (causes.has(reference) ? 'go on' : undefined));
    for (const { point, firstAnswer } of runners) {
      if (point.scheduledBy?.cause === 'event') await settle(scene, await firstAnswer);
    }
    await within(BRING_LIMIT_MS, () => allAreScheduled(scene, runners));
  }
  const hit = await whoIsThere(scene, runners);

  const workerDies = victim !== 'server';
  const serverDies = victim !== 'worker';
  await Promise.all([workerDies && stack.worker().kill(), serverDies && engine.kill()]);
  const late = new Set(runners.filter(({ point }) => point.inFlight).map(({ input }) => input.reference));
  stops.release((reference, stop) => (isHttpWrite(stop) && (!workerDies || late.has(reference)) ? 'go on' : 'drop'));
  proxy.resumePolls();
  await stack.sandbox.clearFaults();
  if (serverDies) await engine.start();
  if (workerDies) await stack.startWorker();

  let over = false;
  const settling = settleAll(scene, () => over);
  try {
    scene.asked.push(
      ...(await Promise.all(
        [...inputs.values()].map((input) => askUntilFinal(stack.holdfast, input, RECOVER_LIMIT_MS)),
      )),
    );
  } finally {
    over = true;
    await settling;
  }
  await Promise.all(runners.map(({ firstAnswer }) => firstAnswer));
  return { hit, missed: points.filter((point) => !hit.some((one) => one.point === point)) };
}

function start(scene: CrashScene, point: CrashPoint, input: ChargeInput): Runner {
  // The kill takes the answer away from most of them; they ask again after it.
  const asked = scene.stack.holdfast.charge(input, { waitFor: '20 seconds' }).catch(() => undefined);
  const firstAnswer = asked.then(async (answer) => {
    if (point.settled) await settle(scene, answer);
    return answer;
  });
  return { point, input, firstAnswer };
}

async function settle({ stack }: CrashScene, answer: ChargeOutcome | undefined): Promise<void> {
  if (answer?.status === 'pending') await stack.sandbox.complete(answer.transactionId ?? '', { status: 'Succeed' });
}

/** Whatever is or becomes pending is settled, until the callers have what they want. */
async function settleAll({ stack: { sandbox } }: CrashScene, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    for (const entry of await sandbox.ledger()) {
      if (entry.status === 'Pending') await sandbox.complete(entry.transaction_id, { status: 'Succeed' });
    }
    await sleep(LOOK_MS);
  }
}

/** Every charge is held at its stop, or waits for what will schedule its task. */
async function allThere(scene: CrashScene, runners: readonly Runner[]): Promise<void> {
  await within(BRING_LIMIT_MS, async () => {
    for (const { point, input } of runners) {
      if (point.stop !== undefined && !scene.stops.hasReached(input.reference)) return false;
      const before = point.stop === undefined && point.scheduledBy ? point.scheduledBy.writes - 1 : 0;
      if ((before > 0 ? await writesOf(scene, input.reference) : []).length < before) return false;
    }
    return true;
  });
}

async function allAreScheduled(scene: CrashScene, runners: readonly Runner[]): Promise<boolean> {
  for (const { point, input } of runners) {
    const { writes = 0 } = point.scheduledBy ?? {};
    if (writes > 0 && (await writesOf(scene, input.reference)).length < writes) return false;
  }
  return true;
}

/** A point that can't be reached in time is missed, and no reason to wait on. */
async function within(ms: number, check: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + ms;
  await until(
    async () => Date.now() > end || (await check()),
    (yes) => yes,
    ms + 30_000,
  );
}

/** Held where it should be, with a history that is as far as it should be and no further. */
async function whoIsThere(scene: CrashScene, runners: readonly Runner[]): Promise<VolleyResult['hit']> {
  const looked = await Promise.all(
    runners.map(async ({ point, input }) => {
      const writes = await writesOf(scene, input.reference);
      const isPrefix = writes.every((events, index) => events.join() === point.undisturbed[index]?.join());
      const isHeld = point.stop === undefined || scene.stops.hasReached(input.reference);
      const isThere = point.scheduledBy === undefined || point.scheduledBy.writes === writes.length;
      return isPrefix && isHeld && isThere ? [{ point, writes: writes.length }] : [];
    }),
  );
  return looked.flat();
}
