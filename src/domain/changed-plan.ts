import type { ChangedPlan, ChangePlanCall } from '../contract/billing-activities.js';
import { periodOf, periodsDue, planFrom, withInterval } from './billing-calendar.js';

/** Applies a change from the first period that is not due yet: due periods keep their day and hour. */
export function changePlan({ plan: given, from, now, interval, billAt, isInDoubt }: ChangePlanCall): ChangedPlan {
  const present = planFrom(given, from);
  const { next } = periodsDue(present, from, now, 'billAll');
  if (next === undefined) {
    const due = isInDoubt === true ? periodOf(present, from) : undefined;
    return { plan: present, ...(due !== undefined && { due }) };
  }
  const { before: _, ...alone } = present;
  const changed = {
    ...(interval === undefined ? alone : withInterval(alone, next.period, interval)),
    ...(billAt !== undefined && { billAt }),
  };
  const plan = next.period === from ? changed : { ...changed, before: { period: next.period, plan: present } };
  const first = periodOf(plan, next.period);
  return { plan, ...(first !== undefined && { first }) };
}
