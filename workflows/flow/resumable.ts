import type { CarriedStage } from '../../src/contract/carried.js';
import type { FlowState } from './state.js';

/**
 * Runs one call of the flow's program as a stage: what it must remember is in its `notes`, plain data that is carried
 * when the flow continues as new. The next run enters the same stages with the same notes, and so waits at the same
 * place. Whatever must not be done twice belongs in `begin` or in {@link kept}.
 */
export async function stage<Notes extends object, Result>(
  flow: FlowState,
  name: string,
  begin: () => Notes,
  work: (notes: Notes) => Promise<Result>,
): Promise<Result> {
  const entered = takeUp(flow, name) ?? { name, notes: begin() };
  flow.stages.push(entered);
  try {
    return await work(entered.notes as Notes);
  } finally {
    flow.stages.pop();
  }
}

function takeUp(flow: FlowState, name: string): CarriedStage | undefined {
  const next = flow.toTakeUp.shift();
  if (next === undefined || next.name === name) return next;
  // A plain error fails the task: nothing is done until code that knows the stage takes over.
  throw new Error(`The run before was in stage "${next.name}", and this code enters "${name}"`);
}

/** The result of what a stage does once. It must be plain data, and not `undefined`. */
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
export function refuseWhileTakingUp(flow: FlowState): void {
  const [next] = flow.toTakeUp;
  if (next !== undefined)
    throw new Error(`The run before was in stage "${next.name}": nothing is sent before it is reached`);
}
