import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { isFirstAttempt } from './keyed-post.js';
import { readCall } from './read-call.js';

/**
 * A DELETE. A 404 after an attempt whose reply may have been lost says that it worked; on the first
 * attempt it says that there is nothing of this id, which the caller must hear: it may have been mistyped.
 */
export async function removal(send: () => Promise<unknown>): Promise<void> {
  try {
    await readCall(send);
  } catch (error) {
    const isGone = error instanceof ApplicationFailure && error.type === FAILURE_TYPES.notFound;
    if (!isGone || isFirstAttempt(activityInfo())) throw error;
  }
}
