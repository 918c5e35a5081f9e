import type { BillingActivities } from '../../src/contract/billing-activities.js';
import { isUndecodable } from '../../src/contract/undecodable.js';
import type { ActivityDeps } from '../deps.js';
import { readAttempt, refundBill } from './attempts.js';
import { changePlan, judgeAttempt, planBilling, resumeBill } from './calendar.js';
import type { NotifyDeps } from './notify-merchant.js';
import { createNotifier } from './notify-merchant.js';
import { openSubscription } from './open-subscription.js';

export type { NotifyDeps } from './notify-merchant.js';

/** What subscriptions need beyond the calls of the payment service. */
export function createBillingActivities(deps: ActivityDeps & NotifyDeps): BillingActivities {
  const notifyMerchant = createNotifier(deps);
  return {
    openSubscription: (call) => openSubscription(deps, decoded(call)),
    planBilling: async (call) => planBilling(decoded(call)),
    judgeAttempt: async (call) => judgeAttempt(decoded(call)),
    resumeBill: async (call) => resumeBill(decoded(call)),
    changePlan: async (call) => changePlan(decoded(call)),
    readAttempt: (workflowId) => readAttempt(deps, decoded(workflowId)),
    refundBill: (call) => refundBill(deps, decoded(call)),
    notifyMerchant: (call) => notifyMerchant(decoded(call)),
  };
}

/** A worker without the key leaves the call to one that has it. */
function decoded<Call>(call: Call): Call {
  if (isUndecodable(call)) throw new Error(`This worker can't decode the call (${call.holdfastUndecodable})`);
  return call;
}
