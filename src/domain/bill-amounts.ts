import type { BillingPlan, Period } from '../contract/billing-activities.js';
import type { AmountFrom } from '../contract/subscription-amounts.js';
import type { BillingSchedule } from '../contract/subscription-bills.js';
import type { ChangePlan, SetAmount } from '../contract/subscription-commands.js';
import { startOf } from './billing-calendar.js';

/** What the amount of a period depends on. */
export type Amounts = Pick<BillingSchedule, 'amounts' | 'metered' | 'supplied'>;

/** The amount of a period, in minor units: 0 bills nothing; undefined if it is not supplied yet. */
export function amountOf({ amounts, metered, supplied = [] }: Amounts, period: number): number | undefined {
  if (metered === true) return supplied.find((one) => one.period === period)?.amount;
  return amounts.findLast(({ fromPeriod }) => fromPeriod <= period)?.amount;
}

/** Bound what is carried from run to run. */
const MOST_AMOUNTS = 50;
const MOST_SUPPLIED = 100;
/** Further ahead nothing is said of a single period: ten-year periods would leave the calendar. */
export const MOST_AHEAD = 400;

/**
 * Why `changePlan` can't change the amounts so.
 * @param first the first period that is not due yet
 * @param from the first one whose amount may change
 */
export function amountFaults(
  { amounts, metered, plan }: Pick<BillingSchedule, 'amounts' | 'metered' | 'plan'>,
  request: ChangePlan,
  first: Period,
  from = first.period,
): string[] {
  const changes = changesOf(request, first);
  if (changes.length > 0 && metered === true)
    return [`${request.amount === undefined ? 'amounts' : 'amount'}: it is metered, so setAmount supplies each amount`];
  const faults = changes.flatMap(({ fromPeriod }, index) => {
    const field = request.amounts === undefined ? 'fromPeriod' : `amounts.${index}.fromPeriod`;
    if (fromPeriod < from)
      return [
        `${field}: ${fromPeriod} is billed, due or over already; the first one that can change is ${first.period}`,
      ];
    // The days of a period before `first` may not be known any more.
    const fault = fromPeriod < first.period ? undefined : aheadFault(plan, fromPeriod, first.period);
    return fault === undefined ? [] : [`${field}: ${fault}`];
  });
  if (withAmounts(amounts, changes).length > MOST_AMOUNTS)
    faults.push(`amounts: more than ${MOST_AMOUNTS} are to come`);
  return faults;
}

/** Why nothing can be said of a period to come. */
function aheadFault(plan: BillingPlan, period: number, next: number): string | undefined {
  if (period > next + MOST_AHEAD) return `${period} is more than ${MOST_AHEAD} periods ahead`;
  const isOver =
    (plan.periods !== undefined && period > plan.periods) ||
    (plan.endsOn !== undefined && startOf(plan, period) >= plan.endsOn);
  return isOver ? `${period} is never billed: the plan ends before` : undefined;
}

/** The amounts after `changePlan`: in place of every amount from the first changed period on. */
export function changedAmounts(
  { amounts }: Pick<BillingSchedule, 'amounts'>,
  request: ChangePlan,
  first: Period,
): AmountFrom[] {
  return withAmounts(amounts, changesOf(request, first));
}

function changesOf({ amount, amounts, fromPeriod }: ChangePlan, first: Period): readonly AmountFrom[] {
  return amounts ?? (amount === undefined ? [] : [{ fromPeriod: fromPeriod ?? first.period, amount }]);
}

function withAmounts(amounts: readonly AmountFrom[], changes: readonly AmountFrom[]): AmountFrom[] {
  const from = changes[0]?.fromPeriod ?? Number.POSITIVE_INFINITY;
  return [...amounts.filter(({ fromPeriod }) => fromPeriod < from), ...changes];
}

/** Those that periods from `next` on have. */
export function amountsFrom(amounts: readonly AmountFrom[], next: number): AmountFrom[] {
  return amounts.slice(
    Math.max(
      0,
      amounts.findLastIndex(({ fromPeriod }) => fromPeriod <= next),
    ),
  );
}

/** Why the amount of a period that is not open can't be supplied; undefined if it can. */
export function supplyFault({ next, plan, supplied = [] }: BillingSchedule, { period }: SetAmount): string | undefined {
  const fault = aheadFault(plan, period, next);
  if (fault !== undefined) return `period: ${fault}`;
  const isNew = supplied.every((one) => one.period !== period);
  return isNew && supplied.length >= MOST_SUPPLIED ? `${MOST_SUPPLIED} amounts are supplied already` : undefined;
}

const MOST_SKIPPED = 100;

/**
 * Why a period can't be skipped, or that can't be undone; undefined if it can.
 * @param at when it is due; undefined if the plan ends before
 */
export function skipFault(
  { skipped = [], next, cancelAtPeriodEnd }: BillingSchedule,
  { period, undo }: { period: number; undo?: true | undefined },
  at: Period | undefined,
  now: number,
): string | undefined {
  if (undo === true)
    return skipped.includes(period) && period >= next ? undefined : `period ${period} is not to be skipped`;
  if (cancelAtPeriodEnd === true) return 'it is cancelled at the end of the present period';
  if (skipped.includes(period)) return `period ${period} is to be skipped already`;
  if (period < next)
    return `period ${period} is billed, due or over already; the first one that can be skipped is ${next}`;
  if (period > next + MOST_AHEAD) return `period ${period} is more than ${MOST_AHEAD} periods ahead`;
  if (at === undefined) return `the plan ends before period ${period}`;
  if (at.dueAt <= now) return `period ${period} is due already`;
  return skipped.length >= MOST_SKIPPED ? `${MOST_SKIPPED} periods are to be skipped already` : undefined;
}

/** The periods to be skipped after `skipPeriod`. */
export function withSkip(
  skipped: readonly number[] | undefined,
  { period, undo }: { period: number; undo?: true | undefined },
): number[] {
  const others = (skipped ?? []).filter((one) => one !== period);
  return undo === true ? others : [...others, period].toSorted((x, y) => x - y);
}
