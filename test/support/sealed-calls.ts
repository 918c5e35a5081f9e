import { markSealed } from '../../src/contract/payload-marks.js';

/** Activities whose calls arrive as from a worker: encrypted under our keys. */
export function sealedCalls<Activities extends object>(activities: Activities): Activities {
  const all = Object.entries(activities) as [string, (...call: unknown[]) => unknown][];
  return Object.fromEntries(
    all.map(([name, activity]) => [name, (...call: unknown[]) => activity(...call.map(markSealed))]),
  ) as Activities;
}
