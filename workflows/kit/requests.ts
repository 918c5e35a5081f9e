import type { UpdateDefinition } from '@temporalio/common';
import { ApplicationFailure, CancellationScope, setHandler } from '@temporalio/workflow';
import type { z } from 'zod';
import { faultsOf } from '../../src/contract/fields.js';
import { canonical, describeReuse } from '../../src/contract/idempotency.js';
import { FAILURE_TYPES, type FailureType } from '../../src/contract/names.js';
import {
  IN_CLEAR,
  isRefusedInClear,
  isSealed,
  isUndecodable,
  NOT_FOR_THIS_FLOW,
  whyUndecodable,
} from '../../src/contract/payload-marks.js';
import type { SharedSchema } from '../../src/contract/shared-schema.js';
import { readableOrRetry } from './decoded-or-retry.js';

/** How a flow takes one kind of update. */
interface UpdateHandler<Parsed, Answer> {
  description: string;
  /** Only our workers give it: in clear it is refused, whatever they are set to. */
  onlySealed?: true;
  /** Must not change anything. Its refusals are not in the history. @throws ApplicationFailure */
  validate: (request: Parsed) => void;
  /** Queues the request and waits for its answer; only the main loop acts (money rule 7). */
  answer: (request: Parsed) => Promise<Answer>;
}

/** Registers the handler of an update. Must run before the first await: an update without one is rejected. */
export function onUpdate<Schema extends z.ZodType, Request, Answer>(
  update: UpdateDefinition<Answer, [Request], string>,
  schema: SharedSchema<Schema>,
  { description, onlySealed, validate, answer }: UpdateHandler<z.output<Schema>, Answer>,
): void {
  setHandler(update, (request) => whateverIsCancelled(() => answer(parseAccepted(schema, request))), {
    validator: (request) => {
      if (onlySealed === true && !isSealed(request))
        throw refused(`it ${NOT_FOR_THIS_FLOW}`, FAILURE_TYPES.invalidInput);
      validate(parse(schema, request));
    },
    description,
  });
}

/** Returns how a flow registers its commands: all are validated and answered in the same way, by name. */
export function commandRegistrar<Name extends string, Request, Answer>(
  validate: (name: Name, request: Request) => void,
  answer: (name: Name, request: Request) => Promise<Answer>,
) {
  return <One extends Request>(
    name: Name,
    update: UpdateDefinition<Answer, [One], string>,
    schema: SharedSchema<z.ZodType<Request>>,
    description: string,
  ): void =>
    onUpdate(update, schema, {
      description,
      validate: (request) => validate(name, request),
      answer: (request) => answer(name, request),
    });
}

/** Handlers run in the scope that a cancel reaches: a cancelled flow stays open, and so must its handlers. */
export function whateverIsCancelled<Answer>(answer: () => Promise<Answer>): Promise<Answer> {
  return CancellationScope.nonCancellable(answer);
}

/** The failure of an update that is not taken; the flow is not affected. */
export function refused(why: string, type: FailureType = FAILURE_TYPES.stateConflict): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`Refused: ${why}`, type);
}

/** A command that was given before. `request` may be in canonical form (see `src/contract/idempotency.ts`). */
interface Given {
  commandId: string;
  name: string;
  request: object | string;
}

/**
 * True if the request repeats the earlier command, and so gets its answer.
 * @throws ApplicationFailure `ReferenceConflict` if its id was given to another command
 */
export function isRepeat(earlier: Given | undefined, name: string, request: object): boolean {
  if (earlier === undefined) return false;
  const before = typeof earlier.request === 'string' ? earlier.request : canonical(earlier.request);
  if (earlier.name === name && before === canonical(request)) return true;
  throw refused(describeReuse(earlier.commandId, earlier.name), FAILURE_TYPES.referenceConflict);
}

/**
 * Parses the request of an accepted update. A worker that can't read it leaves it to one that can: a refusal now would
 * be another answer than the one in the history.
 */
function parseAccepted<Schema extends z.ZodType>(schema: SharedSchema<Schema>, value: unknown): z.output<Schema> {
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

/** 1.5 times the number at which a run continues as new if it can (see `continue.ts`). */
const MOST_QUESTIONS = 1_500;
/** The rest, up to the engine's 2,000, is for `retryNow`, for decisions, and for new commands. */
const MOST_REPEATS = 1_800;

/** How often one run has been asked, for a run of any kind. */
export interface Asked {
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

function refuseFrom(most: number, { updatesTaken, isShort }: Asked): void {
  if (isShort || updatesTaken < most) return;
  throw refused(
    `it has been asked ${updatesTaken} times in this run, and keeps what is left for commands; ask again later`,
    FAILURE_TYPES.rateLimited,
  );
}
