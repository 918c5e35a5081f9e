import type { CountedOutgoing, CountOutgoing, OutgoingLimits } from '../contract/outgoing.js';
import { showMoney } from './money.js';

/** What has been counted in one day. Carried from run to run as lists of entries. */
export interface DaySums {
  /** Minor units by currency. */
  readonly sums: Map<string, number>;
  readonly cards: Map<string, number>;
  /** The amount that was counted under each key. */
  readonly keys: Map<string, number>;
}

/** The day in UTC of epoch ms, as `YYYY-MM-DD`: in its sums what is sent then counts. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The keys of a day are carried from run to run: there is no room for more. */
const MOST_A_DAY = 30_000;

/**
 * Counts a credit or refund, if the day has room for it or another person has approved it. Under the same key it is
 * counted once; over another amount it replaces what was counted.
 */
export function countOutgoing(
  { sums, cards, keys }: DaySums,
  { key, amount, currency, card, perDay, perCard, approved }: CountOutgoing,
  most: number = MOST_A_DAY,
): CountedOutgoing {
  const before = keys.get(key);
  if (before === amount) return { counted: true };
  const sum = (sums.get(currency) ?? 0) - (before ?? 0);
  const refunds = card === undefined ? 0 : (cards.get(card) ?? 0) - (before === undefined ? 0 : 1);
  if (approved !== true) {
    const refused = { counted: false, sum, refunds } as const;
    if (perDay !== undefined && sum + amount > perDay) return { ...refused, over: 'perDay' };
    if (perCard !== undefined && card !== undefined && refunds >= perCard) return { ...refused, over: 'perCard' };
    if (before === undefined && keys.size >= most) return { ...refused, over: 'full' };
  }
  keys.set(key, amount);
  sums.set(currency, sum + amount);
  if (card !== undefined) cards.set(card, refunds + 1);
  return { counted: true };
}

interface Asked {
  businessUnit: string;
  amount: number;
  currency: string;
}

/** Why one call may not be sent before another person has approved it; undefined if its sum is small enough. */
export function overPerCall(
  { perCall }: OutgoingLimits,
  { businessUnit, amount, currency }: Asked,
): string | undefined {
  const most = perCall?.[currency];
  if (most === undefined || amount <= most) return undefined;
  return `more than the ${showMoney(most, currency)} that business unit "${businessUnit}" sends in one call`;
}

/** The same for what a day or a card has no room for. */
export function overInWords(
  { perDay, refundsPerCard = 0 }: OutgoingLimits,
  { businessUnit, currency }: Asked,
  { over, sum, refunds }: Extract<CountedOutgoing, { counted: false }>,
): string {
  const unit = `business unit "${businessUnit}"`;
  const most = showMoney(perDay?.[currency] ?? 0, currency);
  switch (over) {
    case 'perDay':
      return `with the ${showMoney(sum, currency)} already sent on that day more than the ${most} that ${unit} sends in a day`;
    case 'perCard':
      return `refund ${refunds + 1} of that day to the same card, and ${unit} makes ${refundsPerCard}`;
    case 'full':
      return `beyond the ${MOST_A_DAY} credits and refunds that are counted for ${unit} in a day`;
  }
}
