import type { Period } from '../contract/billing-activities.js';
import type { BillingSchedule, FutureBill, PreviewRequest } from '../contract/subscription-bills.js';
import { amountFaults, amountOf, changedAmounts, MOST_AHEAD, skipFault, withSkip } from './bill-amounts.js';
import { periodOf, periodsDue } from './billing-calendar.js';
import { changePlan } from './changed-plan.js';

/** The next `count` bills from the first period on that is not due yet at `now` (epoch ms). */
export function billsToCome(schedule: BillingSchedule, count: number, now: number): FutureBill[] {
  const { plan, next, skipped, cancelAtPeriodEnd, ended } = schedule;
  const isOver = cancelAtPeriodEnd === true || ended === true;
  const first = isOver ? undefined : periodsDue(plan, next, now, 'billAll').next;
  const bills: FutureBill[] = [];
  for (let period = first; period !== undefined && bills.length < count; period = periodOf(plan, period.period + 1)) {
    const amount = amountOf(schedule, period.period);
    bills.push({
      period: period.period,
      date: period.date,
      dueAt: new Date(period.dueAt).toISOString(),
      ...(amount !== undefined && { amount }),
      ...(skipped?.includes(period.period) === true && { skipped: true as const }),
    });
  }
  return bills;
}

/** The schedule after commands at `now` (epoch ms), or why the first of them that can't be done would be refused. */
export function scheduleAfter(
  given: BillingSchedule,
  { changePlan: plan, skipPeriod: skip }: NonNullable<PreviewRequest['change']>,
  now: number,
): BillingSchedule | { refusal: string; isInput: boolean } {
  if (given.ended === true) return { refusal: 'it has ended', isInput: false };
  let schedule = given;
  if (plan !== undefined) {
    if (schedule.cancelAtPeriodEnd === true)
      return { refusal: 'it is cancelled at the end of the present period', isInput: false };
    const { interval, billAt } = plan;
    const changed = changePlan({ plan: schedule.plan, from: schedule.next, now, interval, billAt });
    const { first } = changed;
    if (first === undefined)
      return { refusal: 'no period is left to change: the plan ends before the next one', isInput: false };
    const faults = amountFaults(schedule, plan, first);
    if (faults.length > 0) return { refusal: faults.join('; '), isInput: true };
    schedule = { ...schedule, plan: changed.plan, amounts: changedAmounts(schedule, plan, first) };
  }
  if (skip !== undefined) {
    const refusal = skipFault(schedule, skip, periodAhead(schedule, skip.period), now);
    if (refusal !== undefined) return { refusal, isInput: false };
    schedule = { ...schedule, skipped: withSkip(schedule.skipped, skip) };
  }
  return schedule;
}

/** Only of a period that {@link skipFault} does not refuse before it looks at the calendar. */
function periodAhead({ plan, next }: BillingSchedule, period: number): Period | undefined {
  return period < next || period > next + MOST_AHEAD ? undefined : periodOf(plan, period);
}
