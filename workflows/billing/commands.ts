import type { UpdateDefinition } from '@temporalio/common';
import { condition, currentUpdateInfo } from '@temporalio/workflow';
import { type SettleManually, settleManuallySchema } from '../../src/contract/messages.js';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import { HAS_ENDED } from '../../src/contract/refusals.js';
import {
  billNowSchema,
  cancelSubscriptionSchema,
  changeCardSchema,
  changePlanSchema,
  changeTermsSchema,
  pauseSchema,
  type RefundPeriod,
  refundPeriodSchema,
  resumeSchema,
  setAmountSchema,
  skipPeriodSchema,
  type SubscriptionAnswer,
} from '../../src/contract/subscription-commands.js';
import { commandRegistrar, isRepeat, refused, refuseQuestionWhenFull, refuseRepeatWhenFull } from '../kit/requests.js';
import { inResetRun, isMadeByReset } from '../kit/start-guard.js';
import {
  billNowUpdate,
  cancelUpdate,
  changeCardUpdate,
  changePlanUpdate,
  changeTermsUpdate,
  pauseUpdate,
  refundPeriodUpdate,
  resumeUpdate,
  setAmountUpdate,
  skipPeriodUpdate,
  settleManuallyUpdate,
} from '../messages.js';
import { isGivenAgain } from './given-again.js';
import { enqueue } from './payment-disputed.js';
import type { Billing, CommandAnswer, SubscriptionCommand } from './state.js';

export function registerSubscriptionCommands(flow: Billing): void {
  const register = commandRegistrar<Name, Request, SubscriptionAnswer>(
    (name, request) => {
      validate(flow, name, request);
      // Only in the validator: handlers of accepted commands are replayed, also by code with other limits.
      refuseWithoutPlace(flow, isKnown(flow, idOf(request)));
      if (name === 'refundPeriod') refuseDoubtfulRefund(flow, request);
      if (name === 'settleManually' && !isKnown(flow, idOf(request))) refuseAmount(request);
    },
    (name, request) => run(flow, name, request),
  );
  register('pause', pauseUpdate, pauseSchema, 'Stands still: no bill leaves until it is resumed');
  register('resume', resumeUpdate, resumeSchema, 'Bills again after a pause');
  register('changeCard', changeCardUpdate, changeCardSchema, 'Another card; a bill that is past due is tried at once');
  register(
    'changePlan',
    changePlanUpdate,
    changePlanSchema,
    'Amounts, interval or hour from the first period on that is not due yet, or amounts from a later one',
  );
  register('skipPeriod', skipPeriodUpdate, skipPeriodSchema, 'Bills nothing for a period to come, or takes that back');
  register('setAmount', setAmountUpdate, setAmountSchema, 'Supplies the amount of a period of a metered subscription');
  register(
    'changeTerms',
    changeTermsUpdate,
    changeTermsSchema,
    'Dunning, missed periods, statement text, notices, metadata or end, from now on',
  );
  register(
    'cancel',
    cancelUpdate,
    cancelSubscriptionSchema,
    'Ends now, or at the end of the present period; or takes that back',
  );
  register('billNow', billNowUpdate, billNowSchema, 'Bills the period that it names, once');
  register('refundPeriod', refundPeriodUpdate, refundPeriodSchema, 'Refunds a period, or a part of it');
  register(
    'settleManually',
    settleManuallyUpdate as unknown as UpdateDefinition<SubscriptionAnswer, [SettleManually]>,
    settleManuallySchema,
    'States what an operator found out about an attempt whose outcome nobody knows',
  );
}

type Name = SubscriptionCommand['name'];
type Request = SubscriptionCommand['request'];

/**
 * Reasons to refuse a refund, checked only before it is accepted: the handler of an accepted one is replayed, also in a
 * run after a reset, and must do the same again.
 */
