import { inWorkflowContext } from '@temporalio/workflow';
import {
  isInClear,
  isReadableElsewhere,
  isUndecodable,
  NOT_FOR_THIS_FLOW,
  whyUndecodable,
  type Undecodable,
} from '../../src/contract/payload-marks.js';
import { publishedDueAt } from './visibility.js';

/**
 * For a value from outside: a signal, an update's argument, an input. If another worker may be able to decode it this
 * throws, which fails the task as in {@link decodedOrRetry}. A value that no worker can decode is returned, and the
 * caller counts or refuses it.
 */
export function readableOrRetry<Value>(value: Value, what: string): Value {
  if (!isReadableElsewhere(value)) return value;
  throw lackingKey(what, value);
}

/**
 * For an activity's result. If it can't be decoded, this worker lacks a key that another one has: a plain error fails
 * the workflow task, which is retried until a worker with the key takes it. Any other path would be recorded in the
 * history, and every later replay that has the key would diverge from it. One in clear is no worker's, nor is a copy: whoever
 * has access to Temporal can complete an activity. It holds the flow too, until a person resets it to before that.
 */
export function decodedOrRetry<Result>(result: Result): Result {
  if (isInClear(result))
    throw new Error(
      `An activity's result ${NOT_FOR_THIS_FLOW}, and no worker has written it: reset the flow to before it`,
    );
  if (!isUndecodable(result)) return result;
  throw lackingKey("an activity's result", result);
}

/** The flow is stuck until a worker has the key, so the error names the due time, which is published in clear text. */
function lackingKey(what: string, value: Undecodable): Error {
  const dueAt = inWorkflowContext() ? publishedDueAt() : undefined;
  const until = dueAt === undefined ? '' : `; the flow is due at ${dueAt.toISOString()}`;
  return new Error(`This worker can't decode ${what} (${whyUndecodable(value)}); give it the missing key${until}`);
}
