import { inWorkflowContext } from '@temporalio/workflow';
import {
  isReadableElsewhere,
  isUndecodable,
  whyUndecodable,
  type Undecodable,
} from '../../src/contract/undecodable.js';
import { publishedDueAt } from '../flow/visibility.js';

/**
 * What came from outside: a signal, the argument of an update, an input. One that another worker may be able to read is left
 * to it, as {@link decodedOrRetry} leaves results; whatever nobody can read comes back, to be counted or refused.
 */
export function readableOrRetry<Value>(value: Value, what: string): Value {
  if (!isReadableElsewhere(value)) return value;
  throw lackingKey(what, value);
}

/**
 * The result of an activity. When it can't be decoded, this worker lacks a key that another one has: a
 * plain error fails the workflow task, which is tried again until a worker with the key takes it. To go on
 * another way would be recorded, and diverge from every later replay that has the key. (Nobody outside
 * can forge an activity's result.)
 */
export function decodedOrRetry<Result>(result: Result): Result {
  if (!isUndecodable(result)) return result;
  throw lackingKey("an activity's result", result);
}

/** The flow stands still meanwhile: with its deadline, which is published in clear, so that a reader knows what time is left. */
function lackingKey(what: string, value: Undecodable): Error {
  const dueAt = inWorkflowContext() ? publishedDueAt() : undefined;
  const until = dueAt === undefined ? '' : `; the flow is due at ${dueAt.toISOString()}`;
  return new Error(`This worker can't decode ${what} (${whyUndecodable(value)}); give it the missing key${until}`);
}
