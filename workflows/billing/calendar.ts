import type {
  AttemptResult,
  ChangedPlan,
  DunningDecision,
  PlannedBilling,
} from '../../src/contract/billing-activities.js';
import type { ChangePlan } from '../../src/contract/subscription-commands.js';
import { type MissedPeriods, shortestInterval } from '../../src/contract/subscription.js';
import { MISSED_PERIODS_DEFAULT, collectedUntil } from '../../src/domain/billing-calendar.js';
import { afterSuccess, inDoubt, NOTHING_TRIED } from '../../src/domain/dunning.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { noteWanted } from '../kit/outbox.js';
import { inResetRun } from '../kit/start-guard.js';
import { calendar } from '../policies.js';
import { isAfterCancel } from './after-cancel.js';
import { type Billing, type OpenPeriod, amountOf } from './state.js';

/** Whether what is due may still be changed: nothing of it is billed before a person resumes the subscription. */
export function isInDoubt({ paused }: Billing): boolean {
  return paused?.doubt !== undefined;
}

/** What is due at `now` (epoch ms), and what comes next. */
export async function planned(flow: Billing, now = Date.now()): Promise<PlannedBilling> {
  const { cancelFrom } = flow;
  // What a cancel leaves unbilled is never due, however late it is.
  return await planFrom(flow, flow.next, cancelFrom === undefined ? now : Math.min(now, cancelFrom.dueAt - 1));
}

export function isAnyDue({ bill, missed }: PlannedBilling): boolean {
  return bill !== undefined || missed !== undefined;
}

export function isPlanOver(due: PlannedBilling): boolean {
  return !isAnyDue(due) && due.next === undefined && (due.endsAt ?? 0) <= Date.now();
}

/** The last period that is due; 0 or less before the first. */
export function lastDueOf({ next, after }: PlannedBilling): number {
  return ((next ?? after)?.period ?? 0) - 1;
}

/** When the next period is due (epoch ms), if that is to come: what a cancel leaves unbilled may be due already. */
export function nextDueAfter({ upcoming }: Billing, now: number): number | undefined {
  return upcoming !== undefined && upcoming.dueAt > now ? upcoming.dueAt : undefined;
}

/** Each metered period has an amount of its own, and none is lost because one before it has waited or is past due. */
function missedPolicyOf({ input }: Pick<Billing, 'input'>): MissedPeriods {
  return input.missedPeriods ?? (input.metered === true ? 'billAll' : MISSED_PERIODS_DEFAULT);
}

/** `next`: a period that is neither billed nor open, due or not; undefined after the plan's end. */
export async function periodAhead(flow: Billing, period: number): Promise<Pick<PlannedBilling, 'next' | 'ahead'>> {
  // Before all periods nothing is due, so `next` is the period itself.
  return await planFrom(flow, period, BEFORE_ALL);
}
const BEFORE_ALL = -86_400_000 * 365;

async function planFrom(flow: Billing, from: number, now: number): Promise<PlannedBilling> {
  const { plan, input, left: previous, resumeWith, resumedAt = now, billAllUntil: allUntil } = flow;
  const { dunning } = input;
  const policy = missedPolicyOf(flow);
  const pause = { at: Math.min(resumedAt, now), ...(allUntil !== undefined && { allUntil: Math.min(allUntil, now) }) };
  const resumed = resumeWith === undefined ? {} : { resumed: { ...pause, policy: resumeWith } };
  const lastPaid = lastPaidOf(flow);
  const { businessUnit, skipped } = flow;
  const terms = { plan, policy, dunning, ...(skipped !== undefined && { skipped }) };
  const call = { ...terms, from, now, ...resumed, previous, lastPaid, businessUnit, ...askedBy() };
  const answer = noteReset(flow, await asked(flow, () => calendar.planBilling(call)));
  noteWanted(flow, answer);
  noteCaps(flow, answer);
  return answer;
}

function askedBy(): { afterReset?: true } {
  return inResetRun() ? { afterReset: true } : {};
}

/** An answer that was recorded before the reset does not have it, so that each run decides by it as the one before did. */
function noteReset<Answer extends { afterReset?: true; run?: string }>(flow: Billing, answer: Answer): Answer {
  if (answer.afterReset === true) {
    flow.afterReset = true;
    flow.madeIn = answer.run ?? '';
  }
  return answer;
}

