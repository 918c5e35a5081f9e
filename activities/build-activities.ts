import { activityInfo, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { UnitCall } from '../src/contract/activity-calls.js';
import { FAILURE_TYPES, type FailureDetails } from '../src/contract/names.js';
import { isInClear, isUndecodable, NOT_FOR_THIS_FLOW } from '../src/contract/payload-marks.js';
import type { ActivityDeps } from './read-call.js';
import { noEarlierLeft, NOTHING_PROVEN } from './send-call.js';

/** Maps each activity's name to its implementation, which gets this worker's dependencies as first argument. */
export type ActivityTable<Deps, Activities> = {
  [Name in keyof Activities]: Activities[Name] extends (...call: infer Call) => infer Answer
    ? (deps: Deps, ...call: Call) => Answer
    : never;
};

/**
 * Builds the activities of a table. Each refuses what came in clear or was encrypted for another flow, and is executed
 * only for a workflow.
 * @param check throws for an argument that no activity may get
 */
export function buildActivities<Deps, Activities>(
  deps: Deps,
  table: ActivityTable<Deps, Activities>,
  check: (argument: unknown) => void,
): Activities {
  const rows = Object.entries(table) as [string, (deps: Deps, ...call: unknown[]) => unknown][];
  const activities = rows.map(([name, run]) => [
    name,
    (...call: unknown[]) => {
      requireFlow();
      call.forEach(check);
      call.forEach(requireSealed);
      return run(deps, ...call);
    },
  ]);
  return Object.fromEntries(activities) as Activities;
}

/**
 * Checks every argument of a payment activity.
 * @throws ApplicationFailure for a call that this worker can't decode, or whose payment has another app id
 */
export function checkCall(deps: ActivityDeps, call: unknown): void {
  requireDecoded(call);
  if (isUnitCall(call)) refuseOtherAppId(deps, call);
}

/** Fails (retried) without the codec key: only a worker that has it may execute the call. */
export function requireDecoded(call: unknown): void {
  if (!isUndecodable(call)) return;
  noteNothingSent();
  const details: FailureDetails = { mayHaveLeft: true };
  throw ApplicationFailure.retryable(
    `This worker can't decode the call (${call.holdfastUndecodable}); give it the missing key`,
    FAILURE_TYPES.providerUnavailable,
    details,
  );
}

/**
 * Whoever has access to Temporal can have any activity run by a workflow of their own, and so would move money, or have
 * text of their own signed, or encrypted and sent on. A call with an id alone only looks something up.
 */
function requireSealed(call: unknown): void {
  if (!isInClear(call)) return;
  const why = `Nothing was done: workers execute only calls that are encrypted under our keys, and this one ${NOT_FOR_THIS_FLOW}`;
  throw ApplicationFailure.nonRetryable(why, FAILURE_TYPES.invalidInput);
}

/**
 * Anybody who has access to Temporal can start an activity without a workflow, and would be told what only a flow may be.
 * @throws ApplicationFailure for such an activity
 */
export function requireFlow(): void {
  if (activityInfo().workflowExecution !== undefined) return;
  throw ApplicationFailure.nonRetryable(
    'Nothing was done: an activity of Holdfast is executed only for a workflow',
    FAILURE_TYPES.invalidInput,
  );
}

/**
 * An attempt that sends nothing proves no more than the ones before it. An operator's reset of the activity restarts the
 * attempt count, so an older proof must not be the last heartbeat.
 * @returns whether it is proven that no attempt has left
 */
function noteNothingSent(): boolean {
  const info = activityInfo();
  const noneLeft = noEarlierLeft(info);
  if (!info.isLocal) heartbeat({ refusedThrough: noneLeft ? info.attempt : NOTHING_PROVEN });
  return noneLeft;
}

/** As {@link requireDecoded}, where no call of the payment service is at stake. */
export function requireDecodedCall(call: unknown): void {
  if (isUndecodable(call)) throw new Error(`This worker can't decode the call (${call.holdfastUndecodable})`);
}

function isUnitCall(call: unknown): call is UnitCall {
  return typeof call === 'object' && call !== null && 'businessUnit' in call;
}

/** Another worker may have the right settings, so the call is retried, but no more often than a read. */
const TRIES = 3;

/**
 * Refuses a call whose payment was created under another environment or app id than this worker's. The service would
 * not know the payment: its 404 would pass for a refusal, and its empty list for proof of absence. So nothing is sent,
 * and the retry may reach a worker with the right settings.
 * @throws ApplicationFailure `ProviderUnavailable`, which is retried; after {@link TRIES} attempts
 *   `CredentialsRejected`, so that the flow calls an operator
 */
function refuseOtherAppId(deps: ActivityDeps, call: UnitCall): void {
  const here = deps.units?.get(call.businessUnit)?.madeUnder;
  if (call.madeUnder === undefined || here === undefined || call.madeUnder === here) return;
  const info = activityInfo();
  const noneLeft = noteNothingSent();
  // A local attempt has not checked here whether an earlier workflow task was lost.
  const mayHaveLeft = info.isLocal || !noneLeft || ('mayHaveLeft' in call && call.mayHaveLeft === true);
  const details: FailureDetails = { mayHaveLeft };
  const message =
    `Not sent: the payment was made under ${call.madeUnder}, and for this worker business unit "${call.businessUnit}" is ` +
    `${here}; give every worker of this namespace the same environment and app ids, and a new app id a unit of its own`;
  if (info.isLocal || info.attempt < TRIES)
    throw ApplicationFailure.retryable(message, FAILURE_TYPES.providerUnavailable, details);
  throw ApplicationFailure.nonRetryable(message, FAILURE_TYPES.credentialsRejected, details);
}
