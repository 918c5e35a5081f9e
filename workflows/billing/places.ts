import { refuseQuestionWhenFull, refuseRepeatWhenFull, refused } from '../flow/refuse.js';
import type { Billing } from './state.js';

/** New commands of one run: with questions and repeats there is room for them below the 2,000 updates that the engine takes. */
const MOST_COMMANDS = 150;

/** For the validator: while a payment is under way a status job would use up the places of `cancel`, `pause` and `changeCard`. */
export function refuseQuestion(flow: Billing): void {
  if (flow.ended === undefined && flow.failure === undefined) refuseQuestionWhenFull(askedOf(flow));
}

/** @param isRepeat a command that was given before only asks for its answer */
export function refuseWithoutPlace(flow: Billing, isRepeat: boolean): void {
  if (isRepeat) refuseRepeatWhenFull(askedOf(flow));
  else if (flow.worked + flow.queue.length >= MOST_COMMANDS)
    throw refused(`it has been given ${MOST_COMMANDS} commands while a payment was under way; wait for its end`);
}

function askedOf({ updatesTaken, canGiveWay }: Billing): Parameters<typeof refuseQuestionWhenFull>[0] {
  return { updatesTaken, isShort: canGiveWay };
}
