import { shortestInterval } from '../../src/contract/subscription-conflicts.js';
import { collectedUntil } from '../../src/domain/bill-now.js';
import { NOTHING_TRIED } from '../../src/domain/dunning-state.js';
import { periodAhead, planned } from './calendar.js';
import { amountOf, type Billing, type OpenPeriod } from './state.js';

/** Opens the next period, due or not; undefined if the plan ends before it. */
export async function openAhead(flow: Billing): Promise<OpenPeriod | undefined> {
  const { next: period } = flow;
  const ahead = await periodAhead(flow, period);
  if (ahead === undefined) return undefined;
  const now = Date.now();
  const nextDueAt = ahead.dueAt < now ? (await planned(flow)).next?.dueAt : undefined;
  const intervalDays = shortestInterval(flow.plan.interval) ?? 0;
  flow.open = {
    period,
    date: ahead.date,
    amount: amountOf(flow, period),
    attempts: 0,
    endsAt: collectedUntil({ dueAt: ahead.dueAt, nextDueAt, intervalDays, now }),
    state: { ...NOTHING_TRIED },
    step: { do: 'attempt' },
  };
  flow.next = period + 1;
  flow.upcoming = undefined;
  return flow.open;
}