function refuseDoubtfulRefund(flow: Billing, request: RefundPeriod): void {
  const commandId = idOf(request);
  const begun = flow.refunding?.find((one) => one.commandId === commandId);
  if (begun?.request !== undefined)
    isRepeat({ commandId, name: 'refundPeriod', request: begun.request }, 'refundPeriod', request);
  // After a reset the engine redelivers commands, and merchants repeat them later. The last period may then be another
  // one than when the refund was first requested.
  if (
    request.period === undefined &&
    begun === undefined &&
    !isKnown(flow, commandId) &&
    (flow.afterReset === true || inResetRun())
  ) {
    throw refused(
      'name the period, under the same command id: after a reset nobody knows which one was the last when this was ' +
        'first asked, nor whether it was refunded then',
    );
  }
}

function refuseAmount(request: Request): void {
  if ('amount' in request && request.amount !== undefined)
    throw refused('amount: a bill is worth what its payment was for; leave it out', FAILURE_TYPES.invalidInput);
}

function isKnown({ commands, answered }: Billing, commandId: string): boolean {
  return commands.has(commandId) || answered.some((one) => one.commandId === commandId);
}

function validate(flow: Billing, name: Name, request: Request): void {
  const commandId = idOf(request);
  const earlier = flow.answered.find((one) => one.commandId === commandId) ?? flow.commands.get(commandId);
  if (isRepeat(earlier, name, request)) return;
  if (flow.ended !== undefined) throw refused(`the subscription ${HAS_ENDED}: ${flow.ended.status}`);
  if (flow.failure !== undefined) throw refused('the subscription was refused');
}

/** A repeated command id joins the first command and gets its answer, also in a later run. */
async function run(flow: Billing, name: Name, request: Request): Promise<SubscriptionAnswer> {
  flow.updatesTaken += 1;
  const commandId = idOf(request);
  const earlier = flow.answered.find((one) => one.commandId === commandId);
  if (earlier !== undefined) return answerOrThrow(earlier.answer);
  let command = flow.commands.get(commandId);
  if (command === undefined) {
    // The subscription may have ended in this very task.
    validate(flow, name, request);
    const early = flow.opened ? {} : { beforeOpened: true };
    command = { commandId, name, request, at: Date.now(), ...early, ...isGivenAgain(flow) } as SubscriptionCommand;
    flow.commands.set(commandId, command);
    enqueue(flow, command);
  }
  const waiting = command;
  await condition(() => (waiting.answer !== undefined || flow.leaving) && !flow.inLocalTry);
  return answerOrThrow(waiting.answer ?? KEPT);
}

/** The answer of a run that ends without having opened anything. In the next run a repeat joins the command. */
const KEPT: CommandAnswer = {
  refusal:
    'card and customer could not be looked up yet; the command is kept, and done before anything is billed: for its ' +
    'answer send the command again, with the same commandId',
  type: FAILURE_TYPES.providerUnavailable,
};

function answerOrThrow(answer: CommandAnswer): SubscriptionAnswer {
  if ('refusal' in answer) throw refused(answer.refusal, answer.type);
  return answer;
}

function idOf(request: Request): string {
  return request.commandId ?? currentUpdateInfo()?.id ?? '';
}

/**
 * New commands of one run: together with questions and repeats they stay below the engine's 2,000 updates. A run that a
 * reset has made is given those of many runs at once, and each was accepted before.
 */
const MOST_COMMANDS = 150;

/** For the validator: during a payment a status job would use up the room for `cancel`, `pause` and `changeCard`. */
export function refuseQuestion(flow: Billing): void {
  if (flow.ended === undefined && flow.failure === undefined) refuseQuestionWhenFull(askedOf(flow));
}

/** @param isRepeat a repeated command only wants its answer */
function refuseWithoutPlace(flow: Billing, isRepeat: boolean): void {
  if (isRepeat) refuseRepeatWhenFull(askedOf(flow));
  else if (!isMadeByReset() && flow.worked + flow.queue.length >= MOST_COMMANDS)
    throw refused(`it has been given ${MOST_COMMANDS} commands while a payment was under way; wait for its end`);
}

function askedOf({ updatesTaken, canContinue }: Billing): Parameters<typeof refuseQuestionWhenFull>[0] {
  return { updatesTaken, isShort: canContinue };
}
