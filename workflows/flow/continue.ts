import { workflowInfo } from '@temporalio/workflow';
import { CARRIED_VERSION, type CarriedFlow, type CarriedFrame } from '../../src/contract/carried.js';
import { MEMO_KEYS } from '../../src/contract/names.js';
import { onceAllAreIn } from './arrivals.js';
import { isHistoryLong, MOST_EVENTS, MOST_UPDATES, startNextRun, untilCallersAreAnswered } from '../kit/run.js';
import { inResetRun } from '../kit/start-guard.js';
import type { FlowState, Command } from './state.js';

/**
 * Marks the run as long, well before the engine's limits. By its length a run continues as new only after progress of
 * its own: the carried state may be so large that the engine suggests it at once.
 *
 * Call it only from code that a history event triggers. A task made for an update that is then rejected leaves no event
 * that could trigger a replay, so no wait may end because of what such a task sees.
 */
export function noteLength(flow: FlowState): void {
  flow.isLong ||= flow.updatesTaken >= MOST_UPDATES || (flow.cameForward && isHistoryLong());
}

/** Counts an accepted update. */
export function noteUpdate(flow: FlowState): void {
  flow.updatesTaken += 1;
  onceAllAreIn(flow, 'update', () => noteLength(flow));
}

/** So long that it continues as new even if messages wait. */
export function isTooLong(flow: FlowState): boolean {
  const tooMany = flow.updatesTaken >= 1.5 * MOST_UPDATES || workflowInfo().historyLength >= 3 * MOST_EVENTS;
  return flow.isLong && tooMany;
}

/**
 * Ends this run and continues as new; the next run re-enters the open frames (see `resumable`). Only for a wait in
 * which no call is under way.
 */
export async function continueAsNew(flow: FlowState): Promise<never> {
  await untilCallersAreAnswered(flow);
  return await startNextRun(flow, flow.startedWith, carriedOf(flow), {
    typedSearchAttributes: workflowInfo().typedSearchAttributes,
    ...(inResetRun() && { memo: { [MEMO_KEYS.afterReset]: true } }),
  });
}

/** Fields that each run finds out itself. Every other field of a flow is carried, also fields added later. */
export const NOT_CARRIED = [
  'startedWith',
  'frames',
  'toResume',
  'leaving',
  'isLong',
  'cameForward',
  'waitedUntil',
  'updatesTaken',
  'waiting',
  // Empty whenever the main loop runs.
  'arrivals',
  // `commands` are carried separately; the three after it are functions; the next two end a flow.
  'commands',
  'isCancelled',
  'refuses',
  'lookBeside',
  'outcome',
  'failure',
  'localFirst',
  'inLocalTry',
  'slowAnswerAt',
  'handingOver',
  // Each command notes them anew.
  'creatorsActions',
] as const satisfies readonly (keyof FlowState)[];

const REFERENCE = '$command';

/** @throws Error (which fails the task) if a value is not plain data: it would be lost silently */
export function carriedOf(flow: FlowState): CarriedFlow {
  const commands = new Set<unknown>(flow.commands.values());
  const left: ReadonlySet<string> = new Set(NOT_CARRIED);
  const state = Object.entries(flow).filter(([name]) => !left.has(name));
  return {
    v: CARRIED_VERSION,
    state: {
      ...(packed(Object.fromEntries(state), commands, 'flow') as Record<string, unknown>),
      cancelRequested: flow.cancelRequested || flow.isCancelled(),
      runs: flow.runs + 1,
    },
    commands: [...commands].map((command) => packed({ ...(command as Command) }, new Set(), 'command')),
    frames: flow.frames.map(({ name, notes }) => ({ name, notes: packed(notes, commands, name) as object })),
  };
}

/** Restores in a new flow the state that the previous run carried. */
export function restore(flow: FlowState, { state, commands, frames }: CarriedFlow): void {
  for (const command of commands as Command[]) flow.commands.set(command.commandId, command);
  // A run of older code passes no `callsAbout`, and may have moved money: never say that nothing was charged.
  Object.assign(flow, { callsAbout: 'payment' }, unpacked(state, flow.commands));
  flow.toResume.push(...(unpacked(frames, flow.commands) as typeof frames));
}

function packed(value: unknown, commands: ReadonlySet<unknown>, path: string): unknown {
  if (value === null || ['string', 'number', 'boolean', 'undefined'].includes(typeof value)) {
    if (typeof value !== 'number' || Number.isFinite(value)) return value;
    throw notPlain(path);
  }
  if (commands.has(value)) return { [REFERENCE]: (value as Command).commandId };
  if (Array.isArray(value)) return value.map((part, at) => packed(part, commands, `${path}[${at}]`));
  if (typeof value !== 'object' || !isPlain(value)) throw notPlain(path);
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, packed(part, commands, `${path}.${name}`)]),
  );
}

function unpacked(value: unknown, commands: ReadonlyMap<string, Command>): unknown {
  if (Array.isArray(value)) return value.map((part) => unpacked(part, commands));
  if (typeof value !== 'object' || value === null) return value;
  if (REFERENCE in value) return commands.get(String(value[REFERENCE]));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unpacked(part, commands)]));
}

/** True for a plain object of any realm, false for a class instance or a Map. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function notPlain(path: string): Error {
  return new Error(`${path} is no plain data, and can't be handed to the next run`);
}

/**
 * Runs one call of the flow's program as a frame: what it must remember is in its `notes`, plain data that is carried
 * when the flow continues as new. The next run enters the same frames with the same notes, and so waits at the same
 * place. Whatever must not be done twice belongs in `begin` or in {@link kept}.
 */
export async function resumable<Notes extends object, Result>(
  flow: FlowState,
  name: string,
  begin: () => Notes,
  work: (notes: Notes) => Promise<Result>,
): Promise<Result> {
  const entered = resume(flow, name) ?? { name, notes: begin() };
  flow.frames.push(entered);
  try {
    return await work(entered.notes as Notes);
  } finally {
    flow.frames.pop();
  }
}

function resume(flow: FlowState, name: string): CarriedFrame | undefined {
  const next = flow.toResume.shift();
  if (next === undefined || next.name === name) return next;
  // A plain error fails the task: nothing is done until code that knows the frame takes over.
  throw new Error(`The run before was in frame "${next.name}", and this code enters "${name}"`);
}

/**
 * The result of what a frame does once. It must be plain data, and not `undefined`. Not an assignment (`??=`): in a later
 * run the `await` of each known result gives way to the handlers of the messages that came with its start. Without it the
 * flow would act before them, in another order than running flows have recorded.
 */
export async function kept<Notes extends object, Key extends keyof Notes>(
  notes: Notes,
  key: Key,
  work: () => Promise<NonNullable<Notes[Key]>>,
): Promise<NonNullable<Notes[Key]>> {
  const known = notes[key];
  if (known !== undefined && known !== null) return known;
  const result = await work();
  notes[key] = result;
  return result;
}

/** @throws Error if the flow has not yet reached the wait of the previous run: sending anything could repeat it */
export function refuseWhileResuming(flow: FlowState): void {
  const [next] = flow.toResume;
  if (next !== undefined)
    throw new Error(`The run before was in frame "${next.name}": nothing is sent before it is reached`);
}
