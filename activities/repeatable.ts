import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { FailureDetails } from '../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { keepIfRefused, noEarlierLeft } from './keyed-post.js';
import { toApplicationFailure } from './to-application-failure.js';

/**
 * A PUT. It has no key and needs none, but what it changes may be changed after a lost reply: then no refusal
 * is believed, and no refused connection says that nothing has left.
 */
export async function replacement<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  const info = activityInfo();
  const first = noEarlierLeft(info);
  try {
    return await send();
  } catch (error) {
    if (first) keepIfRefused(info, error);
    throw toApplicationFailure(error, { earlierMayHaveLeft: !first });
  }
}

/**
 * A DELETE. A 404 after an attempt whose reply may have been lost says that it worked; while none can have
 * left it says that there is nothing of this id, which the caller must hear: it may have been mistyped.
 */
export async function removal(send: () => Promise<unknown>): Promise<void> {
  try {
    await replacement(send);
  } catch (error) {
    const details =
      error instanceof ApplicationFailure ? (error.details?.[0] as FailureDetails | undefined) : undefined;
    if (details?.disbelieved !== FAILURE_TYPES.notFound) throw error;
  }
}
