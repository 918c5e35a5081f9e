import type { FinalChargeOutcome } from '../../src/contract/charge.js';
import { idempotencyKey } from '../../src/contract/idempotency-key.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import type { TransactionRecord } from '../../src/contract/transaction.js';
import { waitingVoid } from '../flow/inbox.js';
import { settledOutcome } from '../flow/outcomes.js';
import { resumable } from '../flow/resumable.js';
import { inResetRun } from '../flow/start-guard.js';
import type { FlowState, PendingVoids, RefusableName, Refusal } from '../flow/state.js';
import { type MoneyStep, executeFirst } from './money-step.js';
import { endOfVoids, listVoids, noPendingVoids, pendingVoids, refusesVoid } from './void-pending.js';

/** For a charge or credit: it accepts a `void` while it is pending, and nothing else. */
export function refusesAllButVoid(flow: FlowState, name: RefusableName): Refusal | undefined {
  const { status, type } = flow;
  if (name !== 'void') return { refusal: `a ${type} that is ${status} takes no ${name}` };
  // After a reset Temporal delivers the commands of the earlier run again at once: they wait for their turn.
  const why = inResetRun() ? undefined : refusesVoid(flow);
  return why === undefined ? undefined : { refusal: why };
}

/**
 * Executes the one operation of a charge or credit, which may be voided while it is pending. The flow ends `voided` if
 * the void has succeeded and the operation has failed. If both have succeeded, the operation's success counts.
 * @param readOnlyReason why nothing may be sent
 */
export async function executeVoidable(
  flow: FlowState,
  step: MoneyStep,
  readOnlyReason?: string,
): Promise<FinalChargeOutcome> {
  const begin = (): { so: PendingVoids } => ({ so: noPendingVoids() });
  return await resumable(flow, 'voidable', begin, async ({ so }) =>
    endOfVoidable(flow, so, await executeFirst(flow, { ...step, voids: pendingVoids(flow, so) }, readOnlyReason)),
  );
}

async function endOfVoidable(
  flow: FlowState,
  voids: PendingVoids,
  ended: FinalStepOutcome,
): Promise<FinalChargeOutcome> {
  await recall(flow, voids);
  const end = endOfVoids(flow, voids, ended);
  const actions = flow.actions.length > 0 ? { actions: [...flow.actions] } : {};
  if (end === undefined || 'despiteVoid' in end) return { ...ended, ...end, ...actions };
  const { transactionId, evidence } = end.outcome;
  const { reference, amount, currency, paymentId, risk } = ended;
  return {
    status: 'voided',
    reason: 'command',
    reference,
    amount,
    currency,
    ...(paymentId !== undefined && { paymentId }),
    ...(transactionId !== undefined && { transactionId }),
    ...(risk !== undefined && { risk }),
    voided: end.voided,
    evidence,
    ...actions,
  };
}

/** Finds a void that the run before a reset has sent, if the voided operation ended before this run could follow it. */
async function recall(flow: FlowState, voids: PendingVoids): Promise<void> {
  const command = waitingVoid(flow);
  if (command === undefined || voids.sent.length > 0 || !inResetRun()) return;
  const listed = await listVoids(flow);
  const done = listed?.find((record) => record.status === 'Succeed' && isOurs(flow, record, listed));
  if (done === undefined) return;
  flow.queue.shift();
  const outcome = settledOutcome(flow, { record: done, knownBy: 'poll', confirmed: true });
  voids.sent.push({ command, sequence: 1, outcome });
}

/**
 * Others may void the same payment. If the service echoes no key, the void is ours only if it is the only one listed.
 */
function isOurs({ workflowId }: FlowState, { holdfastKey }: TransactionRecord, listed: TransactionRecord[]): boolean {
  return holdfastKey === undefined
    ? listed.length === 1
    : holdfastKey.startsWith(idempotencyKey(workflowId, 'void', ''));
}
