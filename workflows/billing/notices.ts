import { DAY_MS } from '../../src/contract/time-units.js';
import type { Period } from '../../src/contract/billing-activities.js';
import { amountOf, type Billing } from './state.js';
import { tellOf } from './tell.js';

/** When the merchant is to be told of the next bill (epoch ms); undefined if never, or told already. */
export function noticeAt(flow: Billing, next: Period | undefined): number | undefined {
  if (next === undefined || !flow.outbox.wanted || flow.noticed === next.period) return undefined;
  if (flow.cancelAtPeriodEnd === true || flow.skipped?.includes(next.period) === true) return undefined;
  if (amountOf(flow, next.period) === 0) return undefined;
  const days = isTrialEnd(flow, next) ? flow.input.notices?.beforeTrialEnds : daysBefore(flow, next);
  return days === undefined ? undefined : next.dueAt - days * DAY_MS;
}

/** What begins is not renewed. */
function daysBefore({ input }: Billing, { period }: Period): number | undefined {
  return period === 1 ? undefined : input.notices?.beforeRenewal;
}

function isTrialEnd({ input }: Billing, { period }: Period): boolean {
  return period === 1 && input.trialDays > 0;
}

/** Once per period, also if its amount changes later. */
export function giveNotice(flow: Billing, next: Period): void {
  const { period, date, dueAt } = next;
  const type = isTrialEnd(flow, next) ? 'subscription.trialEnding' : 'subscription.renewing';
  const { currency } = flow.input;
  const bill = { period, date, dueAt: new Date(dueAt).toISOString(), amount: amountOf(flow, period), currency };
  tellOf(flow, type, String(period), bill);
  flow.noticed = period;
}
