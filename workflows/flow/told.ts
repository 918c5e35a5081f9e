import type { TransactionEvent } from '../../src/contract/messages.js';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { ActionRecord } from '../../src/contract/payment-actions.js';
import { resourceOf } from '../../src/domain/settling.js';
import { markTold } from '../../src/domain/told-otherwise.js';
import { showLasting } from './explain.js';
import { addLasting } from './new-state.js';
import type { FlowState } from './state.js';

/** No real payment has more captures. */
const MOST_CAPTURES = 50;

/**
 * Remembers a capture that a signed event calls `Succeed`. Whatever is under way ignores events of a capture that was
 * answered; if one contradicts that answer, another capture could take the money twice.
 * @returns whether one that is under way must stop
 */
export function noteCaptured(
  flow: FlowState,
  { eventType, transactionId, status, trusted }: TransactionEvent,
): boolean {
  if (!trusted || status !== 'Succeed' || transactionId === undefined || resourceOf(eventType) !== 'capture')
    return false;
  if (flow.type !== WORKFLOW_TYPES.authorizeAndCapture || flow.toldCaptured?.includes(transactionId) === true)
    return false;
  flow.toldCaptured = [...(flow.toldCaptured ?? []), transactionId].slice(-MOST_CAPTURES);
  const { hold } = flow;
  if (contradicted(flow) !== transactionId && hold?.capturesBefore?.includes(transactionId) !== true) return false;
  noteContradiction(flow, 'capture', transactionId);
  return flow.kind === 'capture';
}

/**
 * Remembers that a signed event contradicts the answer to a command of an ended payment: its sum may have moved, and counts
 * against those that follow.
 * @returns whether one that is under way must stop
 */
export function noteTold(flow: FlowState, event: TransactionEvent): boolean {
  if (flow.unplaced === undefined) return false;
  if (event.businessUnit !== flow.businessUnit || event.paymentId !== flow.paymentId) return false;
  return markTold(flow.actions, event).some(({ action, told }) => told?.status === 'Succeed' && action === flow.kind);
}

/** A person has looked at what calls for them. */
export function noteSeen({ actions }: FlowState): void {
  for (const action of actions) if (action.told !== undefined) action.toldSeen = true;
}

/** How many commands of this kind a signed event calls `Succeed` that were answered otherwise. */
export function countTold({ actions }: FlowState, name: ActionRecord['action']): number {
  return actions.filter(({ action, told }) => action === name && told?.status === 'Succeed').length;
}

/** A capture of the present hold that was answered as failed, and that a signed event has called `Succeed`. */
export function contradicted({ hold, toldCaptured }: FlowState): string | undefined {
  return toldCaptured?.findLast((id) => id !== hold?.captured && hold?.captures.includes(id) === true);
}

/** Tells a person. */
export function noteContradiction(flow: FlowState, resource: string, transactionId: string): void {
  addLasting(flow, `an event calls ${resource} ${transactionId} Succeed, and it was answered otherwise`);
  showLasting(flow);
}
