import { paymentWorkflowId } from '../../src/contract/names.js';
import type { CrashPath, CrashScene } from './crash-scene.js';
import { prepare, writesOf } from './crash-scene.js';
import type { Stop } from './crash-stops.js';
import { until } from './until.js';

/** A moment in the life of a charge. */
export interface CrashPoint {
  readonly path: CrashPath;
  readonly name: string;
  /** How an undisturbed charge of this path is written. */
  readonly undisturbed: readonly string[][];
  /** The call at which the charge is held; for a scheduled task, the one that schedules it. */
  readonly stop?: Stop | undefined;
  /** The request is on its way at the kill, and arrives after it. */
  readonly inFlight?: boolean;
  /** Writes that the history has at this moment, the last of them scheduling a task that nobody has fetched. */
  readonly scheduledBy?: { writes: number; cause: 'start' | 'stop' | 'event' | 'timer' };
  /** Whether the service has settled the pending transaction before. */
  readonly settled: boolean;
}

const WRITE_PREFIX = 'POST ';
const SCHEDULING: Readonly<Record<string, 'start' | 'stop' | 'event' | 'timer'>> = {
  WORKFLOW_EXECUTION_STARTED: 'start',
  ACTIVITY_TASK_STARTED: 'stop',
  WORKFLOW_EXECUTION_SIGNALED: 'event',
  TIMER_FIRED: 'timer',
};

/**
 * Runs one undisturbed charge and derives the points from what it did: before, during and after each HTTP
 * write, and at each write to the history, which is that of the engine call that made it.
 */
export async function crashPointsOf(scene: CrashScene, path: CrashPath): Promise<CrashPoint[]> {
  const { stack, stops } = scene;
  const input = await prepare(scene, path);
  const first = await stack.holdfast.charge(input);
  const callsBeforeSettling = stops.callsOf(input.reference).length;
  if (first.status === 'pending') await stack.sandbox.complete(first.transactionId ?? '', { status: 'Succeed' });
  const handle = stack.temporal.workflow.getHandle(paymentWorkflowId(input.reference));
  await until(
    () => handle.describe(),
    ({ status }) => status.name !== 'RUNNING',
  );
  scene.asked.push({ input, answer: await stack.holdfast.charge(input) });

  const undisturbed = await writesOf(scene, input.reference);
  const calls = stops.callsOf(input.reference).map((made, index) => ({
    ...made,
    settled: index >= callsBeforeSettling,
  }));
  const make = (name: string, rest: Partial<CrashPoint> & { settled: boolean }): CrashPoint => ({
    path,
    name: `${path.name}: ${name}`,
    undisturbed,
    ...rest,
  });
  const atCalls = calls.flatMap(({ call, nth, settled }) => {
    const at = `${call} (${nth})`;
    const before: Stop = { call, nth, side: 'before' };
    const after: Stop = { call, nth, side: 'after' };
    // Lost without a kill already.
    if (path.lost !== undefined && call === WRITE_PREFIX + path.lost && nth === 1) return [];
    const points = [make(`before ${at}`, { stop: before, settled })];
    if (isHttpWrite(before)) points.push(make(`during ${at}`, { stop: before, inFlight: true, settled }));
    // What follows an activity's end is the point of the task that it schedules.
    if (!call.startsWith('RespondActivity')) points.push(make(`after ${at}`, { stop: after, settled }));
    return points;
  });
  const ends = calls.filter(({ call }) => call.startsWith('RespondActivity'));
  const scheduled = undisturbed.flatMap((events, index) => {
    if (events.at(-1) !== 'WORKFLOW_TASK_SCHEDULED') return [];
    const cause = SCHEDULING[events[0] ?? ''];
    if (cause === undefined) throw new Error(`${path.name}: no way to hold a flow after ${events.join()}`);
    const end = cause === 'stop' ? ends.shift() : undefined;
    return [
      make(`${events.join(' + ')} (write ${index + 1})`, {
        stop: end && { call: end.call, nth: end.nth, side: 'before' },
        scheduledBy: { writes: index + 1, cause },
        settled: cause === 'timer' || end?.settled === true,
      }),
    ];
  });
  return [...atCalls, ...scheduled];
}

export function isHttpWrite({ call }: Stop): boolean {
  return call.startsWith(WRITE_PREFIX);
}

/** Takes as long as the wait for a poll. */
export function isSlow({ path, settled }: CrashPoint): boolean {
  return path.settledBy === 'poll' && settled;
}
