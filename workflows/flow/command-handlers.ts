import { condition, currentUpdateInfo } from '@temporalio/workflow';
import { canonical } from '../../src/contract/idempotency.js';
import {
  captureCommandSchema,
  type DecideReview,
  decideReviewSchema,
  reauthorizeCommandSchema,
  refundCommandSchema,
  voidCommandSchema,
  type SettleManually,
  type Outcome,
} from '../../src/contract/messages.js';
import { captureUpdate, decideReviewUpdate, reauthorizeUpdate, refundUpdate, voidUpdate } from '../messages.js';
import { noteUpdate } from './continue.js';
import { commandRegistrar, isRepeat, refused, refuseRepeatWhenFull } from '../kit/requests.js';
import {
  askedOf,
  forgetOldCommands,
  inPlace,
  refuseTooManyCommands,
  refuseWhenEnded,
  refuseWhenFull,
} from './refuse.js';
import { presentOutcome } from './outcomes.js';
import { inResetRun } from '../kit/start-guard.js';
import type { Command, FlowState, QueuedCommand, RefusableRequest } from './state.js';
import { enter } from './explain.js';

/**
 * The updates that make a flow act. Every flow has them, so that a flow that can't take a command says why. A handler
 * queues the command and waits; only the main loop acts.
 */
export function registerCommands(flow: FlowState): void {
  const register = commandRegistrar<Name, Request, Outcome>(
    (name, request) => validate(flow, name, request),
    (name, request) => run(flow, name, request),
  );
  register('capture', captureUpdate, captureCommandSchema, 'Takes what is held, or a part of it');
  register('void', voidUpdate, voidCommandSchema, 'Releases what is held');
  register('refund', refundUpdate, refundCommandSchema, 'Refunds what was captured, or a part of it');
  register('reauthorize', reauthorizeUpdate, reauthorizeCommandSchema, 'Reauthorizes with the stored card');
  register('decideReview', decideReviewUpdate, decideReviewSchema, 'Ends a risk review; says who and why');
}

type Name = QueuedCommand['name'];
type Request = QueuedCommand['request'];

function validate(flow: FlowState, name: Name, request: Request): void {
  const earlier = earlierOf(flow, name, request, idOf(request) ?? currentUpdateInfo()?.id ?? '');
  if (isRepeat(earlier, name, request)) {
    refuseRepeatWhenFull(askedOf(flow));
    if (earlier?.answer === undefined && name !== 'decideReview') refuseWhenFull(flow);
    return;
  }
  refuseWhenEnded(flow);
  if (name !== 'decideReview') {
    refuseTooManyCommands(flow);
    refuseWhenFull(flow);
  }
  const refusal =
    name === 'decideReview'
      ? // After a reset the engine redelivers the commands of the earlier run, also before the review opens.
        flow.status !== 'underReview' &&
        (flow.risk !== undefined || !inResetRun()) && { refusal: `no review is open; the flow is ${flow.status}` }
      : flow.refuses(flow, name, request as RefusableRequest);
  if (refusal) throw refused(refusal.refusal, 'type' in refusal ? refusal.type : undefined);
}

/** A repeated command id joins the first command and gets its answer. */
async function run(flow: FlowState, name: Name, request: Request): Promise<Outcome> {
  noteUpdate(flow);
  const commandId = idOf(request) ?? currentUpdateInfo()?.id ?? String(flow.commands.size);
  let command = earlierOf(flow, name, request, commandId);
  if (command === undefined) {
    const made = { commandId, name, request, takenAt: Date.now() } as QueuedCommand;
    forgetOldCommands(flow);
    flow.commands.set(commandId, made);
    // After a reset the engine redelivers commands in any order. Only `reauthorize` can precede other commands.
    if (name === 'reauthorize') flow.queue.splice(flow.queue.findLastIndex(isReauthorization) + 1, 0, made);
    else flow.queue.push(made);
    if (flow.keepsVoid) enter(flow, {});
    command = made;
  }
  return await answerOf(flow, command);
}

const isReauthorization = ({ name }: QueuedCommand): boolean => name === 'reauthorize';

function earlierOf(flow: FlowState, name: Name, request: Request, commandId: string): Command | undefined {
  const byId = flow.commands.get(commandId);
  return byId ?? (name === 'decideReview' ? sameDecision(flow, name, request as DecideReview) : undefined);
}

/** When the run ends, an open command is answered with the present state; in the next run a repeat joins it. */
export async function answerOf(flow: FlowState, command: Command): Promise<Outcome> {
  await inPlace(flow, () => condition(() => !flow.inLocalTry && (command.answer !== undefined || flow.leaving)));
  const { answer } = command;
  if (answer === undefined && flow.leaving) return presentOutcome(flow, command);
  if (answer === undefined || 'refusal' in answer) throw refused(answer?.refusal ?? 'the flow ended', answer?.type);
  return answer.outcome;
}

/** Without a `commandId` the merchant's reference is used, without that the update id. */
function idOf(request: Request): string | undefined {
  return request.commandId ?? ('reference' in request ? request.reference : undefined);
}

type Decision = SettleManually | DecideReview;

/**
 * Finds the first copy of a decision that is repeated without an id because its answer was lost: same person, same
 * words. An executed decision matches only while nothing waits for another: a second operation may need the same one.
 */
export function sameDecision(flow: FlowState, name: Command['name'], request: Decision): Command | undefined {
  if (request.commandId !== undefined) return undefined;
  const isOpen = name === 'settleManually' ? flow.settleable : flow.status === 'underReview';
  return [...flow.commands.values()].find(
    (earlier) =>
      earlier.name === name &&
      saidBySame(earlier.request as Decision, request) &&
      (earlier.answer === undefined || (!isOpen && 'outcome' in earlier.answer && !isOfAnother(flow, earlier))),
  );
}

/**
 * Finds the same words, given for an operation that is over. It is ambiguous whether they are meant for the operation
 * under way, whose money may have moved: they need a command id.
 */
export function decidedAnother(flow: FlowState, name: Command['name'], request: Decision): Command | undefined {
  if (request.commandId !== undefined) return undefined;
  return [...flow.commands.values()].find(
    (earlier) =>
      earlier.name === name &&
      saidBySame(earlier.request as Decision, request) &&
      earlier.answer !== undefined &&
      'outcome' in earlier.answer &&
      isOfAnother(flow, earlier),
  );
}

/** Names the operation under way, or the last one. */
export function operationOf({ kind, stepStartedAt }: FlowState): string {
  return `${kind} of ${stepStartedAt}`;
}

export function isOfAnother(flow: FlowState, { decides }: Command): boolean {
  return decides !== undefined && decides !== operationOf(flow);
}

function saidBySame(a: Decision, b: Decision): boolean {
  return a.who === b.who && a.why === b.why && canonical(a) === canonical(b);
}
