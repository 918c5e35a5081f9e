import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { canonical } from '../../src/contract/idempotency.js';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import type { ChangeCard, Pause, Resume } from '../../src/contract/subscription-commands.js';
import { read } from '../policies.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { decidesAfterReset } from '../kit/start-guard.js';
import { earlyUnpaid } from './after-cancel.js';
import { nextDueAfter, planned, resumed } from './calendar.js';
import { changePlan, changeTerms, setAmount, skipPeriod } from './change-plan.js';
import { isOtherCard, useNewCard } from './classify-attempt.js';
import { billNow, refundPeriod, settle } from './execute-on-bill.js';
import { doubtStands, executeAgain, isRunUnknown, noteCardChange, pauseForCard } from './given-again.js';
import { doubtNewTry } from './is-started.js';
import { refresh, presentAnswer } from './show.js';
import { isOfDispute } from './payment-disputed.js';
import type { Billing, CommandAnswer, OpenPeriod, Refusal, SubscriptionCommand } from './state.js';
import { tellOf } from './tell.js';

/** The reason with which an executed command ends the subscription. */
interface Ends {
  cancelled: string;
}

/** Processes the queue, except what must wait until `billNow` has started its payment. */
export async function executeCommands(flow: Billing): Promise<void> {
  // The answer names the run, which a later reset may copy.
  if (isRunUnknown(flow)) await planned(flow);
  for (;;) {
    const command = flow.queue[0];
    if (command === undefined) return;
    const done = flow.pendingEnd === undefined ? await execute(flow, command) : afterTheEnd(flow, command);
    flow.queue.shift();
    flow.worked += 1;
    if (done === 'later') {
      if (flow.billing === command) return;
    } else if (typeof done === 'object' && 'cancelled' in done) {
      flow.pendingEnd = { commands: [command], ...done };
    } else {
      answer(flow, command, done ?? presentAnswer(flow));
    }
  }
}

async function execute(flow: Billing, command: SubscriptionCommand): ReturnType<typeof executeCommand> {
  const done = (): ReturnType<typeof executeCommand> => executeCommand(flow, command);
  return await (command.again === true ? executeAgain(flow, done) : done());
}

/** It is being cancelled and only waits for the payment under way: another `cancel` is answered with the same end. */
function afterTheEnd({ pendingEnd }: Billing, command: SubscriptionCommand): Refusal | 'later' {
  if (command.name !== 'cancel' || command.request.when === 'undo')
    return { refusal: 'it ends as soon as it is known what its payment has done' };
  pendingEnd?.commands.push(command);
  return 'later';
}

/** Keeps the answer, so that a repeated command gets it in every later run as well. */
export function answer(flow: Billing, command: SubscriptionCommand, said: CommandAnswer): void {
  command.answer = said;
  const { commandId, name, request } = command;
  if (isToBeRepeated(name, said)) flow.commands.delete(commandId);
  else flow.answered.push({ commandId, name, request: canonical(request), answer: said });
  refresh(flow);
}

/** True if the answer is not final. The same command asks about its refund again, and can't make a second one. */
function isToBeRepeated(name: SubscriptionCommand['name'], said: CommandAnswer): boolean {
  if ('refusal' in said) return said.type === FAILURE_TYPES.providerUnavailable;
  const status = said.result?.status;
  return name === 'refundPeriod' && (status === 'pending' || status === 'unknown');
}

async function executeCommand(
  flow: Billing,
  command: SubscriptionCommand,
): Promise<CommandAnswer | Ends | 'later' | undefined> {
  switch (command.name) {
    case 'pause':
      return pause(flow, command.commandId, command.request, acceptedAt(command));
    case 'resume':
      return (
        doubtStands(flow, command) ?? (await resume(flow, command.commandId, command.request, acceptedAt(command)))
      );
    case 'changeCard':
      return await changeCard(flow, command.commandId, command.request, command.again === true);
    case 'changePlan':
      return await changePlan(flow, command.request, command.again === true, acceptedAt(command));
    case 'skipPeriod':
      return await skipPeriod(flow, command.request, acceptedAt(command));
    case 'setAmount':
      return await setAmount(flow, command.request);
    case 'changeTerms':
      return await changeTerms(flow, command.request);
    case 'cancel':
      return await cancel(flow, command);
    case 'billNow':
      return await billNow(flow, command);
    case 'refundPeriod':
      return await refundPeriod(flow, command.commandId, command.request);
    case 'settleManually':
      return await settle(flow, command.request);
  }
}

/** Judged as of now, a command that waited for the look-ups would be too late for what came due meanwhile. */
function acceptedAt({ beforeOpened, at }: SubscriptionCommand): number | undefined {
  return beforeOpened === true ? at : undefined;
}

/** @param now epoch ms: when it begins */
function pause(flow: Billing, commandId: string, { openPeriod, until }: Pause, now = Date.now()): Refusal | undefined {
  if (flow.paused !== undefined && isOfDispute(commandId)) {
    // A pause with an end would bill again by itself.
    delete flow.paused.until;
    return undefined;
  }
  if (flow.paused !== undefined) return { refusal: 'it is paused already' };
  const at = until === undefined ? undefined : Date.parse(until);
  // A reset gives it again after its end: refused, it would let be billed what came due in its time.
  if (at !== undefined && at <= now && !decidesAfterReset())
    return { refusal: `until: ${until} is over`, type: FAILURE_TYPES.invalidInput };
  flow.paused = {
    since: now,
    ...(openPeriod === 'drop' && { drop: true as const }),
    ...(at !== undefined && { until: at }),
  };
  tellOf(flow, 'subscription.paused', commandId);
  return undefined;
}

