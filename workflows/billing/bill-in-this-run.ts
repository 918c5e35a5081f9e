import { allHandlersFinished, condition, patched, workflowInfo } from '@temporalio/workflow';
import { HOUR_MS, MINUTE_MS } from '../../src/contract/time-units.js';
import type { Period, PlannedBilling } from '../../src/contract/billing-activities.js';
import { PATCHES } from '../../src/contract/names.js';
import type { SubscriptionEnded } from '../../src/contract/subscription-commands.js';
import { isHandedOver } from '../kit/outbox.js';
import { decidesAfterReset } from '../kit/start-guard.js';
import { isAnyDue, isPlanOver, lastDueOf, openAhead, planned } from './calendar.js';
import { attempt, closeBill, collectBill, commandBefore, giveUp, noteUnpaid } from './collect-bill.js';
import { answer, executeCommands, resumeInTime } from './execute-command.js';
import { doubtNewTry, isBilledBeforeReset, underWay } from './is-started.js';
import { canMoveOn } from './move-on.js';
import { giveNotice, noticeAt } from './notices.js';
import { closeMissed, makesPayment, openBill } from './open-bill.js';
import { doubtOf, show, presentAnswer, endedOutcome } from './show.js';
import type { Billing } from './state.js';
import { tellOf } from './tell.js';

/** How one run ends: the subscription continues as new, or has ended. */
type RunEnd = 'continues' | BillingEnd;
type BillingEnd = Pick<SubscriptionEnded, 'status' | 'reason'>;
const AT_PERIOD_END: BillingEnd = { status: 'cancelled', reason: 'at the end of the period' };
const COMPLETED: BillingEnd = { status: 'completed', reason: 'all periods of the plan are over' };
const COMMANDS_PER_RUN = 50;

/** Bills one period after the other as its calendar says, and executes commands: each wait is for one, a bill or a try. */
export async function billInThisRun(flow: Billing): Promise<RunEnd> {
  for (;;) {
    await executeCommands(flow);
    const stop = flow.pendingEnd?.cancelled ?? (flow.isCancelled() ? 'the flow was cancelled' : undefined);
    if (stop !== undefined) return await ending(flow, { status: 'cancelled', reason: stop }, 0);

    const { open } = flow;
    if (isRunFull(flow) || canMoveOn(flow)) {
      if (flow.queue.length === 0 && allHandlersFinished()) return 'continues';
      await condition(() => flow.queue.length > 0 || allHandlersFinished() || flow.isCancelled());
    } else if (!isSettled(flow) && flow.paused !== undefined) {
      const end = await whilePaused(flow);
      if (end !== undefined) return await ending(flow, end);
    } else if (open !== undefined) {
      const given = await collectBill(flow, open);
      answerBilling(flow);
      if (given !== undefined) return await ending(flow, { status: 'givenUp', reason: given.givenUp }, HOUR_MS);
    } else {
      const end = await untilNextBill(flow);
      if (end !== undefined) return await ending(flow, end);
    }
  }
}

/** A run bills one period, and takes no more commands than its history can hold. */
function isRunFull(flow: Billing): boolean {
  const { closedOne, worked, billing } = flow;
  return (closedOne || worked >= COMMANDS_PER_RUN || workflowInfo().continueAsNewSuggested) && billing === undefined;
}

/** True if nothing more is tried for the open bill: it is closed, paused or not. */
function isSettled({ open, paused }: Billing): boolean {
  if (open === undefined) return false;
  const { step } = open;
  if ((paused?.drop === true || open.drop === true) && step.do !== 'block' && step.do !== 'nothing') {
    open.step = { do: 'giveUp', effect: 'continue' };
  }
  return open.step.do === 'giveUp' || open.step.do === 'nothing';
}

/**
 * The subscription does not end while a payment that it doesn't know of is under way.
 * @param dueFor ms after which what is due is missed: a bill is given up when the next period is due, and ends it before that
 */
