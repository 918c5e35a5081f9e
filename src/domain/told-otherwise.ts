import type { TransactionEvent } from '../contract/messages.js';
import type { ActionRecord } from '../contract/payment-actions.js';
import { classifyLateEvent } from './event-routes.js';

/**
 * Marks the command whose answer a signed event contradicts. A later event that says what was answered takes the mark back.
 * @returns the commands that are marked anew, or again after a person had seen it
 */
export function markTold(actions: readonly ActionRecord[], event: TransactionEvent): ActionRecord[] {
  const { transactionId, status, trusted, created } = event;
  if (!trusted || status === undefined || status === 'Pending') return [];
  const ofIt = actions.filter(({ outcome }) => outcome.transactionId === transactionId);
  if (classifyLateEvent(event, { result: { actions: ofIt } }) !== 'contradicts') {
    for (const action of ofIt) {
      if (action.told === undefined || !isLater(created, action.told.created)) continue;
      delete action.told;
      delete action.toldSeen;
    }
    return [];
  }
  const marked: ActionRecord[] = [];
  for (const action of ofIt) {
    const { told, toldSeen } = action;
    if (told?.status === status && !isLater(created, told.created)) continue;
    if (told?.status !== status || toldSeen === true) marked.push(action);
    action.told = { status, created };
    // A person has seen what was said before.
    delete action.toldSeen;
  }
  return marked;
}

/** Events may come twice and out of order. What can't be compared is not later. */
export function isLater(created: string, than: string): boolean {
  return Date.parse(created) > Date.parse(than);
}
