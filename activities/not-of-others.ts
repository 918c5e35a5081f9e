import { activityInfo, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { UnitCall } from '../src/contract/activity-calls.js';
import type { FailureDetails } from '../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import type { ActivityDeps } from './deps.js';
import { noEarlierLeft, NOTHING_PROVEN } from './keyed-post.js';

/**
 * Lets a call of a flow pass whose payment was made where this worker asks too. Elsewhere nobody knows the payment: a 404
 * would pass for a refusal, and an empty list for the proof that no money moved. So nothing is sent, and a worker with the
 * right settings is waited for.
 * @throws ApplicationFailure `ProviderUnavailable`, which is tried again; after some tries `CredentialsRejected`, so that the
 *   flow hears of it and calls an operator
 */
export function notOfOthers<Call extends UnitCall>(deps: ActivityDeps, call: Call): Call {
  const here = deps.units?.get(call.businessUnit)?.madeUnder;
  if (call.madeUnder === undefined || here === undefined || call.madeUnder === here) return call;
  const info = activityInfo();
  const noneLeft = noEarlierLeft(info);
  // Attempts are counted anew when an operator resets the activity, and an older proof would stand as the last beat.
  if (!info.isLocal) heartbeat({ refusedThrough: noneLeft ? info.attempt : NOTHING_PROVEN });
  // Of a local try nobody has asked yet whether a task before it was lost.
  const mayHaveLeft = info.isLocal || !noneLeft || ('mayHaveLeft' in call && call.mayHaveLeft === true);
  const details: FailureDetails = { mayHaveLeft };
  const message =
    `Not sent: the payment was made under ${call.madeUnder}, and for this worker business unit "${call.businessUnit}" is ` +
    `${here}; give every worker of this namespace the same environment and app ids, and a new app id a unit of its own`;
  if (info.isLocal || info.attempt < TRIES)
    throw ApplicationFailure.retryable(message, FAILURE_TYPES.providerUnavailable, details);
  throw ApplicationFailure.nonRetryable(message, FAILURE_TYPES.credentialsRejected, details);
}

/** Another worker may be set rightly. No read is tried more often. */
const TRIES = 3;