async function ending(flow: Billing, { status, reason }: BillingEnd, dueFor?: number): Promise<RunEnd> {
  takeNoMore(flow, reason);
  await followUnknown(flow);
  // Behind a period that was skipped or missed there may be a payment that this run does not know of either.
  const isAfterReset = decidesAfterReset() || (flow.afterReset === true && patched(PATCHES.afterReset));
  const last = isAfterReset ? lastDueOf(await planned(flow)) : 0;
  if (isAfterReset) await followBilled(flow, last);
  const { open } = flow;
  if (open !== undefined && open.step.do !== 'block' && open.step.do !== 'nothing') noteUnpaid(flow, open, 'continue');
  if (dueFor !== undefined && mayBeDue(flow, dueFor) && patched(PATCHES.closesDue))
    closeDue(flow, lastDueOf(await planned(flow, Date.now() - dueFor)));
  if (open?.step.do !== 'block') return { status, reason };
  // The run before the reset may have billed them.
  const unread = `; nobody has looked what became of its periods from ${flow.next} to ${last}`;
  return { status, reason: `${reason}; ${open.doubt}${last < flow.next ? '' : unread}` };
}

/** Whether a period may be due that is not open; asked before the calendar is, which costs most ends nothing. */
function mayBeDue({ opened, upcoming, next }: Billing, dueFor: number): boolean {
  return opened && (upcoming?.period !== next || upcoming.dueAt <= Date.now() - dueFor);
}

/** What came due in a pause or an outage up to the period `last`, and waits to be opened, is missed. */
function closeDue(flow: Billing, last: number): void {
  // The run before a reset may have billed them behind a payment of which nobody knows what it did.
  const isUnread = flow.afterReset === true && flow.open?.step.do === 'block';
  if (last >= flow.next && !isUnread) closeMissed(flow, { first: flow.next, last });
}

/** Waits for a command, or for the end of the period if the subscription ends with it. */
async function whilePaused(flow: Billing): Promise<BillingEnd | undefined> {
  answerBilling(flow);
  const until = flow.paused?.until;
  if (until !== undefined && Date.now() >= until) {
    await resumeInTime(flow, until);
    return undefined;
  }
  show(flow, { status: 'paused', waitingFor: 'command', dueAt: until ?? null, needsOperator: doubtOf(flow) });
  const ends = flow.cancelAtPeriodEnd === true && flow.open?.step.do !== 'block';
  const due = ends ? await planned(flow) : undefined;
  // Its plan was over when the cancel came, and a pause lets nothing that is due be billed.
  if (flow.cancelIsLate === true && due?.after !== undefined) flow.cancelFrom ??= due.after;
  if (due !== undefined) await findEnd(flow, due);
  if (due !== undefined && isPeriodOver(flow, due)) return await atPeriodEnd(flow);
  const over = due === undefined ? undefined : ((flow.cancelFrom ?? due.next)?.dueAt ?? due.endsAt);
  const isPauseFirst = until !== undefined && until < (over ?? Number.POSITIVE_INFINITY);
  await commandBefore(
    flow,
    isPauseFirst ? until : over,
    isPauseFirst ? 'Until the pause is over' : 'Until the period is over',
  );
  return undefined;
}

/**
 * In which period a cancel came that a reset gives again is not known. If the run before has billed the last period that
 * is due, it came in that one, which lasts until its end.
 */
async function findEnd(flow: Billing, due: PlannedBilling): Promise<void> {
  if (flow.afterReset !== true || flow.cancelFrom !== undefined || !isAnyDue(due)) return;
  const end = due.next ?? due.after;
  if (end !== undefined && (await isBilledBeforeReset(flow, lastDueOf(due)))) flow.cancelFrom = end;
}

