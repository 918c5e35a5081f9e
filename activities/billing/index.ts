import type { BillingActivities } from '../../src/contract/billing-activities.js';
import type { FlowReading, RefundOfPayment, RefundReading } from '../../src/contract/engine-port.js';
import { isUndecodable } from '../../src/contract/undecodable.js';
import { type ActivityTable, buildActivities } from '../build-activities.js';
import type { ActivityDeps } from '../deps.js';
import { changePlan, judgeAttempt, planBilling, resumeBill } from './calendar.js';
import { createNotifier, type NotifyDeps } from './notify-merchant.js';
import { openSubscription } from './open-subscription.js';

export type { NotifyDeps } from './notify-merchant.js';

/** Creates the activities of subscriptions beyond the calls of the payment service. */
export function createBillingActivities(deps: ActivityDeps & NotifyDeps): BillingActivities {
  const notifyMerchant = createNotifier(deps);
  const table: ActivityTable<ActivityDeps & NotifyDeps, BillingActivities> = {
    openSubscription,
    planBilling: async (_deps, call) => planBilling(call),
    judgeAttempt: async (_deps, call) => judgeAttempt(call),
    resumeBill: async (_deps, call) => resumeBill(call),
    changePlan: async (_deps, call) => changePlan(call),
    readAttempt,
    refundBill,
    notifyMerchant: (_deps, call) => notifyMerchant(call),
  };
  return buildActivities(deps, table, requireDecoded);
}

/** Fails (retried) without the codec key, so that a worker that has it executes the call. */
function requireDecoded(call: unknown): void {
  if (isUndecodable(call)) throw new Error(`This worker can't decode the call (${call.holdfastUndecodable})`);
}

/** @throws Error (retried) until a worker with the result's codec key executes it */
async function readAttempt({ engine }: ActivityDeps, workflowId: string): Promise<FlowReading> {
  const reading = await engine.readFlow(workflowId);
  if (reading.state !== 'ended' || !isUndecodable(reading.outcome)) return reading;
  throw new Error(`The outcome of ${workflowId} can't be decoded by this worker; give it the missing key`);
}

/** @throws ApplicationFailure when the engine does not answer (retried) */
async function refundBill({ engine }: ActivityDeps, call: RefundOfPayment): Promise<RefundReading> {
  return await engine.refund(call);
}
