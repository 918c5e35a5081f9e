import { activityInfo } from '@temporalio/activity';
import type { CreatePaymentCall } from '../src/contract/activities.js';
import type { PaymentRecord } from '../src/contract/transaction.js';
import type { ActivityDeps } from './deps.js';
import { keyedPost } from './keyed-post.js';
import { paymentRecord } from './records.js';

/**
 * `POST /payments`. Moves no money, but in a run made by a reset a forgotten key would make a second
 * payment that could be charged again: such a run adopts the payment of the earlier one.
 */
export async function createPayment(deps: ActivityDeps, call: CreatePaymentCall): Promise<PaymentRecord> {
  const info = activityInfo();
  const begun = deps.now();
  const record = await keyedPost(
    deps,
    call,
    async (provider, options) =>
      paymentRecord(
        await provider.createPayment({ ...call.payment, additionalDetails: call.additionalDetails }, options),
      ),
    async () => {
      const execution = info.workflowExecution;
      if (execution === undefined) return undefined;
      return await deps.engine.earlierPayment(execution.workflowId, execution.runId);
    },
  );
  return info.isLocal ? { ...record, localMs: deps.now() - begun } : record;
}
