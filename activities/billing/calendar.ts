import type {
  ChangeIntervalCall,
  JudgeAttemptCall,
  Judged,
  PlanBillingCall,
  PlannedBilling,
  ResumeBillCall,
} from '../../src/domain/billing-calls.js';
import { periodEndsAt, periodOf, withInterval } from '../../src/domain/billing-calendar.js';
import type { BillingPlan } from '../../src/domain/billing-plan.js';
import type { DunningContext } from '../../src/domain/dunning.js';
import { afterAttempt, afterPause, openPeriod } from '../../src/domain/dunning.js';
import { dunningPolicyOf } from '../../src/domain/dunning-policy.js';
import { fractionOf } from '../../src/domain/jitter.js';
import { periodsDue, periodsDueAfter } from '../../src/domain/missed-periods.js';

/** What is due now, and how its first bill begins. */
export function planBilling(call: PlanBillingCall): PlannedBilling {
  const { plan, from, now, policy, resumed, dunning, previous } = call;
  const { bill, missed, next } =
    resumed === undefined ? periodsDue(plan, from, now, policy) : periodsDueAfter(resumed, plan, from, now, policy);
  const rest = { ...(missed !== undefined && { missed }), ...(next !== undefined && { next }) };
  const first = bill === undefined ? undefined : periodOf(plan, bill.first);
  if (bill === undefined || first === undefined) return rest;
  // Of several that are billed late each has until the next regular one.
  const endsAt = next?.dueAt ?? Math.max(periodEndsAt(plan, bill.last), now);
  const context = contextOf({ plan, dunning, endsAt, now });
  return { bill: { period: bill.first, date: first.date, endsAt, ...openPeriod(previous, context) }, ...rest };
}

export function judgeAttempt({ plan, dunning, endsAt, state, result, now }: JudgeAttemptCall): Judged {
  return afterAttempt(state, result, contextOf({ plan, dunning, endsAt, now }));
}

export function resumeBill({ plan, dunning, endsAt, state, step, pausedMs, now }: ResumeBillCall): Judged {
  return afterPause({ state, step }, pausedMs, contextOf({ plan, dunning, endsAt, now }));
}

export function changeInterval({ plan, from, interval }: ChangeIntervalCall): BillingPlan {
  return withInterval(plan, from, interval);
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
