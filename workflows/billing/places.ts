import { refuseQuestionWhenFull, refuseRepeatWhenFull, refused } from '../flow/refuse.js';
import type { Billing } from './state.js';

/** New commands of one run: together with questions and repeats they stay below the engine's 2,000 updates. */
const MOST_COMMANDS = 150;

/** For the validator: during a payment a status job would use up the room for `cancel`, `pause` and `changeCard`. */
export function refuseQuestion(flow: Billing): void {
  if (flow.ended === undefined && flow.failure === undefined) refuseQuestionWhenFull(askedOf(flow));
}

/** @param isRepeat a repeated command only wants its answer */
export function refuseWithoutPlace(flow: Billing, isRepeat: boolean): void {
  if (isRepeat) refuseRepeatWhenFull(askedOf(flow));
  else if (flow.worked + flow.queue.length >= MOST_COMMANDS)
    throw refused(`it has been given ${MOST_COMMANDS} commands while a payment was under way; wait for its end`);
}

function askedOf({ updatesTaken, canContinue }: Billing): Parameters<typeof refuseQuestionWhenFull>[0] {
  return { updatesTaken, isShort: canContinue };
}
