import { isUndecodable } from '../contract/undecodable.js';
import { HoldfastError } from './errors.js';

/**
 * The answer of a flow, or an error when this process lacks the key it was encrypted with.
 * @throws HoldfastError `UnexpectedResponse`
 */
export function decoded<Answer>(answer: Answer): Answer {
  if (!isUndecodable(answer)) return answer;
  throw new HoldfastError(
    'UnexpectedResponse',
    `The flow has answered, but this process can't decode it (${answer.holdfastUndecodable}): ` +
      'give it the same HOLDFAST_ENCRYPTION_KEYS as the worker',
  );
}
