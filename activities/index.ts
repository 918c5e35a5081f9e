import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { PaymentActivities } from '../src/contract/activities.js';
import type { FailureDetails } from '../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { isUndecodable } from '../src/contract/undecodable.js';
import { createCharge } from './create-charge.js';
import { createPayment } from './create-payment.js';
import type { ActivityDeps } from './deps.js';
import { findEarlierPayment } from './find-earlier-payment.js';
import { findEarlierRun } from './find-earlier-run.js';
import { getCharge } from './get-charge.js';
import { getPayment } from './get-payment.js';
import { listCharges } from './list-charges.js';
import { updatePayment } from './update-payment.js';

export type { ActivityDeps } from './deps.js';

/** The activities over what they need; a change of the contract breaks this at compile time. */
export function createActivities(deps: ActivityDeps): PaymentActivities {
  return {
    createPayment: (call) => createPayment(deps, decoded(call)),
    getPayment: (call) => getPayment(deps, decoded(call)),
    updatePayment: (call) => updatePayment(deps, decoded(call)),
    createCharge: (call) => createCharge(deps, decoded(call)),
    getCharge: (call) => getCharge(deps, decoded(call)),
    listCharges: (call) => listCharges(deps, decoded(call)),
    findEarlierRun: () => findEarlierRun(deps),
    findEarlierPayment: () => findEarlierPayment(deps),
    taskWasLost: async () => {
      const execution = activityInfo().workflowExecution;
      return execution === undefined || (await deps.engine.taskWasLost(execution.workflowId, execution.runId));
    },
  };
}

/** A worker that lacks a key must leave the call to one that has it, not answer for it. */
function decoded<Call>(call: Call): Call {
  if (!isUndecodable(call)) return call;
  const details: FailureDetails = { mayHaveLeft: true };
  throw ApplicationFailure.retryable(
    `This worker can't decode the call (${call.holdfastUndecodable}); give it the missing key`,
    FAILURE_TYPES.providerUnavailable,
    details,
  );
}
