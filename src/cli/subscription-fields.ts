import type { OpenBill } from '../contract/subscription-outcome.js';
import type { FlowDetails } from './show.js';
import { moneyOf, time } from './table.js';

/** Card and bills of a subscription as text; empty for other flows. */
export function subscriptionFields({ subscription, currency }: FlowDetails): [string, string | undefined][] {
  if (subscription === undefined) return [];
  const { card, nextBill, open, lastBilled, cancelAtPeriodEnd, undelivered } = subscription;
  const { billedPeriods, unpaidPeriods, missedPeriods } = subscription;
  const money = (amount: number): string =>
    moneyOf({ amount, ...(currency !== undefined && { currency }) }) ?? String(amount);
  const paid =
    lastBilled && `period ${lastBilled.period}, ${money(lastBilled.amount)}, payment ${lastBilled.paymentReference}`;
  return [
    ['card', card.last4Digits === undefined ? card.token : `**** ${card.last4Digits}`],
    ['open bill', open && openText(open, money)],
    ['next bill', nextBill && `period ${nextBill.period} at ${time(nextBill.dueAt)} UTC`],
    ['last billed', paid && `${paid} at ${time(lastBilled.billedAt)} UTC`],
    ['periods', `${billedPeriods} billed, ${unpaidPeriods} unpaid, ${missedPeriods} missed`],
    ['ends', cancelAtPeriodEnd ? 'with the present period' : undefined],
    ['undelivered', undelivered === 0 ? undefined : `${undelivered} notifications`],
  ];
}

function openText(
  { period, amount, declines, maxAttempts, nextTryAt, giveUpAt }: OpenBill,
  money: (amount: number) => string,
): string {
  const until =
    nextTryAt === undefined ? giveUpAt && `given up at ${time(giveUpAt)} UTC` : `next try at ${time(nextTryAt)} UTC`;
  return [`period ${period}, ${money(amount)}`, `${declines} of ${maxAttempts} declines`, until]
    .filter(Boolean)
    .join(', ');
}
