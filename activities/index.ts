import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { PaymentActivities } from '../src/contract/activities.js';
import type { UnitCall } from '../src/contract/activity-calls.js';
import type { FailureDetails } from '../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { isUndecodable } from '../src/contract/undecodable.js';
import { createPayment } from './create-payment.js';
import { createCustomer, findCustomer, getCustomer } from './customers.js';
import { deliverEvent } from './deliver-event.js';
import type { ActivityDeps } from './deps.js';
import { findCreator, findEarlierActions } from './find-earlier-actions.js';
import { findEarlierPayment } from './find-earlier-payment.js';
import { findEarlierResult } from './find-earlier-result.js';
import { findEarlierRun } from './find-earlier-run.js';
import { getPayment } from './get-payment.js';
import {
  deletePaymentMethod,
  getPaymentMethod,
  getToken,
  listPaymentMethods,
  storePaymentMethod,
} from './payment-methods.js';
import { AUTHORIZATION, CAPTURE, CHARGE, CREDIT, REFUND, RISK_ANALYSIS, VOID } from './transaction-kinds.js';
import { notOfOthers } from './not-of-others.js';
import { whileBeating } from './read-call.js';
import { transactionActivities } from './transactions.js';

export type { ActivityDeps, UnitTerms } from './deps.js';

/** The activities over what they need; a change of the contract breaks this at compile time. */
export function createActivities(deps: ActivityDeps): PaymentActivities {
  const ours = <Call extends UnitCall>(call: Call): Call => notOfOthers(deps, decoded(call));
  const authorization = transactionActivities(deps, AUTHORIZATION);
  const charge = transactionActivities(deps, CHARGE);
  const capture = transactionActivities(deps, CAPTURE);
  const voiding = transactionActivities(deps, VOID);
  const refund = transactionActivities(deps, REFUND);
  const credit = transactionActivities(deps, CREDIT);
  const riskAnalysis = transactionActivities(deps, RISK_ANALYSIS);
  return {
    createPayment: (call) => createPayment(deps, ours(call)),
    getPayment: (call) => getPayment(deps, ours(call)),

    createAuthorization: (call) => authorization.create(ours(call)),
    getAuthorization: (call) => authorization.get(ours(call)),
    listAuthorizations: (call) => authorization.list(ours(call)),
    createCharge: (call) => charge.create(ours(call)),
    getCharge: (call) => charge.get(ours(call)),
    listCharges: (call) => charge.list(ours(call)),
    createCapture: (call) => capture.create(ours(call)),
    getCapture: (call) => capture.get(ours(call)),
    listCaptures: (call) => capture.list(ours(call)),
    createVoid: (call) => voiding.create(ours(call)),
    getVoid: (call) => voiding.get(ours(call)),
    listVoids: (call) => voiding.list(ours(call)),
    createRefund: (call) => refund.create(ours(call)),
    getRefund: (call) => refund.get(ours(call)),
    listRefunds: (call) => refund.list(ours(call)),
    createCredit: (call) => credit.create(ours(call)),
    getCredit: (call) => credit.get(ours(call)),
    listCredits: (call) => credit.list(ours(call)),
    createRiskAnalysis: (call) => riskAnalysis.create(ours(call)),
    getRiskAnalysis: (call) => riskAnalysis.get(ours(call)),
    listRiskAnalyses: (call) => riskAnalysis.list(ours(call)),

    createCustomer: (call) => createCustomer(deps, ours(call)),
    getCustomer: (call) => getCustomer(deps, ours(call)),
    findCustomer: (call) => findCustomer(deps, ours(call)),
    storePaymentMethod: (call) => storePaymentMethod(deps, ours(call)),
    getPaymentMethod: (call) => getPaymentMethod(deps, ours(call)),
    listPaymentMethods: (call) => listPaymentMethods(deps, ours(call)),
    deletePaymentMethod: (call) => deletePaymentMethod(deps, ours(call)),
    getToken: (call) => getToken(deps, ours(call)),

    deliverEvent: (call) => deliverEvent(deps, decoded(call)),
    findEarlierRun: (start) =>
      whileBeating(() => findEarlierRun(deps, start === undefined ? undefined : decoded(start))),
    findEarlierPayment: (key) =>
      whileBeating(() => findEarlierPayment(deps, key === undefined ? undefined : decoded(key))),
    findEarlierActions: () => whileBeating(() => findEarlierActions(deps)),
    findEarlierResult: () => whileBeating(() => findEarlierResult(deps)),
    findCreator: (workflowId) => whileBeating(() => findCreator(deps, decoded(workflowId))),
    taskWasLost: (runId) =>
      whileBeating(async () => {
        const execution = activityInfo().workflowExecution;
        return (
          execution === undefined ||
          (await deps.engine.taskWasLost(execution.workflowId, runId === undefined ? execution.runId : decoded(runId)))
        );
      }),
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
