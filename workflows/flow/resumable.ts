import type { CarriedFrame } from '../../src/contract/carried.js';
import type { FlowState } from './state.js';

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

/** The result of what a frame does once. It must be plain data, and not `undefined`. */
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
