import { describeEntry, groupBy, type LedgerEntry } from './ledger.js';
import type { SubscriptionRecord } from './payment-record.js';

interface Attempt {
  period: number;
  attempt: number;
  entry: LedgerEntry;
}

/**
 * Compares a subscription's own counts with the ledger: each period is paid at most once, a period is retried only
 * after a decline, and the number of paid periods matches. The payments themselves are audited separately.
 */
export function auditSubscription(
  subscription: SubscriptionRecord | undefined,
  ledger: readonly LedgerEntry[],
): string[] {
  if (subscription === undefined) return [];
  const { reference, ended, periods, amount, currency } = subscription;
  const attempts = ledger.flatMap((entry) => attemptOf(reference, entry));
  const paid = attempts.filter(({ entry }) => entry.status === 'Succeed');
  return [
    ...[...groupBy(attempts, ({ period }) => period)].flatMap(([period, tried]) => differencesOfPeriod(period, tried)),
    ...attempts
      .filter(({ period, entry }) => period > periods || entry.amount !== amount || entry.currency !== currency)
      .map(
        ({ period, entry }) =>
          `period ${period} of ${periods} over ${amount} ${currency} was billed as ${describeEntry(entry)}`,
      ),
    ...(ended === undefined ? ['its subscription never ended'] : differencesOfEnd(subscription, ended, paid.length)),
  ];
}

function differencesOfPeriod(period: number, tried: readonly Attempt[]): string[] {
  const paid = tried.filter(({ entry }) => entry.status === 'Succeed');
  const inOrder = tried.toSorted((one, other) => one.attempt - other.attempt);
  const tooEarly = inOrder.slice(0, -1).filter(({ entry }) => entry.status !== 'Failed');
  const entries = inOrder.map(({ attempt, entry }) => `${attempt}: ${describeEntry(entry)}`).join(' and ');
  return [
    ...(paid.length > 1 ? [`period ${period} was billed ${paid.length} times: ${entries}`] : []),
    ...(tooEarly.length > 0 ? [`period ${period} was tried again before it had been declined: ${entries}`] : []),
  ];
}

function differencesOfEnd(
  { periods }: SubscriptionRecord,
  {
    status,
    billedPeriods,
    unpaidPeriods,
    missedPeriods,
    skippedPeriods = 0,
    open,
    reason,
  }: NonNullable<SubscriptionRecord['ended']>,
  paid: number,
): string[] {
  const over = billedPeriods + unpaidPeriods + skippedPeriods;
  // An end at once misses what is due by then and was not opened yet. A cancel at the end of the period misses nothing.
  const isCancelledAtOnce = status === 'cancelled' && !reason.startsWith('at the end of the period');
  const isAtOnce = isCancelledAtOnce || status === 'givenUp';
  const isDropped = isAtOnce && over + missedPeriods <= periods;
  return [
    ...(billedPeriods === paid ? [] : [`its subscription says that ${billedPeriods} periods were billed, not ${paid}`]),
    ...(missedPeriods === 0 || isDropped ? [] : [`its subscription has missed ${missedPeriods} periods`]),
    ...(status === 'completed' && (over !== periods || open !== undefined)
      ? [`its subscription is completed after ${over} of ${periods} periods`]
      : []),
  ];
}

function attemptOf(reference: string, entry: LedgerEntry): Attempt[] {
  const { reconciliation_id: id, kind } = entry;
  if (kind !== 'charge' || id === null || !id.startsWith(`${reference}.`)) return [];
  const [period = NaN, attempt = NaN] = id
    .slice(reference.length + 1)
    .split('.')
    .map(Number);
  return [{ period, attempt, entry }];
}
