import { DefaultFailureConverter } from '@temporalio/common';

/** Moves messages and stack traces into a payload, so that the codec encrypts them with the rest. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
