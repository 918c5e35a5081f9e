import { activityInfo, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { UnitCall } from '../src/contract/activity-calls.js';
import type { FailureDetails } from '../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { isUndecodable } from '../src/contract/undecodable.js';
import type { ActivityDeps } from './deps.js';
import { noEarlierLeft, NOTHING_PROVEN } from './send-call.js';

/** One row for each activity of an interface: its name, and the function that does it with what this worker has. */
export type ActivityTable<Deps, Activities> = {
  [Name in keyof Activities]: Activities[Name] extends (...call: infer Call) => infer Answer
    ? (deps: Deps, ...call: Call) => Answer
    : never;
};

/**
 * The activities of a table.
 * @param check throws for an argument that no activity may be given
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
      call.forEach(check);
      return run(deps, ...call);
    },
  ]);
  return Object.fromEntries(activities) as Activities;
}

/**
 * What is asked of every argument of an activity of payments.
 * @throws ApplicationFailure for a call that this worker can't decode, or whose payment it would not find
 */
export function checkCall(deps: ActivityDeps, call: unknown): void {
  requireDecoded(call);
  if (isUnitCall(call)) refuseOtherAppId(deps, call);
}

/** A worker that lacks a key must leave the call to one that has it, not answer for it. */
function requireDecoded(call: unknown): void {
  if (!isUndecodable(call)) return;
  const details: FailureDetails = { mayHaveLeft: true };
  throw ApplicationFailure.retryable(
    `This worker can't decode the call (${call.holdfastUndecodable}); give it the missing key`,
    FAILURE_TYPES.providerUnavailable,
    details,
  );
}

function isUnitCall(call: unknown): call is UnitCall {
  return typeof call === 'object' && call !== null && 'businessUnit' in call;
}

/** Another worker may be set rightly. No read is tried more often. */
const TRIES = 3;

/**
 * Lets a call of a flow pass whose payment was made where this worker asks too. Elsewhere nobody knows the payment: a 404
 * would pass for a refusal, and an empty list for the proof that no money moved. So nothing is sent, and a worker with the
 * right settings is waited for.
 * @throws ApplicationFailure `ProviderUnavailable`, which is tried again; after some tries `CredentialsRejected`, so that the
 *   flow hears of it and calls an operator
 */
function refuseOtherAppId(deps: ActivityDeps, call: UnitCall): void {
  const here = deps.units?.get(call.businessUnit)?.madeUnder;
  if (call.madeUnder === undefined || here === undefined || call.madeUnder === here) return;
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
