import { condition, patched, workflowInfo } from '@temporalio/workflow';
import { DAY_MS, HOUR_MS } from '../../src/contract/time-units.js';
import type { DunningStep } from '../../src/contract/billing-activities.js';
import { PATCHES } from '../../src/contract/names.js';
import type { OnGivenUp } from '../../src/contract/subscription.js';
import { dunningPolicyOf, givenUpWait, heldFor } from '../../src/domain/dunning.js';
import { showMoney } from '../../src/domain/money.js';
import { isAfterCancel, isLeftUnbilled, notAfterCancel } from './after-cancel.js';
import { attemptToBill } from './attempt-to-bill.js';
import { daysOf, noteUnbilled, triedOf } from './bills.js';
import { isOverdue } from './calendar.js';
import {
  classifyAttempt,
  endDoubt,
  endOf,
  hadEnded,
  isJoined,
  isOtherCard,
  isUntried,
  keepFromDeadCard,
  keepToLimit,
  keepUntilDue,
  noteDecline,
} from './classify-attempt.js';
import { isRunUnknown, pauseForBill } from './given-again.js';
import { doubtNewTry, isStarted, underWay } from './is-started.js';
import { looksForDisputes } from './lost-disputes.js';
import { movesFor } from './move-on.js';
import { doubtOf, show } from './show.js';
import type { Billing, OpenPeriod } from './state.js';
import { askForCard, tellOf } from './tell.js';

type Wait = Extract<DunningStep, { do: 'wait' }>;

/**
 * One step with the open bill: an attempt, a wait for the next one, or its end. Returns how the subscription ends if
 * that step ends it.
 */
export async function collectBill(flow: Billing, open: OpenPeriod): Promise<{ givenUp: string } | undefined> {
  const { step, amountAwaited } = open;
  if (amountAwaited !== undefined && step.do !== 'giveUp') {
    await untilAmount(flow, open, amountAwaited);
    return undefined;
  }
  switch (step.do) {
    case 'attempt':
      if (isAfterCancel(flow, open, Date.now()) || cameTooLate(flow, open)) {
        open.step = { do: 'giveUp', effect: 'continue' };
        return undefined;
      }
      if (flow.afterReset === true && (await looksForDisputes(flow))) return undefined;
      keepToLimit(flow, open);
      keepFromDeadCard(flow, open);
      // A payment that was started before a reset is followed: a limit puts off only what nobody has sent.
      if (open.step.do !== 'attempt' && flow.afterReset === true && (await isStarted(flow)))
        open.step = { do: 'attempt' };
      // The run that continues this one makes the payment, under the same reference.
      if (open.step.do === 'attempt' && movesFor(flow, open)) return undefined;
      if (open.step.do === 'attempt') await attemptOrDoubt(flow, open);
      else if (open.step.do === 'wait') askForCard(flow, open, open.step, flow.card.token);
      return undefined;
    case 'retry': {
      const dueAt = notAfterCancel(flow, open, step.at);
      const untried = isLeftUnbilled(flow, open, step.at) && patched(PATCHES.awaitsNoTry);
      show(flow, {
        status: 'pastDue',
        waitingFor: untried ? 'command' : step.after === 'brake' ? 'brake' : 'retry',
        dueAt,
        needsOperator: doubtOf(flow),
      });
      if (await commandBefore(flow, dueAt, 'Until the next try of the bill')) return undefined;
      open.state = heldFor(open.state, lateness(step.at));
      open.step = isOverdue(flow, open, Date.now()) ? { do: 'giveUp', effect: 'continue' } : { do: 'attempt' };
      return undefined;
    }
    case 'wait': {
      const giveUpAt = notAfterCancel(flow, open, step.giveUpAt);
      const waitingFor = step.for === 'card' ? ('card' as const) : ('operator' as const);
      show(flow, { status: 'pastDue', waitingFor, dueAt: giveUpAt, needsOperator: doubtOf(flow) });
      if (await commandBefore(flow, giveUpAt, 'Until the bill is given up')) return undefined;
      // A wait that ends sooner than was said is no refusal to pay.
      const wait = giveUpAt < step.giveUpAt ? { ...step, cutShort: true as const } : step;
      open.step = lateness(giveUpAt) > 0 ? afterOutage(flow, open, wait) : endOfWait(flow, open, wait);
      return undefined;
    }
    case 'block':
      show(flow, { status: 'pastDue', waitingFor: 'operator', needsOperator: doubtOf(flow) });
      await commandBefore(flow, undefined, 'Until it is known');
      return undefined;
    case 'giveUp': {
      // After a reset the next payment, or one before, may be under way or have taken the money: it goes first.
      const first = await underWay(flow);
      if (first !== undefined) await attemptOrDoubt(flow, open, first.number);
      // What came meanwhile, another card or a person's word, goes first as well.
      else if (flow.queue.length === 0 && !flow.isCancelled() && !keepUntilDue(flow, open))
        return giveUp(flow, open, step.effect);
      return undefined;
    }
    case 'nothing':
      closeBill(flow, open);
      return undefined;
  }
}

