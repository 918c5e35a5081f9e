import { cardWorkflowId, MEMO_KEYS, PAYMENTS_TASK_QUEUE } from '../contract/names.js';
import { decoded } from './decoded.js';
import { HoldfastError } from './errors.js';
import type { FlowCalls } from './flow-calls.js';
import type { CardInput } from './flow-spec.js';
import { cardFingerprint } from './flow-spec.js';
import { startMemo } from './start-options.js';

/**
 * Runs what is asked of the cards on file, or joins it where it was asked before under the same `commandId`.
 * @throws HoldfastError `ReferenceConflict` when that was for another card; the flow's own failure
 */
export async function runCardFlow<Answer>(
  calls: FlowCalls,
  type: 'listCards' | 'removeCard',
  input: CardInput,
): Promise<Answer> {
  const { customerId, commandId } = input;
  const workflowId = cardWorkflowId(customerId, commandId);
  const print = cardFingerprint(type, input);
  return await calls.guarded({ workflowId }, async () => {
    const started = await calls.startOrJoin(type, {
      workflowId,
      taskQueue: PAYMENTS_TASK_QUEUE,
      args: [input],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      memo: startMemo(print),
      staticSummary: `${type} of customer ${customerId}`,
    });
    const flow = calls.handle({ workflowId });
    const theirs = started ? print : decoded((await flow.describe()).memo?.[MEMO_KEYS.fingerprint]);
    // A raw start has none.
    if (theirs !== undefined && theirs !== print) {
      throw new HoldfastError(
        'ReferenceConflict',
        `Command "${commandId}" was already given for another card of this customer; use a new commandId`,
      );
    }
    return (await flow.result()) as Answer;
  });
}
