import type { FlowState } from './state.js';

type Arrivals = FlowState['arrivals'];

/**
 * Changes what wakes the main loop, once all messages of the task are in: first what its signals change, then its
 * updates. A handler must not change that itself. After a reset the engine gives signals and updates again, and the SDK
 * hands them over in the order of the history the first time but signals first in a replay: a main loop that wakes
 * between them would ask for other things in the replay (see docs/decisions/0012).
 */
export function onceAllAreIn(flow: FlowState, from: keyof Arrivals, change: () => void): void {
  const { arrivals } = flow;
  // All handlers of a task run before the first microtask, and conditions are looked at again after the last one.
  if (allAreIn(flow)) void Promise.resolve().then(() => takeIn(arrivals));
  arrivals[from].push(change);
}

/**
 * For waits on the queue, the one thing that handlers do change at once: a command stands in it for the validators of
 * those that come in the same task, and the main loop does not wake before all of them are in.
 */
export function allAreIn({ arrivals }: FlowState): boolean {
  return arrivals.signal.length + arrivals.update.length === 0;
}

function takeIn({ signal, update }: Arrivals): void {
  for (const change of [...signal.splice(0), ...update.splice(0)]) change();
}
