import type { Bill, BillsAndSchedule } from '../../src/contract/subscription-bills.js';
import type { ServicePeriod } from '../../src/contract/subscription-bills.js';
import { attemptReference } from '../../src/contract/names.js';
import { isOfPlan, planOf, startOf } from '../../src/domain/billing-calendar.js';
import { KEPT_BILLS } from './carried-state.js';
import { type Billing, type OpenPeriod, scheduleOf } from './state.js';

/** Of the last payment, or of the given one. */
export function referenceOf(
  { input }: Pick<Billing, 'input'>,
  { period, attempts }: Pick<OpenPeriod, 'period' | 'attempts'>,
  number = attempts,
): string {
  return attemptReference(input.reference, period, number);
}

/** The payment in doubt: a try beside it that a brake has stopped is not. */
export function doubtfulOf(flow: Billing, open: OpenPeriod): string {
  if (open.doubtful !== undefined) return referenceOf(flow, open, open.doubtful);
  const risked = open.last?.brakedBy === undefined ? undefined : open.confirmedRisks?.at(-1)?.payment;
  return risked ?? referenceOf(flow, open);
}

/** The days of periods, if their plan is known: {@link keepDays} keeps what follows from one that is dropped. */
export function spanOf({ plan }: Pick<Billing, 'plan'>, first: number, last = first): Partial<ServicePeriod> {
  return isOfPlan(plan, first) ? { from: startOf(plan, first), to: startOf(plan, last + 1) } : {};
}

/** Before a change of the plan, which drops what no period to come follows from. */
export function keepDays(flow: Billing): void {
  flow.billed = flow.billed.map((bill) => ({ ...spanOf(flow, bill.period), ...bill }));
}

/** The days of an open bill where {@link spanOf} will not know them. */
export function unknownDays(flow: Billing, open: OpenPeriod): Partial<ServicePeriod> {
  return isOfPlan(flow.plan, open.period) ? {} : daysOf(flow, open);
}

/** The days of an open bill. Its own plan may be dropped, but not that of the next period. */
export function daysOf({ plan }: Pick<Billing, 'plan'>, { date, period }: OpenPeriod): ServicePeriod {
  return { from: date, to: startOf(plan, period + 1) };
}

/** Notes what has become of a period without a payment. */
export function noteUnbilled(flow: Billing, bill: Bill): void {
  flow.unbilled = [...(flow.unbilled ?? []), { ...bill, at: new Date(Date.now()).toISOString() }];
}

/** Answer of query `bills`. */
export function billsOf(flow: Billing): BillsAndSchedule {
  const { reference, currency, metadata } = flow.input;
  const paid = flow.billed.slice(-KEPT_BILLS);
  const unbilled = (flow.unbilled ?? []).slice(-KEPT_BILLS);
  const { billed, unpaid, missed, skipped = 0 } = flow.counts;
  const kept = paid.length + unbilled.reduce((sum, { period, through = period }) => sum + through - period + 1, 0);
  const closed = [...paid.map((one) => paidBill(flow, one)), ...unbilled].toSorted((x, y) => x.period - y.period);
  return {
    reference,
    currency,
    bills: [...elsewhere(flow), ...closed, ...openBill(flow)],
    olderPeriods: Math.max(0, billed + unpaid + missed + skipped - kept),
    ...(metadata !== undefined && { metadata }),
    schedule: scheduleOf(flow),
  };
}

function paidBill(flow: Billing, { paymentReference, billedAt, ...bill }: Billing['billed'][number]): Bill {
  const attempts = Number(/\d+$/.exec(paymentReference)?.[0]);
  const days = { ...spanOf(flow, bill.period), ...bill };
  return { ...days, status: 'paid', at: billedAt, payment: paymentReference, attempts };
}

function elsewhere({ billedThrough, input, opened }: Billing): Bill[] {
  // Before the check it may lie beyond the calendar.
  if (billedThrough === 0 || !opened) return [];
  const plan = planOf(input);
  const days = { from: startOf(plan, 1), to: startOf(plan, billedThrough + 1) };
  return [{ period: 1, ...(billedThrough > 1 && { through: billedThrough }), ...days, status: 'elsewhere' }];
}

/** Where the subscription has ended over it, it is among those that stayed unpaid, unless nobody knows whether it was paid. */
function openBill(flow: Billing): Bill[] {
  const { open, ended } = flow;
  if (open === undefined || open.step.do === 'nothing') return [];
  if (ended !== undefined && open.step.do !== 'block') return [];
  const { period, amount, amountAwaited } = open;
  return [
    {
      period,
      ...daysOf(flow, open),
      status: ended === undefined ? 'open' : 'unknown',
      ...(amountAwaited === undefined && { amount }),
      ...triedOf(flow, open),
    },
  ];
}

/** The last payment of a bill, or the one that may have taken the money, and who has tried it again at that risk. */
export function triedOf(
  flow: Billing,
  open: OpenPeriod,
): Pick<Bill, 'payment' | 'attempts' | 'confirmed' | 'confirmedRisks'> {
  const { attempts, last, state, confirmedRisks } = open;
  // A try beside it that a brake has stopped leaves it as it was.
  const isDoubtful = state.hold === 'confirmation';
  const payment = isDoubtful ? doubtfulOf(flow, open) : referenceOf(flow, open);
  return {
    attempts,
    ...(attempts > 0 && { payment }),
    ...((isDoubtful || last?.confirmed === false) && { confirmed: false as const }),
    ...(confirmedRisks !== undefined && { confirmedRisks }),
  };
}