/** Also what was paid elsewhere, or cost nothing, lasts until its end. */
function lastPaidOf({ billed, unbilled, billedThrough }: Billing): number | undefined {
  const free = unbilled?.findLast(({ status }) => status === 'nothing')?.period ?? 0;
  const last = Math.max(billed.at(-1)?.period ?? 0, free, billedThrough);
  return last === 0 ? undefined : last;
}

/** @param now epoch ms: when the attempt ended */
export async function classified(
  flow: Billing,
  { state, endsAt }: OpenPeriod,
  result: AttemptResult,
  now: number,
): Promise<DunningDecision> {
  // The others need days and hours.
  if (result.status === 'succeeded') return afterSuccess(state);
  if (result.status === 'pending' || result.status === 'unknown') return inDoubt(state);
  const { plan, input, businessUnit } = flow;
  const { dunning } = input;
  const call = { plan, dunning, endsAt, state, result, now, businessUnit };
  const answer = await asked(flow, () => calendar.judgeAttempt(call));
  noteCaps(flow, answer);
  return { state: answer.state, step: answer.step };
}

function noteCaps(flow: Billing, { cardCaps }: Pick<PlannedBilling, 'cardCaps'>): void {
  if (cardCaps !== undefined) flow.cardCaps = cardCaps;
}

/** How the open bill continues after a pause. */
export async function resumed(
  flow: Billing,
  { state, step, endsAt }: OpenPeriod,
  pausedMs: number,
): Promise<DunningDecision> {
  const { plan, input } = flow;
  const { dunning } = input;
  const now = Date.now();
  return await asked(flow, () => calendar.resumeBill({ plan, dunning, endsAt, state, step, pausedMs, now }));
}

/** The plan with another interval or hour, from the first period that is not due yet. */
export async function changedPlan(
  flow: Billing,
  { interval, billAt }: ChangePlan,
  now = Date.now(),
): Promise<ChangedPlan> {
  const { plan, next: from } = flow;
  const call = {
    plan,
    from,
    now,
    interval,
    billAt,
    ...askedBy(),
    ...(isInDoubt(flow) && { isInDoubt: true as const }),
  };
  return noteReset(flow, await asked(flow, () => calendar.changePlan(call)));
}

/** Why nothing could be sent to the address. */
export async function notifyFaults(flow: Billing, url: string): Promise<string[]> {
  const { businessUnit } = flow;
  return (await asked(flow, () => calendar.checkNotify({ businessUnit, url }))).faults;
}

/** Handlers don't answer during a local activity: the answer could be lost with the task. */
async function asked<Answer>(flow: Billing, call: () => Promise<Answer>): Promise<Answer> {
  flow.inLocalTry = true;
  try {
    return decodedOrRetry(await call());
  } finally {
    flow.inLocalTry = false;
  }
}

/** Opens the next period, due or not; undefined if the plan ends before it. */
export async function openAhead(flow: Billing): Promise<OpenPeriod | undefined> {
  const { next: period } = flow;
  const { next: ahead, ahead: onTime } = await periodAhead(flow, period);
  if (ahead === undefined) return undefined;
  const now = Date.now();
  const { next: upcoming } = ahead.dueAt < now ? await planned(flow) : (onTime ?? {});
  const intervalDays = shortestInterval(flow.plan.interval) ?? 0;
  flow.open = {
    period,
    date: ahead.date,
    amount: amountOf(flow, period) ?? 0,
    attempts: 0,
    ...(ahead.dueAt > now && { dueAt: ahead.dueAt }),
    endsAt: collectedUntil({ dueAt: ahead.dueAt, nextDueAt: upcoming?.dueAt, intervalDays, now }),
    state: { ...NOTHING_TRIED },
    step: { do: 'attempt' },
  };
  flow.next = period + 1;
  flow.upcoming = upcoming;
  return flow.open;
}

/** An outage lasted until the next period, whose bill follows at once: two bills at a time only with `billAll`. */
export function isOverdue(flow: Billing, open: OpenPeriod, now: number): boolean {
  const isLast = open.amountIsLate === true || missedPolicyOf(flow) !== 'billAll';
  return isAfterCancel(flow, open, now) || (now >= open.endsAt && isLast);
}