/** No worker of the build that it has moved to ran before the next period: two payments would leave side by side. */
function cameTooLate(flow: Billing, open: OpenPeriod): boolean {
  // What a person asks for is tried all the same.
  return open.moved === true && flow.billing === undefined && isOverdue(flow, open, Date.now());
}

/** However long it takes: no amount is guessed, and no period dropped because nobody has said what it costs. */
async function untilAmount(flow: Billing, { period }: OpenPeriod, since: number): Promise<void> {
  const askAt = since + DAY_MS;
  const isLate = Date.now() >= askAt;
  const needsOperator = isLate ? `period ${period} is due and has no amount; give it by setAmount` : undefined;
  show(flow, { status: 'pastDue', waitingFor: 'amount', dueAt: isLate ? null : askAt, needsOperator });
  await commandBefore(flow, isLate ? undefined : askAt, 'Until its amount is given');
}

/** ms by which the step is late because no worker was running; up to an hour counts as 0. */
function lateness(dueAt: number, now = Date.now()): number {
  const late = now - dueAt;
  return late > HOUR_MS ? late : 0;
}

/** Nobody could act while no worker ran: the wait gets one day more, or ends now if the next bill comes first. */
function afterOutage(flow: Billing, open: OpenPeriod, step: Wait): DunningStep {
  const giveUpAt = Date.now() + DAY_MS;
  return isOverdue(flow, open, giveUpAt) ? endOfWait(flow, open, { ...step, cutShort: true }) : { ...step, giveUpAt };
}

function endOfWait(flow: Billing, { state }: OpenPeriod, { cutShort }: Wait): DunningStep {
  const policy = dunningPolicyOf(flow.input.dunning, flow.plan.interval);
  return { do: 'giveUp', effect: givenUpWait(state, policy, cutShort === true) };
}

/** A bill that goes on after it is not tried anew before a person has looked, where the run before may have given it up. */
async function attemptOrDoubt(flow: Billing, open: OpenPeriod, again?: number): Promise<void> {
  if (await attempt(flow, open, again)) await doubtNewTry(flow, open);
}

/**
 * The next payment of the bill, or the one that an earlier run has started in its place. True if it had ended before a
 * reset on another card than the present one, or Temporal has forgotten some before it: a further try is in doubt
 * ({@link doubtNewTry}), if the bill gets one.
 * @param again number of an earlier one that was seen to be followed again: no other is made, though it may have ended since
 */