/** Whether the period is over in which the cancel came. */
function isPeriodOver({ cancelFrom, cancelIsLate, open }: Billing, due: PlannedBilling): boolean {
  // That period is not known: after a reset, or carried from code that did not note it.
  if (cancelFrom === undefined) return isPlanOver(due) || (cancelIsLate !== true && isAnyDue(due));
  // By other rules of its time zone the first period that is left unbilled may be due earlier.
  if (Date.now() >= cancelFrom.dueAt || (due.bill?.period ?? 0) >= cancelFrom.period) return true;
  return open === undefined && isPlanOver(due);
}

/** Nothing is billed after the end that was promised: what was due before it, and waited too long, is missed. */
async function atPeriodEnd(flow: Billing): Promise<BillingEnd> {
  const last = (flow.cancelFrom?.period ?? 0) - 1;
  if (flow.afterReset === true) await followBilled(flow, last);
  closeDue(flow, last);
  return AT_PERIOD_END;
}

/**
 * What the run before a reset has billed up to the period `last` is followed to its end, and is not missed. A payment of
 * which nobody knows what it did ends this.
 */
async function followBilled(flow: Billing, last: number): Promise<void> {
  for (let period = flow.next; period <= last; period = Math.max(period + 1, flow.next)) {
    if (!(await isBilledBeforeReset(flow, period))) continue;
    takeNoMore(flow, AT_PERIOD_END.reason);
    if (flow.open !== undefined) await followUnknown(flow);
    closeUnpaid(flow);
    if (flow.open !== undefined) return;
    if (period > flow.next) closeMissed(flow, { first: flow.next, last: period - 1 });
    await followUnknown(flow);
  }
}

/**
 * Follows the next period up to `last` that the run before a reset has billed; false if there is none. What is not paid
 * by then came due too long ago: a further try would charge what that run had given up. Only the last one that is due
 * may have tries left.
 * @param isLast nothing is due behind `last`
 */
async function followOneBilled(flow: Billing, last: number, isLast: boolean): Promise<boolean> {
  for (let period = flow.next; period <= last; period += 1) {
    if (!(await isBilledBeforeReset(flow, period))) continue;
    if (period > flow.next) closeMissed(flow, { first: flow.next, last: period - 1 });
    const isInDoubt = await followUnknown(flow, period);
    const { open, resumeWith } = flow;
    const hasTime = open !== undefined && isLast && period === last && Date.now() < open.endsAt;
    // A person who has said `skip` wants no further try.
    if (!hasTime || resumeWith !== undefined) closeUnpaid(flow);
    else if (isInDoubt) await doubtNewTry(flow, open);
    return true;
  }
  return false;
}

/** Commands that come while payments are followed are too late to change how it ends. */
function takeNoMore(flow: Billing, reason: string): void {
  flow.pendingEnd ??= { commands: [], cancelled: reason };
}

/** The last of its tries was made, as far as it is known what that has done. */
function closeUnpaid(flow: Billing): void {
  const { open } = flow;
  if (open?.step.do === 'nothing') closeBill(flow, open);
  else if (open !== undefined && open.step.do !== 'block') giveUp(flow, open, 'continue');
}

/** `billNow` is answered with how its attempt ended. */
function answerBilling(flow: Billing): void {
  const { billing, open } = flow;
  // Another card came meanwhile and is tried as well, unless a pause came too.
  if (billing === undefined || (open?.step.do === 'attempt' && flow.paused === undefined)) return;
  flow.billing = undefined;
  answer(flow, billing, { ...presentAnswer(flow), ...(open?.last !== undefined && { result: open.last }) });
}

