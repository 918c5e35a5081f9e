import { isUndecodable } from '../contract/undecodable.js';
import { HoldfastError } from './errors.js';

/**
 * The answer of a flow.
 * @throws HoldfastError `UnexpectedResponse` when this process lacks the key that the answer was encrypted with
 */
export function decoded<Answer>(answer: Answer): Answer {
  if (!isUndecodable(answer)) return answer;
  throw new HoldfastError(
    'UnexpectedResponse',
    `The flow has answered, but this process can't decode it (${answer.holdfastUndecodable}): ` +
      'give it the same HOLDFAST_ENCRYPTION_KEYS as the worker',
  );
}
