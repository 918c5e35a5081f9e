import { setTimeout as sleep } from 'node:timers/promises';
import { askInTurn, askOnce } from './crash-audit.js';
import type { Journey } from './crash-paths.js';
import { type CrashPoint, isHttpWrite, isSlow, settlePending } from './crash-points.js';
import { type CrashStack, prepare, withoutCreationEvents, writesOf } from './crash-stack.js';
import { forEach } from './for-each.js';
import { until } from './until.js';

export type Victim = 'worker' | 'server' | 'both';

/** Later than this a held task or try times out by itself, and the flow is no longer where it should be. */
const BRING_LIMIT_MS = 7_000;
/** Callers ask on for this long after the kill. */
const RECOVER_LIMIT_MS = 90_000;
const LOOK_MS = 200;
const PREPARING = 8;

interface Runner {
  readonly point: CrashPoint;
  readonly journey: Journey;
  /** Ends with the first round of questions: whether the service settled what pends when it should have. */
  readonly firstAsked: Promise<boolean>;
}

export interface BatchOfCrashes {
  /** Points whose flow was exactly there, with the number of writes that its history had. */
  readonly hit: readonly { point: CrashPoint; writes: number }[];
  /** Points that a flow was past, or had not come to, when the kill came. */
  readonly missed: readonly CrashPoint[];
}

/**
 * Brings one flow to each point, kills once, starts again what was killed and follows every flow to
 * its end; their answers are in `crashStack.records`.
 */
export async function crashAt(
  crashStack: CrashStack,
  points: readonly CrashPoint[],
  victim: Victim,
): Promise<BatchOfCrashes> {
  const { stack, engine, proxy, stops } = crashStack;
  await withoutCreationEvents(crashStack);
  const journeys = new Map<CrashPoint, Journey>();
  await forEach(points, PREPARING, async (point) => {
    journeys.set(point, await prepare(crashStack, point.path, point.stop));
  });
  const runners: Runner[] = [];
  const run = (chosen: readonly CrashPoint[]): Runner[] => {
    const started = chosen.map((point) => start(crashStack, point, journeys.get(point) as Journey));
    runners.push(...started);
    return started;
  };

  const starts = points.filter(({ scheduledBy }) => scheduledBy?.cause === 'start');
  const timers = points.filter(({ scheduledBy }) => scheduledBy?.cause === 'timer');
  const others = points.filter((point) => !starts.includes(point) && !timers.includes(point));
  // Those of a deadline are short.
  const lateTimers = timers.filter((point) => !isSlow(point));
  await allThere(crashStack, run(others.filter(isSlow)));
  await allThere(crashStack, run([...timers.filter(isSlow), ...others.filter((point) => !isSlow(point))]));
  await allThere(crashStack, run(lateTimers));

  if (points.some(({ scheduledBy }) => scheduledBy !== undefined)) {
    await proxy.pausePolls();
    run(starts);
    const causes = new Set(
      runners.filter(({ point }) => point.scheduledBy?.cause === 'stop').map(({ journey }) => journey.name),
    );
    stops.release((name) => (causes.has(name) ? 'go on' : undefined));
    for (const { point, journey } of runners) {
      if (point.scheduledBy?.cause === 'event') await settlePending(crashStack, journey);
    }
    await within(BRING_LIMIT_MS, () => allAreScheduled(crashStack, runners));
  }
  const there = await whoIsThere(crashStack, runners);

  const workerDies = victim !== 'server';
  const serverDies = victim !== 'worker';
  await Promise.all([workerDies && stack.worker().kill(), serverDies && engine.kill()]);
  const late = new Set(runners.filter(({ point }) => point.inFlight).map(({ journey }) => journey.name));
  stops.release((name, stop) => (isHttpWrite(stop) && (!workerDies || late.has(name)) ? 'go on' : 'drop'));
  stops.disorder();
  proxy.resumePolls();
  await stack.sandbox.clearFaults();
  if (serverDies) await engine.start();
  if (workerDies) await stack.startWorker();

  let over = false;
  const settling = settleAll(crashStack, () => over);
  try {
    const asking = [...journeys.values()].map((journey) => askInTurn(journey, RECOVER_LIMIT_MS));
    crashStack.records.push(...(await Promise.all(asking)));
  } finally {
    over = true;
    await settling;
  }
  const inTime = await Promise.all(runners.map(async ({ point, firstAsked }) => ((await firstAsked) ? [point] : [])));
  const hit = there.filter(({ point }) => inTime.flat().includes(point));
  return { hit, missed: points.filter((point) => !hit.some((one) => one.point === point)) };
}

