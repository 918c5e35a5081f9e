import type { CrashPath, Journey } from './crash-paths.js';
import { type CrashStack, prepare, writesOf } from './crash-stack.js';
import { askInTurn, askOnce } from './crash-audit.js';
import type { Stop } from './crash-stops.js';
import { until } from './until.js';

/** A moment in the life of a flow. */
export interface CrashPoint {
  readonly path: CrashPath;
  readonly name: string;
  /** How an undisturbed journey of this path is written. */
  readonly undisturbed: Undisturbed;
  /** The call at which the flow is held; for a scheduled task, the one that schedules it. */
  readonly stop?: Stop | undefined;
  /** The request is on its way at the kill, and arrives after it. */
  readonly inFlight?: boolean;
  /** Writes that the history has at this moment, the last of them scheduling a task that nobody has fetched. */
  readonly scheduledBy?: { writes: number; cause: Cause };
  /** Whether the service has settled before what pends. */
  readonly settled: boolean;
}

interface Undisturbed {
  readonly writes: readonly string[][];
  /** How many of them are there before the first point. */
  readonly begun: number;
  /** How many of them are there when the flow waits for what pends; all if nothing does. */
  readonly pending: number;
  /**
   * Places of writes that are as those before them: of several reads that run side by side, the end of the first
   * stands for all but the last.
   */
  readonly repeats: ReadonlySet<number>;
}

type Cause = 'start' | 'stop' | 'event' | 'timer';

const WRITE_PREFIX = 'POST ';
const SCHEDULING: Readonly<Record<string, Cause>> = {
  WORKFLOW_EXECUTION_STARTED: 'start',
  ACTIVITY_TASK_STARTED: 'stop',
  WORKFLOW_EXECUTION_SIGNALED: 'event',
  TIMER_FIRED: 'timer',
};
const ENDED = new Set(['succeeded', 'captured', 'voided', 'idle']);
/** A minute between polls, and a busy machine. */
const UNDISTURBED_LIMIT_MS = 120_000;

/**
 * Follows one undisturbed journey and derives the points from what it did: before, during and after each HTTP
 * write, and at each write to the history, which is that of the engine call that made it.
 */
export async function crashPointsOf(crashStack: CrashStack, path: CrashPath): Promise<CrashPoint[]> {
  const { stops } = crashStack;
  const journey = await prepare(crashStack, path);
  const begun = (await writesOf(crashStack, journey)).length;
  const asked = askOnce(journey);
  const pending = path.settledBy === undefined ? undefined : await whenItPends(crashStack, journey);
  await settlePending(crashStack, journey);
  await asked;
  await until(
    () => statusOf(crashStack, journey),
    (status) => ENDED.has(String(status)),
    UNDISTURBED_LIMIT_MS,
  );
  const writes = await writesOf(crashStack, journey);
  const undisturbed = { writes, begun, pending: pending?.writes ?? writes.length, repeats: repeatsIn(writes) };
  const all = stops.callsOf(journey.name);
  const { from } = path;
  const first = from === undefined ? 0 : all.findIndex(({ call, nth }) => call === from.call && nth === from.nth);
  if (first < 0) throw new Error(`${path.name}: there is no ${JSON.stringify(from)}`);
  const firstWrite = Math.max(
    begun,
    ...all.slice(0, first).map(({ call, nth }) => placeOf(call, nth, undisturbed) + 1),
  );
  const calls = all.map((made, index) => ({ ...made, index, settled: index >= (pending?.calls ?? all.length) }));
  const make = (name: string, rest: Partial<CrashPoint> & { settled: boolean }): CrashPoint => ({
    path,
    name: `${path.name}: ${name}`,
    undisturbed,
    ...rest,
  });
  const atCalls = calls.slice(first).flatMap(({ call, nth, settled }) => {
    if (undisturbed.repeats.has(placeOf(call, nth, undisturbed))) return [];
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
  const scheduled = writes.flatMap((events, index) => {
    if (index < begun || events.at(-1) !== 'WORKFLOW_TASK_SCHEDULED') return [];
    const cause = SCHEDULING[events[0] ?? ''];
    if (cause === undefined) throw new Error(`${path.name}: no way to hold a flow after ${events.join()}`);
    const end = cause === 'stop' ? ends.shift() : undefined;
    if (index < firstWrite || undisturbed.repeats.has(index)) return [];
    return [
      make(`${events.join(' + ')} (write ${index + 1})`, {
        stop: end && { call: end.call, nth: end.nth, side: 'before' },
        scheduledBy: { writes: index + 1, cause },
        settled: (cause === 'timer' && path.settledBy === 'poll') || end?.settled === true,
      }),
    ];
  });
  crashStack.records.push(await askInTurn(journey, UNDISTURBED_LIMIT_MS));
  return [...atCalls, ...scheduled];
}

const ACTIVITY_ENDED = ['ACTIVITY_TASK_STARTED', 'ACTIVITY_TASK_COMPLETED', 'WORKFLOW_TASK_SCHEDULED'];

/** An activity has ended, and the flow has nothing to do before another one ends too: three writes. */
function repeatsIn(writes: readonly string[][]): ReadonlySet<number> {
  const endsIdly = (last: number): boolean =>
    writes[last - 2]?.join() === ACTIVITY_ENDED.join() && writes[last]?.join() === 'WORKFLOW_TASK_COMPLETED';
  const repeated = writes.flatMap((_, index) => (endsIdly(index) && endsIdly(index - 3) ? [index] : []));
  return new Set(repeated.flatMap((last) => [last - 2, last - 1, last]));
}

/** The place of the write that a call makes; -1 for what makes none. */
function placeOf(call: string, nth: number, { writes, begun }: Pick<Undisturbed, 'writes' | 'begun'>): number {
  const begins = call.startsWith('RespondActivity') ? 'ACTIVITY_TASK_STARTED' : 'WORKFLOW_TASK_COMPLETED';
  if (!call.startsWith('Respond')) return -1;
  const places = writes.flatMap(([type], index) => (index >= begun && type === begins ? [index] : []));
  return places[nth - 1] ?? -1;
}

/** How much of the history, and how many calls, there are by then. */
async function whenItPends(crashStack: CrashStack, journey: Journey) {
  await until(
    () => statusOf(crashStack, journey),
    (status) => status === 'pending',
    UNDISTURBED_LIMIT_MS,
  );
  return { writes: (await writesOf(crashStack, journey)).length, calls: crashStack.stops.callsOf(journey.name).length };
}

async function statusOf({ stack }: CrashStack, { workflowId }: Journey): Promise<unknown> {
  try {
    const { searchAttributes } = await stack.temporal.workflow.getHandle(workflowId).describe();
    return searchAttributes['PaymentStatus']?.[0];
  } catch {
    // Not started yet.
    return undefined;
  }
}

/** Lets what pends in this journey succeed. */
export async function settlePending({ stack: { sandbox } }: CrashStack, journey: Journey): Promise<void> {
  for (const { status, transaction_id: id } of await sandbox.ledger(journey.reconciliationId)) {
    if (status === 'Pending') await sandbox.complete(id, { status: 'Succeed' });
  }
}

export function isHttpWrite({ call }: Stop): boolean {
  return call.startsWith(WRITE_PREFIX);
}

/** Takes as long as the wait for a poll. */
export function isSlow({ path, settled }: CrashPoint): boolean {
  return path.settledBy === 'poll' && settled;
}
