import type { Sandbox } from './context.js';

/** When a resource that is changed now was modified: later than before, even within one millisecond. */
export function modifiedAfter(before: { modified: number }, { clock }: Sandbox): number {
  return Math.max(clock.now(), before.modified + 1);
}
