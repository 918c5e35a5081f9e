import { isUndecodable } from '../../src/contract/undecodable.js';

/**
 * The result of an activity. When it can't be decoded, this worker lacks a key that another one has: a
 * plain error fails the workflow task, which is tried again until a worker with the key takes it. To go on
 * another way would be recorded, and diverge from every later replay that has the key. (Nobody outside
 * can forge an activity's result; what can be forged never gets here.)
 */
export function decodedOrRetry<Result>(result: Result, what = "an activity's result"): Result {
  if (!isUndecodable(result)) return result;
  throw new Error(`This worker can't decode ${what} (${result.holdfastUndecodable}); give it the missing key`);
}
