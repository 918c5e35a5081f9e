import { ApplicationFailure, CancellationScope } from '@temporalio/workflow';
import type { z } from 'zod';
import { FAILURE_TYPES, type FailureType } from '../../src/contract/names.js';
import { faultsOf } from '../../src/contract/fields.js';
import { IN_CLEAR, isRefusedInClear, isUndecodable, whyUndecodable } from '../../src/contract/payload-marks.js';
import type { SharedSchema } from '../../src/contract/shared-schema.js';
import { readableOrRetry } from './decoded-or-retry.js';
import type { FlowState, Command } from './state.js';

/** Handlers run in the scope that a cancel reaches: a cancelled flow stays open, and so must its handlers. */
export function whateverIsCancelled<Answer>(answer: () => Promise<Answer>): Promise<Answer> {
  return CancellationScope.nonCancellable(answer);
}

/** The failure of an update that is not taken; the flow is not affected. */
export function refused(why: string, type: FailureType = FAILURE_TYPES.stateConflict): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`Refused: ${why}`, type);
}

/** Why the id of an earlier command can't be used for another one. */
export function describeReuse(commandId: string, earlier: string): string {
  return `command "${commandId}" was already given as ${earlier} with another request; use a new commandId`;
}

export function refuseWhenEnded(flow: FlowState): void {
  if (flow.outcome !== undefined) throw refused(`the flow has already ended: ${flow.outcome.status}`);
  if (flow.failure !== undefined) throw refused('the flow has already ended: refused');
}

/**
 * Parses the request of an accepted update. A worker that can't read it leaves it to one that can: a refusal now would
 * be another answer than the one in the history.
 */
export function parseAccepted<Schema extends z.ZodType>(
  schema: SharedSchema<Schema>,
  value: unknown,
): z.output<Schema> {
  return parsed(schema, readableOrRetry(value, 'a command'));
}

/**
 * For validators, whose refusals are not in the history.
 * @throws ApplicationFailure `InvalidInput` with every fault
 */
export function parse<Schema extends z.ZodType>(schema: SharedSchema<Schema>, value: unknown): z.output<Schema> {
  if (isRefusedInClear(value)) throw refused(`it ${IN_CLEAR}`, FAILURE_TYPES.invalidInput);
  return parsed(schema, value);
}

function parsed<Schema extends z.ZodType>(schema: SharedSchema<Schema>, value: unknown): z.output<Schema> {
  if (isUndecodable(value)) {
    throw ApplicationFailure.nonRetryable(
      `Refused: this worker can't decode the request (${whyUndecodable(value)}); the flow goes on`,
      FAILURE_TYPES.unexpectedResponse,
    );
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const faults = faultsOf(result.error);
  throw ApplicationFailure.nonRetryable(`Refused: ${faults.join('; ')}`, FAILURE_TYPES.invalidInput, faults);
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

/** 1.5 times the number at which a run continues as new if it can (see `continue.ts`). */
const MOST_QUESTIONS = 1_500;
/** The rest, up to the engine's 2,000, is for `retryNow`, for decisions, and for new commands. */
const MOST_REPEATS = 1_800;

/** How often one run has been asked, for a run of any kind. */
interface Asked {
  updatesTaken: number;
  /** It continues as new before its updates are used up, or has ended. */
  isShort: boolean;
}

/**
 * For the validators of requests that move no money. A run with so many updates can't continue as new, because it sends
 * or a payment is under way: questions would use up the room for commands. A refused update costs no room.
 */
export function refuseQuestionWhenFull(asked: Asked): void {
  refuseFrom(MOST_QUESTIONS, asked);
}

/** The same for a repeated command: it only wants its answer. */
export function refuseRepeatWhenFull(asked: Asked): void {
  refuseFrom(MOST_REPEATS, asked);
}

/** An ended flow answers at once, while an open one may be sending for 20 hours. */
export function askedOf({ updatesTaken, outcome, failure }: FlowState): Asked {
  return { updatesTaken, isShort: outcome !== undefined || failure !== undefined };
}

function refuseFrom(most: number, { updatesTaken, isShort }: Asked): void {
  if (isShort || updatesTaken < most) return;
  throw refused(
    `it has been asked ${updatesTaken} times in this run, and keeps what is left for commands; ask again later`,
    FAILURE_TYPES.rateLimited,
  );
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
export function forgetOldCommands({ commands }: FlowState): void {
  const forgettable = [...commands.values()].filter(isForgettable);
  for (const { commandId } of forgettable.slice(0, Math.max(0, forgettable.length - MOST_FORGETTABLE)))
    commands.delete(commandId);
}

/** An answered decision has had its effect; a refused command has sent nothing. */
function isForgettable({ name, answer }: Command): boolean {
  if (answer === undefined) return false;
  return 'refusal' in answer || name === 'settleManually' || name === 'decideReview';
}
