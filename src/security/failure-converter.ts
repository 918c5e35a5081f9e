import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Moves messages and stack traces into a payload, so that the codec encrypts them with the rest. On a copy:
 * the SDK writes into the failure that an error came with, and an error that leaves twice (in an update and
 * as the end of the flow) would reach its second reader as "Encoded failure" without its reason.
 */
class EncodingFailureConverter extends DefaultFailureConverter {
  constructor() {
    super({ encodeCommonAttributes: true });
  }

  override errorToFailureInner(
    ...args: Parameters<DefaultFailureConverter['errorToFailureInner']>
  ): ReturnType<DefaultFailureConverter['errorToFailureInner']> {
    return { ...super.errorToFailureInner(...args) };
  }
}

export const failureConverter = new EncodingFailureConverter();
