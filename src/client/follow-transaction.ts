import { FLOWS } from '../contract/flows.js';
import { MEMO_KEYS } from '../contract/names.js';
import type { ParsedResolvePendingInput } from '../contract/resolve-pending.js';
import { decoded } from './decoded.js';
import { HoldfastError } from './errors.js';
import type { FlowCalls } from './flow-calls.js';
import { makeRequest, startOptions } from './start-options.js';

/**
 * Starts the flow that follows a foreign transaction, or joins it.
 * @throws HoldfastError `ReferenceConflict` when that flow expects another amount, currency or business unit
 */
export async function followTransaction(
  calls: FlowCalls,
  parsed: ParsedResolvePendingInput,
): Promise<{ workflowId: string }> {
  const { transactionId } = parsed;
  const request = makeRequest(FLOWS.resolvePending, parsed);
  const { type, workflowId, fingerprint } = request;
  await calls.guarded(transactionId, async () => {
    await calls.startOrJoin(type, startOptions(request));
    const { memo } = await calls.handle({ transactionId }).describe();
    // A flow that was started without this client has no fingerprint before its first task.
    const theirs = decoded(memo?.[MEMO_KEYS.fingerprint]);
    if (theirs === undefined || theirs === fingerprint) return;
    throw new HoldfastError(
      'ReferenceConflict',
      `Transaction "${transactionId}" is already followed with another input: ask for its status`,
    );
  });
  return { workflowId };
}
