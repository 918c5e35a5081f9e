import type { AmountFrom } from '../../src/contract/subscription-amounts.js';
import { amountsFrom } from '../../src/domain/bill-amounts.js';
import { declinedTriesAt } from '../../src/domain/card-tries.js';
import { inResetRun } from '../kit/start-guard.js';
import { type Billing, type Carried, CARRIED_VERSION, CARRIED_WITH_BILL_ALL, CARRIED_WITH_SKIPS } from './state.js';

export function carriedAmounts(amounts: readonly AmountFrom[]): Pick<Carried, 'amount' | 'earlierAmounts'> {
  const earlier = amounts.slice(1).map(({ fromPeriod: before }, at) => ({ before, amount: amounts[at]?.amount ?? 0 }));
  return { amount: amounts.at(-1)?.amount ?? 0, ...(earlier.length > 0 && { earlierAmounts: earlier }) };
}

/** The inverse of what {@link carriedOf} does. */
export function amountsOf({ amount, earlierAmounts = [] }: Pick<Carried, 'amount' | 'earlierAmounts'>): AmountFrom[] {
  const amounts = [...earlierAmounts.map((one) => one.amount), amount];
  return amounts.map((each, at) => ({ fromPeriod: earlierAmounts[at - 1]?.before ?? 1, amount: each }));
}

function versionOf(hasBillAll: boolean, hasSkips: boolean): Carried['v'] {
  if (hasBillAll) return CARRIED_WITH_BILL_ALL;
  return hasSkips ? CARRIED_WITH_SKIPS : CARRIED_VERSION;
}

/** What is known of periods that are not closed yet. */
function ahead({
  next,
  amounts,
  supplied = [],
  skipped = [],
  billAllUntil,
}: Billing): Pick<Carried, 'v' | 'amount' | 'earlierAmounts' | 'supplied' | 'skipped'> {
  const suppliedLeft = supplied.filter(({ period }) => period >= next);
  const skippedLeft = skipped.filter((period) => period >= next);
  return {
    v: versionOf(billAllUntil !== undefined, skippedLeft.length > 0),
    ...carriedAmounts(amountsFrom(amounts, next)),
    ...(suppliedLeft.length > 0 && { supplied: suppliedLeft }),
    ...(skippedLeft.length > 0 && { skipped: skippedLeft }),
  };
}

function withDeclinedTries(flow: Billing): Pick<Carried, 'declinedTries'> {
  const declinedTries = declinedTriesAt(flow.declinedTries, Date.now());
  return declinedTries.length === 0 ? {} : { declinedTries };
}

/** More than a year of daily bills, and decades of monthly ones. */
export const KEPT_BILLS = 400;
const KEPT_COMMANDS = 100;

/** Commands are redelivered then, however long ago they were given. */
function isAfterReset(flow: Billing): boolean {
  return flow.afterReset === true || inResetRun();
}

export function carriedOf(flow: Billing): Carried {
  const { plan, card, next, open, paused, resumeWith, resumedAt, cancelAtPeriodEnd, left, counts, outbox } = flow;
  const afterReset = isAfterReset(flow);
  // After a reset a refund may be redelivered before its period is billed again: that refusal is not final.
  const answered = flow.answered.filter(
    ({ name, answer }) => !(afterReset && name === 'refundPeriod' && 'refusal' in answer),
  );
  return {
    plan,
    ...ahead(flow),
    ...(flow.noticed !== undefined && { noticed: flow.noticed }),
    card,
    next,
    ...(open !== undefined && { open, ...(flow.upcoming !== undefined && { upcoming: flow.upcoming }) }),
    ...(paused !== undefined && { paused }),
    ...(resumeWith !== undefined && { resumeWith, ...(resumedAt !== undefined && { resumedAt }) }),
    ...(flow.billAllUntil !== undefined && { billAllUntil: flow.billAllUntil }),
    ...(cancelAtPeriodEnd !== undefined && { cancelAtPeriodEnd }),
    ...(flow.cancelFrom !== undefined && { cancelFrom: flow.cancelFrom }),
    ...(flow.cancelIsLate === true && { cancelIsLate: true as const }),
    ...(flow.terms !== undefined && { terms: flow.terms }),
    ...(left !== undefined && { left }),
    ...withDeclinedTries(flow),
    ...(flow.hardDeclined !== undefined && { hardDeclined: flow.hardDeclined }),
    ...(flow.cardCaps !== undefined && { cardCaps: flow.cardCaps }),
    billed: flow.billed.slice(-KEPT_BILLS),
    ...(flow.unbilled !== undefined && { unbilled: flow.unbilled.slice(-KEPT_BILLS) }),
    counts,
    ...(outbox.wanted && { telling: outbox }),
    answered: answered.slice(-KEPT_COMMANDS),
    ...(flow.refunding !== undefined && { refunding: flow.refunding.slice(-KEPT_COMMANDS) }),
    ...(flow.disputed !== undefined && { disputed: flow.disputed }),
    ...(flow.disputesRead === true && { disputesRead: true as const }),
    ...(afterReset && { afterReset }),
  };
}
