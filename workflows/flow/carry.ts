import type { CarriedFlow } from '../../src/contract/carried.js';
import { CARRIED_VERSION } from '../../src/contract/carried.js';
import type { Command, FlowState } from './state.js';

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
  Object.assign(flow, unpacked(state, flow.commands));
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
