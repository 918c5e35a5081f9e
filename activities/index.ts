import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { PaymentActivities } from '../src/contract/activities.js';
import type { FailureDetails } from '../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { isUndecodable } from '../src/contract/undecodable.js';
import { createPayment } from './create-payment.js';
import { createCustomer, deleteCustomer, findCustomer, getCustomer, updateCustomer } from './customers.js';
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
  listSupportedPaymentMethods,
  storePaymentMethod,
} from './payment-methods.js';
import { getRedirection, listRedirections } from './redirections.js';
import { AUTHORIZATION, CAPTURE, CHARGE, CREDIT, REFUND, RISK_ANALYSIS, VOID } from './transaction-kinds.js';
import { whileBeating } from './read-call.js';
import { transactionActivities } from './transactions.js';
import { updatePayment } from './update-payment.js';

export type { ActivityDeps, UnitTerms } from './deps.js';

/** The activities over what they need; a change of the contract breaks this at compile time. */
export function createActivities(deps: ActivityDeps): PaymentActivities {
  const authorization = transactionActivities(deps, AUTHORIZATION);
  const charge = transactionActivities(deps, CHARGE);
  const capture = transactionActivities(deps, CAPTURE);
  const voiding = transactionActivities(deps, VOID);
  const refund = transactionActivities(deps, REFUND);
  const credit = transactionActivities(deps, CREDIT);
  const riskAnalysis = transactionActivities(deps, RISK_ANALYSIS);
  return {
    createPayment: (call) => createPayment(deps, decoded(call)),
    getPayment: (call) => getPayment(deps, decoded(call)),
    updatePayment: (call) => updatePayment(deps, decoded(call)),
    getRedirection: (call) => getRedirection(deps, decoded(call)),
    listRedirections: (call) => listRedirections(deps, decoded(call)),
    listSupportedPaymentMethods: (call) => listSupportedPaymentMethods(deps, decoded(call)),

    createAuthorization: (call) => authorization.create(decoded(call)),
    getAuthorization: (call) => authorization.get(decoded(call)),
    listAuthorizations: (call) => authorization.list(decoded(call)),
    createCharge: (call) => charge.create(decoded(call)),
    getCharge: (call) => charge.get(decoded(call)),
    listCharges: (call) => charge.list(decoded(call)),
    createCapture: (call) => capture.create(decoded(call)),
    getCapture: (call) => capture.get(decoded(call)),
    listCaptures: (call) => capture.list(decoded(call)),
    createVoid: (call) => voiding.create(decoded(call)),
    getVoid: (call) => voiding.get(decoded(call)),
    listVoids: (call) => voiding.list(decoded(call)),
    createRefund: (call) => refund.create(decoded(call)),
    getRefund: (call) => refund.get(decoded(call)),
    listRefunds: (call) => refund.list(decoded(call)),
    createCredit: (call) => credit.create(decoded(call)),
    getCredit: (call) => credit.get(decoded(call)),
    listCredits: (call) => credit.list(decoded(call)),
    createRiskAnalysis: (call) => riskAnalysis.create(decoded(call)),
    getRiskAnalysis: (call) => riskAnalysis.get(decoded(call)),
    listRiskAnalyses: (call) => riskAnalysis.list(decoded(call)),

    createCustomer: (call) => createCustomer(deps, decoded(call)),
    getCustomer: (call) => getCustomer(deps, decoded(call)),
    findCustomer: (call) => findCustomer(deps, decoded(call)),
    updateCustomer: (call) => updateCustomer(deps, decoded(call)),
    deleteCustomer: (call) => deleteCustomer(deps, decoded(call)),
    storePaymentMethod: (call) => storePaymentMethod(deps, decoded(call)),
    getPaymentMethod: (call) => getPaymentMethod(deps, decoded(call)),
    listPaymentMethods: (call) => listPaymentMethods(deps, decoded(call)),
    deletePaymentMethod: (call) => deletePaymentMethod(deps, decoded(call)),
    getToken: (call) => getToken(deps, decoded(call)),

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
