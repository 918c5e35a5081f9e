import { patched } from '@temporalio/workflow';
import { type Asked, refused } from '../kit/requests.js';
import { FAILURE_TYPES, PATCHES } from '../../src/contract/names.js';
import { ALREADY_ENDED } from '../../src/contract/refusals.js';
import type { FlowState, Command } from './state.js';

export function refuseWhenEnded(flow: FlowState): void {
  if (flow.outcome !== undefined) throw refused(`${ALREADY_ENDED}: ${flow.outcome.status}`);
  if (flow.failure !== undefined) throw refused(`${ALREADY_ENDED}: refused`);
}

/** After so many commands `paymentActions` closes once none is under way: the next run begins with an empty list. */
export const MANY_COMMANDS = 100;
/** Commands that have executed, or wait to, are carried from run to run: there is no room for more. */
const MOST_COMMANDS = 1_000;
/** How many forgettable commands are kept (see `isForgettable`). */
const MOST_FORGETTABLE = 100;
/** The engine lets ten updates wait at one flow. The other two are for whoever has to end the wait. */
const MOST_WAITING = 8;

/** An operator's commands are never refused for their number: a flow that only a person can end would never end. */
export function refuseTooManyCommands({ commands, lasting }: FlowState): void {
  const kept = [...commands.values()].filter((command) => !isForgettable(command)).length;
  if (kept < MOST_COMMANDS) return;
  // A run with so many closes as soon as none is under way; if an operator has to look, it stays open until they have.
  const until =
    lasting === undefined
      ? 'it takes others once none of them is under way'
      : `it takes others once a person has looked into this and said so by \`retryNow\`: ${lasting}`;
  throw refused(`this flow has already been given ${MOST_COMMANDS} commands; ${until}`);
}

/** For the validators of updates that may wait for days. What is refused here was not taken, and may be sent again. */
export function refuseWhenFull({ waiting }: FlowState): void {
  if (waiting < MOST_WAITING) return;
  throw refused(
    `${waiting} questions and commands wait for their answers at this flow; give this one again once one of them has its own`,
    FAILURE_TYPES.rateLimited,
  );
}

/** An ended flow answers at once, while an open one may be sending for 20 hours. */
export function askedOf({ updatesTaken, outcome, failure }: FlowState): Asked {
  return { updatesTaken, isShort: outcome !== undefined || failure !== undefined };
}

/** Counts a handler as waiting. */
export async function inPlace<Answer>(flow: FlowState, answer: () => Promise<Answer>): Promise<Answer> {
  flow.waiting += 1;
  try {
    return await answer();
  } finally {
    flow.waiting -= 1;
  }
}

/** Makes room for another command. A forgotten one is refused or handled as new if repeated: it did nothing. */
export function forgetOldCommands(flow: Pick<FlowState, 'commands' | 'approvals'>): void {
  const { commands } = flow;
  const forgettable = [...commands.values()].filter(isForgettable);
  for (const { commandId } of forgettable.slice(0, Math.max(0, forgettable.length - MOST_FORGETTABLE))) {
    commands.delete(commandId);
    // An approval must not let through another command of the same id, over whatever sum.
    if (flow.approvals !== undefined) forgetDecision(flow, commandId);
  }
}

/** Forgets what was decided about this command: it is about another sum now. */
export function forgetDecision(flow: Pick<FlowState, 'approvals'>, commandId: string): void {
  const { [commandId]: _forgotten, ...others } = flow.approvals ?? {};
  flow.approvals = others;
}

/**
 * The refusal was true for a moment, and nothing of the command was sent: kept, it would answer the command for as long as
 * the run is open, whatever holds by then.
 */
export function forgetRefused(flow: FlowState, command: Command): void {
  if (!patched(PATCHES.forgetsRefusals)) return;
  const { commandId } = command;
  if (flow.commands.get(commandId) === command) flow.commands.delete(commandId);
  // As where there is no room for it: it may be given again over another sum.
  if (flow.approvals !== undefined) forgetDecision(flow, commandId);
}

/** An answered decision has had its effect; a refused command has sent nothing. */
function isForgettable({ name, answer }: Command): boolean {
  if (answer === undefined) return false;
  return 'refusal' in answer || name === 'settleManually' || name === 'decideReview';
}
