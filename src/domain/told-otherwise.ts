import type { TransactionEvent } from '../contract/messages.js';
import type { ActionRecord } from '../contract/payment-actions.js';
import { classifyLateEvent } from './event-routes.js';

/**
 * Marks the command whose answer a signed event contradicts. A later event that says what was answered takes the mark back.
 * @returns the commands that are marked anew
 */
export function markTold(actions: readonly ActionRecord[], event: TransactionEvent): ActionRecord[] {
  const { transactionId, status, trusted, created } = event;
  if (!trusted || status === undefined || status === 'Pending') return [];
  const ofIt = actions.filter(({ outcome }) => outcome.transactionId === transactionId);
  if (classifyLateEvent(event, { result: { actions: ofIt } }) !== 'contradicts') {
    for (const action of ofIt) if (isLater(created, action.told?.created)) delete action.told;
    return [];
  }
  const marked = ofIt.filter(({ told }) => told?.status !== status);
  for (const action of marked) action.told = { status, created };
  return marked;
}

/** Events may come twice and out of order. What can't be compared is not later. */
function isLater(created: string, than: string | undefined): boolean {
  return than !== undefined && Date.parse(created) > Date.parse(than);
}
