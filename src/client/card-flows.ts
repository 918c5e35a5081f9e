import { MEMO_KEYS } from '../contract/names.js';
import { decoded } from './decoded.js';
import { HoldfastError } from './errors.js';
import type { FlowCalls } from './flow-calls.js';
import { type FlowRequest, startMemo } from './start-options.js';

/**
 * Runs a flow on the cards on file, or joins the one that was started with the same `commandId`.
 * @throws HoldfastError `ReferenceConflict` when the `commandId` was used for another card; the flow's own failure
 */
export async function runCardFlow<Answer>(
  calls: FlowCalls,
  { type, title, taskQueue, workflowId, fingerprint, subject, input }: FlowRequest<'listCards' | 'removeCard'>,
): Promise<Answer> {
  return await calls.guarded({ workflowId }, async () => {
    const started = await calls.startOrJoin(type, {
      workflowId,
      taskQueue,
      args: [input],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      memo: startMemo(fingerprint),
      staticSummary: `${title} ${subject.customerId}`,
    });
    const flow = calls.handle({ workflowId });
    const theirs = started ? fingerprint : decoded((await flow.describe()).memo?.[MEMO_KEYS.fingerprint]);
    // A flow that was started without this client has no fingerprint.
    if (theirs !== undefined && theirs !== fingerprint) {
      throw new HoldfastError(
        'ReferenceConflict',
        `Command "${subject.reference}" was already given for another card of this customer; use a new commandId`,
      );
    }
    return (await flow.result()) as Answer;
  });
}
