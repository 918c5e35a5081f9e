import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Moves messages and stack traces into a payload, so that the codec encrypts them too. Works on a copy because the SDK
 * modifies the failure of an error: an error that is sent twice (in an update and as the end of the flow) would arrive
 * the second time as "Encoded failure" without its reason.
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