/** @param at epoch ms: when the pause has ended */
async function resume(
  flow: Billing,
  commandId: string,
  { missedPeriods }: Resume,
  at = Date.now(),
): Promise<Refusal | undefined> {
  const { paused, open } = flow;
  if (paused === undefined) return { refusal: 'it is not paused' };
  delete flow.paused;
  // `billAll` of an earlier pause stays in force for what it has left, unless this command says otherwise.
  const isLeft = missedPeriods === undefined && flow.resumeWith === 'billAll';
  if (isLeft) flow.billAllUntil ??= paused.since;
  else delete flow.billAllUntil;
  flow.resumeWith = missedPeriods ?? (isLeft ? 'billAll' : 'skip');
  flow.resumedAt = at;
  const { next } = await planned(flow);
  // After a reset a pause that drops the bill may have been refused, and a person who says `skip` wants no further try.
  const isSkipped = paused.doubt !== undefined && missedPeriods === 'skip';
  if (open !== undefined && (paused.drop === true || isSkipped)) open.drop = true;
  flow.upcoming = next;
  if (open !== undefined) await goOnWith(flow, open, paused);
  tellOf(flow, 'subscription.resumed', commandId);
  return undefined;
}

/** Resumes a pause whose time is over, as a command without more would have then. */
export async function resumeInTime(flow: Billing, until: number): Promise<void> {
  await resume(flow, `until ${until}`, {}, until);
}

type Paused = NonNullable<Billing['paused']>;

/** Extends the open bill by the time of the pause: it is not given up because nobody could act. */
async function goOnWith(flow: Billing, open: OpenPeriod, { since, countedUntil }: Paused): Promise<void> {
  const now = Date.now();
  open.endsAt = Math.max(open.endsAt, nextDueAfter(flow, now) ?? open.endsAt + now - since);
  // A payment under way may have been declined only during the pause. While one is under way, its end counts the time.
  const from = flow.attempting ? now : (countedUntil ?? Math.max(since, open.state.firstDeclinedAt ?? 0));
  // The pause counts as such, and not once more as time in doubt.
  if (open.doubtSince !== undefined) open.doubtSince += Math.max(0, now - Math.max(from, open.doubtSince));
  const { state, step } = await resumed(flow, open, now - from);
  open.state = state;
  open.step = step;
}

async function changeCard(
  flow: Billing,
  commandId: string,
  { token, consentTransactionId }: ChangeCard,
  isAgain: boolean,
): Promise<Refusal | undefined> {
  const { businessUnit, customerId } = flow.input;
  // Carried from code that did not keep the list, only the hold tells of the present card.
  const isDead = flow.open?.state.hold === 'card' || flow.left?.hold === 'card';
  const isKnownDead = flow.hardDeclined?.includes(token.toLowerCase()) === true;
  if (isKnownDead || (isDead && !isOtherCard(token, flow.card.token))) {
    return { refusal: 'its issuer has declined this very card for good; give another one' };
  }
  let last4Digits: string | undefined;
  try {
    ({ last4Digits } = decodedOrRetry(await read.getPaymentMethod({ businessUnit, customerId, token })));
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const refusal = notOnFile(error);
    // Given again by a reset nobody gives it once more, and the next bill would charge the card that it has replaced.
    const isUnknown = refusal.type === FAILURE_TYPES.providerUnavailable;
    return isUnknown && isAgain ? pauseForCard(flow, commandId, error) : refusal;
  }
  flow.card = {
    token,
    ...(consentTransactionId !== undefined && { consentTransactionId }),
    ...(last4Digits !== undefined && { last4Digits }),
  };
  noteCardChange(flow);
  const { open } = flow;
  if (open !== undefined) open.cardBy = commandId;
  const wasTried = open?.step.do === 'attempt';
  useNewCard(flow);
  if (isAgain && !wasTried && open?.step.do === 'attempt') await doubtNewTry(flow, open);
  return undefined;
}

function notOnFile({ cause }: ActivityFailure): Refusal {
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  const why = cause?.message ?? 'no answer';
  if (type === FAILURE_TYPES.notFound || type === FAILURE_TYPES.invalidInput) {
    return { refusal: `token: the customer has no such card on file: ${why}`, type: FAILURE_TYPES.invalidInput };
  }
  return {
    refusal: `the service could not be asked for the card (${why}); nothing was changed, send the command again`,
    type: FAILURE_TYPES.providerUnavailable,
  };
}

async function cancel(
  flow: Billing,
  { request, at, again }: SubscriptionCommand & { name: 'cancel' },
): Promise<Ends | Refusal | undefined> {
  if (request.when === 'undo') {
    if (flow.cancelAtPeriodEnd !== true) return { refusal: 'no cancel at the end of a period stands' };
    delete flow.cancelAtPeriodEnd;
    delete flow.cancelFrom;
    delete flow.cancelIsLate;
    return undefined;
  }
  if (request.when === 'now') return { cancelled: request.why ?? 'by command' };
  if (flow.cancelFrom === undefined && at !== undefined) {
    // As of when it was accepted: what has come due since is not billed either.
    const { next, after } = await planned(flow, at);
    // Given again by a reset, nobody knows in which period it was given: it ends before anything else is billed.
    const first = earlyUnpaid(flow, at) ?? next ?? after;
    const isKnown = again !== true && first !== undefined;
    if (isKnown && first.dueAt > at) flow.cancelFrom = first;
    if (isKnown && first.dueAt <= at) flow.cancelIsLate = true;
  }
  flow.cancelAtPeriodEnd = true;
  return undefined;
}
