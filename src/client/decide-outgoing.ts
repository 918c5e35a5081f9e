import { randomUUID } from 'node:crypto';
import { type Approval, approvalSchema, type Approved } from '../contract/messages.js';
import { UPDATE_NAMES } from '../contract/names.js';
import type { FinalStepOutcome } from '../contract/outcome.js';
import type { ActionRecord } from '../contract/payment-actions.js';
import { rejectedBecause } from '../contract/refusals.js';
import type { FlowCalls, FlowRef } from './flow-calls.js';
import { saysItHasEnded } from './given-before.js';
import { checkInput } from './start-options.js';

/**
 * Approves or rejects. Under an update id of its own: the server would give one the answer of the other. The same decision
 * about what has ended since is answered from the result: its answer may have been lost.
 */
export async function decideOutgoing(
  calls: FlowCalls,
  flow: FlowRef,
  name: 'approve' | 'reject',
  decision: Approval,
): Promise<Approved> {
  const checked = checkInput(approvalSchema, decision);
  try {
    return await calls.update<Approved>(flow, UPDATE_NAMES[name], checked, randomUUID());
  } catch (refusal) {
    if (!saysItHasEnded(refusal)) throw refusal;
    const result = await calls.resultOf(flow).catch(() => undefined);
    const outcome = outcomeOf(result as Result | undefined, checked.commandId);
    if (outcome === undefined || !isDecidedBy(outcome, name, checked)) throw refusal;
    return { ...checked, decision: name === 'approve' ? 'approved' : 'rejected' };
  }
}

/** Of a credit, or of the commands to a payment. */
type Result = (FinalStepOutcome & { actions?: undefined }) | { reference?: undefined; actions: ActionRecord[] };

function outcomeOf(result: Result | undefined, commandId: string): FinalStepOutcome | undefined {
  if (result?.reference === commandId) return result;
  return result?.actions?.find((action) => action.commandId === commandId)?.outcome;
}

function isDecidedBy(outcome: FinalStepOutcome, name: 'approve' | 'reject', { who, why }: Approval): boolean {
  if (name === 'reject') return outcome.status === 'notExecuted' && outcome.reason === rejectedBecause({ who, why });
  const { approved } = outcome.evidence;
  return approved?.who === who && approved.why === why;
}
