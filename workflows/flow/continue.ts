import { allHandlersFinished, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import type { CarriedFlow } from '../../src/contract/carried.js';
import { CARRIED_VERSION } from '../../src/contract/carried.js';
import { MEMO_KEYS } from '../../src/contract/names.js';
import { inResetRun } from './start-guard.js';
import type { FlowState, Command } from './state.js';

/** The engine ends a run at 51,200 events, and one of 10,000 takes seconds to replay. */
export const MOST_EVENTS = 4_000;
/** The engine refuses every further update of a run after 2,000: commands of an operator among them. */
export const MOST_UPDATES = 1_000;

/**
 * Notes that the run has become long, long before the engine's limits. A run has to have come forward by itself before it
 * goes on in the next: what is carried may be so large that the engine suggests it at once.
 *
 * Only for code that an event of the history has set going. A task that was made for an update which is then rejected
 * leaves nothing in the history to set a replay going, so no wait may end by what such a task sees.
 */
export function noteLength(flow: FlowState): void {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  flow.isLong ||=
    flow.updatesTaken >= MOST_UPDATES || (flow.cameForward && (continueAsNewSuggested || historyLength >= MOST_EVENTS));
}

/** An update was accepted. */
export function noteUpdate(flow: FlowState): void {
  flow.updatesTaken += 1;
  noteLength(flow);
}

/** So long that it goes on in the next run whatever has come. */
export function isTooLong(flow: FlowState): boolean {
  const tooMany = flow.updatesTaken >= 1.5 * MOST_UPDATES || workflowInfo().historyLength >= 3 * MOST_EVENTS;
  return flow.isLong && tooMany;
}

/**
 * Ends this run and goes on in the next, where the flow takes up the stages that it is in. Only for a wait in which no
 * call is under way. Whoever waits for an answer is told where it stands: an accepted update must not end by the
 * engine's own failure.
 */
export async function continueAsNew(flow: FlowState): Promise<never> {
  flow.leaving = true;
  await condition(allHandlersFinished);
  const { memo, typedSearchAttributes, workflowType } = workflowInfo();
  const goOn = makeContinueAsNewFunc<(raw: unknown, carried: CarriedFlow) => Promise<unknown>>({
    workflowType,
    // Left to itself a run hands on the memo that it was started with, and not what it has added.
    memo: {
      ...memo,
      [MEMO_KEYS.fingerprint]: flow.fingerprint,
      ...(inResetRun() && { [MEMO_KEYS.afterReset]: true }),
    },
    typedSearchAttributes,
  });
  return await goOn(flow.startedWith, carriedOf(flow));
}

/** What a run finds out for itself. Every other field of a flow goes along, those that are added later too. */
export const NOT_CARRIED = [
  'startedWith',
  'stages',
  'toTakeUp',
  'leaving',
  'isLong',
  'cameForward',
  'updatesTaken',
  'waiting',
  // `commands` stand beside the state; `isCancelled` and `refuses` are functions; with these two a flow ends.
  'commands',
  'isCancelled',
  'refuses',
  'outcome',
  'failure',
  'inLocalTry',
] as const satisfies readonly (keyof FlowState)[];

const REFERENCE = '$command';

/** @throws Error (which fails the task) where something is not plain data: it would be lost in silence */
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
    stages: flow.stages.map(({ name, notes }) => ({ name, notes: packed(notes, commands, name) as object })),
  };
}

/** Makes of a new flow the one that the run before has left. */
export function takeOver(flow: FlowState, { state, commands, stages }: CarriedFlow): void {
  for (const command of commands as Command[]) flow.commands.set(command.commandId, command);
  // A run of older code passes no `callsAbout`, and may have moved money: never say that nothing was charged.
  Object.assign(flow, { callsAbout: 'payment' }, unpacked(state, flow.commands));
  flow.toTakeUp.push(...(unpacked(stages, flow.commands) as typeof stages));
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

/** Of whichever realm: no instance of a class, no Map. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function notPlain(path: string): Error {
  return new Error(`${path} is no plain data, and can't be handed to the next run`);
}