function start(crashStack: CrashStack, point: CrashPoint, journey: Journey): Runner {
  // The kill takes the answer away from most of them; they ask again after it.
  const asked = askOnce(journey).catch(() => undefined);
  const byItself = !point.settled || point.scheduledBy?.cause === 'event';
  const settled = byItself ? true : settleOncePending(crashStack, point, journey);
  return { point, journey, firstAsked: asked.then(() => settled) };
}

/** The event must not meet a flow that has not begun to wait for it: false where it may have. */
async function settleOncePending(
  crashStack: CrashStack,
  { undisturbed }: CrashPoint,
  journey: Journey,
): Promise<boolean> {
  const waits = await within(BRING_LIMIT_MS, async () => {
    return (await writesOf(crashStack, journey)).length >= undisturbed.pending;
  });
  await settlePending(crashStack, journey);
  return waits;
}

/** Whatever is or becomes pending is settled, until the callers have what they want. */
async function settleAll({ stack: { sandbox } }: CrashStack, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    for (const entry of await sandbox.ledger()) {
      if (entry.status === 'Pending') await sandbox.complete(entry.transaction_id, { status: 'Succeed' });
    }
    await sleep(LOOK_MS);
  }
}

/** Every flow is held at its stop, or waits for what will schedule its task. */
async function allThere(crashStack: CrashStack, runners: readonly Runner[]): Promise<void> {
  await within(BRING_LIMIT_MS, async () => {
    for (const { point, journey } of runners) {
      if (point.stop !== undefined && !crashStack.stops.hasReached(journey.name)) return false;
      const before = point.stop === undefined && point.scheduledBy ? point.scheduledBy.writes - 1 : 0;
      if ((before > 0 ? await writesOf(crashStack, journey) : []).length < before) return false;
    }
    return true;
  });
}

async function allAreScheduled(crashStack: CrashStack, runners: readonly Runner[]): Promise<boolean> {
  for (const { point, journey } of runners) {
    const { writes = 0 } = point.scheduledBy ?? {};
    if (writes > 0 && (await writesOf(crashStack, journey)).length < writes) return false;
  }
  return true;
}

/** Whether it came to be in time. A point that can't be reached is missed, and no reason to wait on. */
async function within(ms: number, check: () => Promise<boolean>): Promise<boolean> {
  const end = Date.now() + ms;
  const { isSo } = await until(
    async () => ({ isSo: await check(), over: Date.now() > end }),
    ({ isSo, over }) => isSo || over,
    ms + 30_000,
  );
  return isSo;
}

/** Held where it should be, with a history that is as far as it should be and no further. */
async function whoIsThere(crashStack: CrashStack, runners: readonly Runner[]): Promise<BatchOfCrashes['hit']> {
  const looked = await Promise.all(
    runners.map(async ({ point, journey }) => {
      const writes = await writesOf(crashStack, journey);
      const isPrefix = writes.every((events, index) => events.join() === point.undisturbed.writes[index]?.join());
      const isHeld = point.stop === undefined || crashStack.stops.hasReached(journey.name);
      const isThere = point.scheduledBy === undefined || point.scheduledBy.writes === writes.length;
      return isPrefix && isHeld && isThere ? [{ point, writes: writes.length }] : [];
    }),
  );
  return looked.flat();
}
