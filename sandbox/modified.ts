import type { Sandbox } from './context.js';

/** Returns the `modified` time of a resource that changes now: always later than before, even within one ms. */
export function modifiedAfter(before: { modified: number }, { clock }: Sandbox): number {
  return Math.max(clock.now(), before.modified + 1);
}
