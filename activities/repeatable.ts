import { activityInfo } from '@temporalio/activity';
import type { FailureDetails } from '../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { keepIfRefused, noEarlierLeft } from './keyed-post.js';
import { toApplicationFailure } from './to-application-failure.js';

/**
 * A DELETE. It has no key and needs none. A 404 after an attempt whose reply may have been lost says that it worked; while
 * none can have left it says that there is nothing of this id, which the caller must hear: it may have been mistyped.
 */
export async function removal(send: () => Promise<unknown>): Promise<void> {
  const info = activityInfo();
  const first = noEarlierLeft(info);
  try {
    await send();
  } catch (error) {
    if (first) keepIfRefused(info, error);
    const failure = toApplicationFailure(error, { earlierMayHaveLeft: !first });
    const details = failure.details?.[0] as FailureDetails | undefined;
    if (details?.disbelieved !== FAILURE_TYPES.notFound) throw failure;
  }
}
