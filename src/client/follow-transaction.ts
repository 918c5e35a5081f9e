import { fingerprint } from '../contract/fingerprint.js';
import { MEMO_KEYS, PAYMENTS_TASK_QUEUE, resolveWorkflowId, WORKFLOW_TYPES } from '../contract/names.js';
import type { ParsedResolvePendingInput } from '../contract/resolve-pending.js';
import { decoded } from './decoded.js';
import { HoldfastError } from './errors.js';
import type { FlowCalls } from './flow-calls.js';
import { startAttributes, startMemo, summaryOf } from './start-options.js';

/**
 * Starts the flow that follows a transaction made elsewhere, or joins it.
 * @throws HoldfastError `ReferenceConflict` when it expects another sum, currency or business unit
 */
export async function followTransaction(
  calls: FlowCalls,
  parsed: ParsedResolvePendingInput,
): Promise<{ workflowId: string }> {
  const workflowId = resolveWorkflowId(parsed.transactionId);
  const { amount, currency, businessUnit, transactionId } = parsed;
  const type = WORKFLOW_TYPES.resolvePending;
  const print = fingerprint({ type, reference: transactionId, amount, currency, businessUnit });
  await calls.guarded(transactionId, async () => {
    await calls.startOrJoin(type, {
      workflowId,
      taskQueue: PAYMENTS_TASK_QUEUE,
      args: [parsed],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      memo: startMemo(print),
      typedSearchAttributes: startAttributes(parsed),
      staticSummary: summaryOf('Resolve', { ...parsed, reference: transactionId }),
    });
    const { memo } = await calls.handle({ transactionId }).describe();
    // A raw start has no fingerprint before its first task.
    const theirs = decoded(memo?.[MEMO_KEYS.fingerprint]);
    if (theirs === undefined || theirs === print) return;
    throw new HoldfastError(
      'ReferenceConflict',
      `Transaction "${transactionId}" is already followed with another input: ask for its status`,
    );
  });
  return { workflowId };
}
