import type {
  ChangedPlan,
  ChangePlanCall,
  JudgeAttemptCall,
  Judged,
  PlanBillingCall,
  PlannedBilling,
  ResumeBillCall,
} from '../../src/contract/billing-activities.js';
import { paidUntil, periodEndsAt, periodOf, planFrom, withInterval } from '../../src/domain/billing-calendar.js';
import { afterAttempt, afterPause, type DunningContext, openPeriod } from '../../src/domain/dunning.js';
import { dunningPolicyOf } from '../../src/domain/dunning-policy.js';
import { fractionOf } from '../../src/domain/jitter.js';
import { periodsDue, periodsDueAfter } from '../../src/domain/missed-periods.js';

const DAY_MS = 86_400_000;

/** Returns the bill that is due now with its first state, the missed periods and the next period. */
export function planBilling(call: PlanBillingCall): PlannedBilling {
  const { plan, from, now, policy, resumed, dunning, previous, lastPaid } = call;
  const { bill, missed, next } =
    resumed === undefined ? periodsDue(plan, from, now, policy) : periodsDueAfter(resumed, plan, from, now, policy);
  const rest = { ...(missed !== undefined && { missed }), ...(next !== undefined && { next }) };
  const first = bill === undefined ? undefined : periodOf(plan, bill.first);
  if (bill === undefined || first === undefined) {
    const over = next === undefined && lastPaid !== undefined ? paidUntil(plan, lastPaid) : undefined;
    return { ...rest, ...(over !== undefined && { endsAt: over }) };
  }
  // Each late bill ends when the next regular period is due; without one it gets at least a day, time for one retry.
  const endsAt = next?.dueAt ?? Math.max(periodEndsAt(plan, bill.last), now + DAY_MS);
  const context = contextOf({ plan, dunning, endsAt, now });
  return { bill: { period: bill.first, date: first.date, endsAt, ...openPeriod(previous, context) }, ...rest };
}

export function judgeAttempt({ plan, dunning, endsAt, state, result, now }: JudgeAttemptCall): Judged {
  return afterAttempt(state, result, contextOf({ plan, dunning, endsAt, now }));
}

export function resumeBill({ plan, dunning, endsAt, state, step, pausedMs, now }: ResumeBillCall): Judged {
  return afterPause({ state, step }, pausedMs, contextOf({ plan, dunning, endsAt, now }));
}

/** Applies a change from the first period that is not due yet: due periods keep their day and hour. */
export function changePlan({ plan: given, from, now, interval, billAt }: ChangePlanCall): ChangedPlan {
  const present = planFrom(given, from);
  const { next } = periodsDue(present, from, now, 'billAll');
  if (next === undefined) return { plan: present };
  const { before: _, ...alone } = present;
  const changed = {
    ...(interval === undefined ? alone : withInterval(alone, next.period, interval)),
    ...(billAt !== undefined && { billAt }),
  };
  const plan = next.period === from ? changed : { ...changed, before: { period: next.period, plan: present } };
  const first = periodOf(plan, next.period);
  return { plan, ...(first !== undefined && { first }) };
}

function contextOf(of: Pick<JudgeAttemptCall, 'plan' | 'dunning' | 'endsAt' | 'now'>): DunningContext {
  const { plan, dunning, endsAt, now } = of;
  return {
    now,
    timeZone: plan.timeZone,
    jitterMs: plan.jitterMs,
    fraction: fractionOf(plan.reference),
    periodEndsAt: endsAt,
    policy: dunningPolicyOf(dunning, plan.interval),
  };
}
