import { DAY_MS } from '../contract/time-units.js';
import { type BilledThrough, shortestInterval } from '../contract/subscription.js';
import { dateOf, type PlanDays } from './billing-calendar.js';

/**
 * How many periods of a new plan were billed before and elsewhere. A day stands for the period that it lies in, so that a
 * period which begins on that very day counts as billed: in doubt one is billed too little, not twice. A subscription
 * decides by it in its first task and again after a reset, so it depends on nothing but the input.
 */
export function periodsBilledBefore(plan: PlanDays, billedThrough: BilledThrough | undefined): number {
  if (billedThrough === undefined) return 0;
  if (typeof billedThrough === 'number') return billedThrough;
  const days = (Date.parse(billedThrough) - Date.parse(plan.anchor)) / DAY_MS;
  // `some` have begun by that day, `more` have not.
  let some = 0;
  let more = Math.max(0, Math.floor(days / (shortestInterval(plan.interval) ?? 1))) + 2;
  while (more - some > 1) {
    const middle = Math.floor((some + more) / 2);
    if (dateOf(plan, middle) <= billedThrough) some = middle;
    else more = middle;
  }
  return some;
}
