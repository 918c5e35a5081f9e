import type { FinalChargeOutcome } from '../src/contract/charge.js';
import { fingerprint } from '../src/contract/fingerprint.js';
import { resolveWorkflowId, WORKFLOW_TYPES } from '../src/contract/names.js';
import type { ParsedResolvePendingInput } from '../src/contract/resolve-pending.js';
import { resolvePendingInputSchema } from '../src/contract/resolve-pending.js';
import { runFlow } from './flow/open-flow.js';
import { readTransaction } from './steps/read-transaction.js';
import { settle } from './steps/settle.js';

/**
 * Adopts a transaction that was made elsewhere and follows it to its final status. It never sends a
 * POST, so it can't move money. Its reference is the transaction id.
 */
export function resolvePending(raw: unknown): Promise<FinalChargeOutcome> {
  return runFlow(
    raw,
    {
      schema: resolvePendingInputSchema,
      workflowIdOf: ({ transactionId }) => resolveWorkflowId(transactionId),
      identityOf,
    },
    async (flow, input) => {
      flow.paymentId = input.paymentId;
      flow.transactionId = input.transactionId;
      const first = await readTransaction(flow, input.transactionId);
      const record = first ?? { transactionId: input.transactionId, status: 'Pending' };
      return await settle(flow, { record, knownBy: 'poll' });
    },
  );
}

function identityOf(input: ParsedResolvePendingInput) {
  const { transactionId, amount, currency, businessUnit, kind } = input;
  const type = WORKFLOW_TYPES.resolvePending;
  return {
    type,
    reference: transactionId,
    amount,
    currency,
    businessUnit,
    kind,
    fingerprint: fingerprint({ type, reference: transactionId, amount, currency, businessUnit }),
  };
}
