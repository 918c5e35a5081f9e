import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import { refused } from '../flow/refuse.js';
import type { Billing } from './state.js';

/** The engine takes 2,000 updates of one run, and refuses every further one: a cancel among them. */
const MOST_QUESTIONS = 1_500;
/** A run that waits goes on in the next one from about here: one that can't any more has used as many by then. */
const MOST_REPEATS = 1_800;
/** New commands of one run: with the others there is room for them below what the engine takes. */
const MOST_COMMANDS = 150;

/**
 * For the validators of what moves nothing: while a payment is under way the run can't give way to the next one, and a
 * status job would use up the places of `cancel`, `pause` and `changeCard`. What is refused so costs no place.
 */
export function refuseQuestionWhenFull(flow: Billing): void {
  refuseFrom(MOST_QUESTIONS, flow);
}

/** @param isRepeat a command that was given before only asks for its answer */
export function refuseWithoutPlace(flow: Billing, isRepeat: boolean): void {
  if (isRepeat) refuseFrom(MOST_REPEATS, flow);
  else if (flow.worked + flow.queue.length >= MOST_COMMANDS)
    throw refused(`it has been given ${MOST_COMMANDS} commands while a payment was under way; wait for its end`);
}

function refuseFrom(most: number, { updatesTaken, canGiveWay }: Billing): void {
  if (canGiveWay || updatesTaken < most) return;
  throw refused(
    `it has been asked ${updatesTaken} times while it was at work, and keeps what is left for commands; ask again later`,
    FAILURE_TYPES.rateLimited,
  );
}