export async function attempt(flow: Billing, open: OpenPeriod, again?: number): Promise<boolean> {
  const { token: present } = flow.card;
  endDoubt(flow, open);
  open.attempts += 1;
  delete open.moved;
  flow.attempting = true;
  show(flow, { status: 'billing', waitingFor: 'settlement' });
  const since = Date.now();
  const attempted = await attemptToBill(flow, open, again);
  flow.attempting = false;
  // Another card than the present one, where a run before a reset has started the payment.
  const token = ('token' in attempted ? attempted.token : undefined) ?? present;
  // A payment in doubt beside a try that a brake has stopped may be of another card.
  if (!isUntried(attempted)) open.triedWith = token;
  // What was joined shows how late it was made, by a pause or an outage before the reset.
  const late = open.joinedFor === undefined ? lateness(since) : lateness(open.joinedFor, endOf(attempted));
  open.state = heldFor(open.state, late);
  delete open.joinedFor;
  noteDecline(flow, token, attempted);
  // The pause is counted already up to now.
  if (flow.paused !== undefined) flow.paused.countedUntil = Date.now();
  if (isJoined(attempted)) open.joined = true;
  else {
    delete open.joined;
    delete open.forgotten;
  }
  const isOther = isOtherCard(flow.card.token, token);
  await classifyAttempt(flow, open, attempted, isOther);
  // The next one may have been started too, with a card that was changed meanwhile: nothing waits for what is known.
  const { step } = open;
  const waits = step.do === 'retry' || step.do === 'wait';
  if (isJoined(attempted) && waits && (await isStarted(flow))) {
    if (step.do === 'retry') open.joinedFor = step.at;
    open.step = { do: 'attempt' };
    return false;
  }
  return open.forgotten === true || (isOther && flow.afterReset === true && hadEnded(attempted, flow.resetAt ?? since));
}

export function closeBill(flow: Billing, open: OpenPeriod): void {
  flow.left = open.state;
  delete flow.open;
  flow.closedOne = true;
}

export function giveUp(flow: Billing, open: OpenPeriod, effect: OnGivenUp): { givenUp: string } | undefined {
  const { period } = open;
  noteUnpaid(flow, open, effect);
  closeBill(flow, open);
  if (effect === 'cancel')
    return { givenUp: `period ${period}, ${showMoney(open.amount, flow.input.currency)}, stayed unpaid` };
  // A pause that stands already keeps the instant at which it ends by itself.
  if (effect === 'pause' && flow.paused === undefined) {
    if (open.joined === true && flow.afterReset === true) pauseForBill(flow, period);
    else {
      flow.paused = { since: Date.now() };
      tellOf(flow, 'subscription.paused', `period ${period}`, { period });
    }
  }
  return undefined;
}

/** Nothing more is tried for the bill, which the merchant is told. */
export function noteUnpaid(flow: Billing, open: OpenPeriod, effect: OnGivenUp): void {
  const { period, amountAwaited } = open;
  const amount = amountAwaited === undefined ? { amount: open.amount } : {};
  flow.counts.unpaid += 1;
  noteUnbilled(flow, { period, ...daysOf(flow, open), status: 'unpaid', ...amount, ...triedOf(flow, open) });
  tellOf(flow, 'subscription.unpaid', String(period), { period, ...amount, currency: flow.input.currency, effect });
}

/**
 * Waits until `at` (epoch ms; undefined: no limit) for a command, a cancel, a `moveOn`, or the engine's suggestion to
 * continue as new. True if one came. Questions count towards the suggestion: a run with too many updates takes no command.
 */
export async function commandBefore(flow: Billing, at: number | undefined, summary: string): Promise<boolean> {
  const next = (): boolean =>
    flow.queue.length > 0 ||
    isRunUnknown(flow) ||
    flow.movesOn ||
    flow.isCancelled() ||
    workflowInfo().continueAsNewSuggested;
  const ms = at === undefined ? undefined : at - Date.now();
  if (ms !== undefined && ms <= 0) return next();
  flow.canContinue = true;
  try {
    if (ms !== undefined) return await condition(next, ms, { summary });
    await condition(next);
    return true;
  } finally {
    flow.canContinue = false;
  }
}
