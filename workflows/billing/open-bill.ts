import type { Period, PeriodRange, PlannedBill } from '../../src/contract/billing-activities.js';
import { daysOf, noteUnbilled, spanOf } from './bills.js';
import { isBilledBeforeReset } from './is-started.js';
import { amountOf, type Billing, type OpenPeriod } from './state.js';
import { askForCard, tellOf } from './tell.js';

/** Opens the bill of a period that is due. One that is skipped or costs nothing is closed at once. */
export async function openBill(flow: Billing, bill: PlannedBill, next: Period | undefined): Promise<void> {
  const { period, date, endsAt, state, step } = bill;
  const known = amountOf(flow, period);
  const isSkipped = skips(flow, period);
  const open: OpenPeriod = { period, date, endsAt, state, step, amount: known ?? 0, attempts: 0 };
  // After a reset a command may be missing by which it was billed before: then its payment is followed, and not denied.
  const isBilled = !makesPayment(flow, period) && (await isBilledBeforeReset(flow, period));
  flow.open = open;
  flow.next = period + 1;
  flow.upcoming = next;
  if (isBilled) open.step = { do: 'attempt' };
  else if (isSkipped) skip(flow, open);
  else if (known === 0) billNothing(flow, open);
  else if (known === undefined) awaitAmount(flow, open);
  else askIfNeeded(flow, open);
}

/** Whether its bill, once it is open, is paid for. */
export function makesPayment(flow: Billing, period: number): boolean {
  return !skips(flow, period) && (amountOf(flow, period) ?? 0) > 0;
}

function skips({ skipped }: Billing, period: number): boolean {
  return skipped?.includes(period) === true;
}

/** The amount of an open bill that was awaited. */
export function giveAmount(flow: Billing, open: OpenPeriod, amount: number): void {
  delete open.amountAwaited;
  open.amount = amount;
  if (amount === 0) billNothing(flow, open);
  else askIfNeeded(flow, open);
}

function awaitAmount(flow: Billing, open: OpenPeriod): void {
  open.amountAwaited = Date.now();
  const { period, date } = open;
  tellOf(flow, 'subscription.amountNeeded', String(period), { period, date });
}

function askIfNeeded(flow: Billing, open: OpenPeriod): void {
  const { step } = open;
  if (step.do === 'wait' && step.for === 'card') askForCard(flow, open, step);
}

/** It counts as billed: its days are granted, and no payment is made. */
function billNothing(flow: Billing, open: OpenPeriod): void {
  const { period } = open;
  flow.counts.billed += 1;
  tellOf(flow, 'subscription.billed', String(period), { period, amount: 0, currency: flow.input.currency });
  close(flow, open, 'nothing');
}

function skip(flow: Billing, open: OpenPeriod): void {
  noteSkipped(flow, open.period);
  close(flow, open, 'skipped');
}

/** How the bill before was closed stays known: a card that was declined for good is not tried in the next period either. */
function close(flow: Billing, open: OpenPeriod, status: 'nothing' | 'skipped'): void {
  const { period } = open;
  noteUnbilled(flow, { period, ...daysOf(flow, open), status, ...(status === 'nothing' && { amount: 0 }) });
  delete flow.open;
  flow.closedOne = true;
}

function noteSkipped(flow: Billing, period: number): void {
  flow.counts.skipped = (flow.counts.skipped ?? 0) + 1;
  tellOf(flow, 'subscription.skipped', String(period), { period });
}

/** Periods that came due and are not billed. Those that were to be skipped are not missed. */
export function closeMissed(flow: Billing, { first, last }: PeriodRange): void {
  const skips = (flow.skipped ?? []).filter((period) => period >= first && period <= last);
  let from = first;
  for (const period of [...skips, last + 1]) {
    if (period > from) miss(flow, { first: from, last: period - 1 });
    if (period <= last) {
      noteSkipped(flow, period);
      noteUnbilled(flow, { period, ...spanOf(flow, period), status: 'skipped' });
    }
    from = period + 1;
  }
  flow.next = last + 1;
}

function miss(flow: Billing, { first, last }: PeriodRange): void {
  flow.counts.missed += last - first + 1;
  const through = last > first ? { through: last } : {};
  noteUnbilled(flow, { period: first, ...through, ...spanOf(flow, first, last), status: 'missed' });
  tellOf(flow, 'subscription.missed', `${first}-${last}`, { first, last });
}