/** Waits for the next bill and opens it. Returns the end if there is none. */
async function untilNextBill(flow: Billing): Promise<BillingEnd | undefined> {
  const due = await planned(flow);
  if (flow.cancelAtPeriodEnd === true) {
    await findEnd(flow, due);
    if (isPeriodOver(flow, due)) return await atPeriodEnd(flow);
  }
  if (due.missed !== undefined) {
    if (flow.afterReset === true && (await followOneBilled(flow, due.missed.last, due.bill === undefined)))
      return undefined;
    closeMissed(flow, due.missed);
  }
  if (due.bill !== undefined) {
    await openBill(flow, due.bill, due.next);
    // It was for the pause that is over; the input decides about periods missed in a later outage.
    if (flow.resumeWith !== 'billAll') delete flow.resumeWith;
    return undefined;
  }
  delete flow.resumeWith;
  delete flow.billAllUntil;
  flow.upcoming = due.next;
  flow.endsAt = due.endsAt;
  if (isPlanOver(due) || (due.next === undefined && due.missed !== undefined)) return COMPLETED;
  const dueAt = due.next?.dueAt ?? flow.cancelFrom?.dueAt ?? due.endsAt;
  show(flow, { status: 'active', waitingFor: 'period', dueAt: dueAt ?? null });
  if (await untilNotice(flow, due.next)) return undefined;
  const what = due.next === undefined ? 'the last period is over' : `period ${due.next.period} is due`;
  const isWoken = await commandBefore(flow, dueAt, `Until ${what}`);
  // A command that came with the timer goes first, and may change the bill.
  const isAsPlanned = !isWoken && flow.queue.length === 0 && !flow.isCancelled() && flow.cancelAtPeriodEnd !== true;
  const { ahead } = due;
  // What makes no payment is opened by an answer of this run: it says whether a reset has made the run.
  if (isAsPlanned && ahead !== undefined && isInTime(due.next) && makesPayment(flow, ahead.bill.period))
    await openBill(flow, ahead.bill, ahead.next);
  return undefined;
}

/** Gives the notice of the next bill. True if it has waited for its time: then the calendar is asked again. */
async function untilNotice(flow: Billing, next: Period | undefined): Promise<boolean> {
  const at = noticeAt(flow, next);
  if (at === undefined || next === undefined) return false;
  const isEarly = Date.now() < at;
  if (isEarly) await commandBefore(flow, at, `Until the notice of period ${next.period}`);
  else giveNotice(flow, next);
  return isEarly;
}

/** Later than that the calendar is asked again: other periods may be due. */
function isInTime(period: Period | undefined): boolean {
  return period !== undefined && Date.now() >= period.dueAt && Date.now() < period.dueAt + MINUTE_MS;
}

/**
 * Follows payments that the subscription doesn't know of to their end. After a reset there may be some: what the
 * earlier run started continues, and a redelivered command may end this run before it reaches the same payment.
 * @param last the last period to be opened
 * @returns whether a further try of what stays open is in doubt
 */
async function followUnknown(flow: Billing, last = Number.POSITIVE_INFINITY): Promise<boolean> {
  let isInDoubt = false;
  while (flow.open !== undefined || flow.next <= last) {
    const first = await underWay(flow);
    const open = first && (flow.open ?? (await openAhead(flow)));
    if (open === undefined) break;
    isInDoubt = await attempt(flow, open, first?.number);
    if (open.step.do === 'nothing') closeBill(flow, open);
  }
  return isInDoubt;
}

/** Ends the subscription: merchant and callers are told before the run closes. */
export async function endSubscription(flow: Billing, { status, reason }: BillingEnd): Promise<SubscriptionEnded> {
  tellOf(flow, 'subscription.ended', '', { status, reason });
  flow.ended = endedOutcome(flow, status, reason);
  show(flow, { status, waitingFor: 'nothing' });
  answerAll(flow, flow.ended);
  await condition(() => allHandlersFinished() && isHandedOver(flow));
  return flow.ended;
}

/** Answers `cancel` and an open `billNow` with the end. Queued commands are refused: the end is not their result. */
function answerAll(flow: Billing, ended: NonNullable<Billing['ended']>): void {
  for (const command of flow.pendingEnd?.commands ?? []) answer(flow, command, ended);
  if (flow.billing !== undefined) answer(flow, flow.billing, ended);
  for (const command of flow.queue.splice(0)) {
    command.answer = { refusal: `the subscription ended before this was begun: ${ended.status}` };
  }
}
