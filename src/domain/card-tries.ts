import { DAY_MS } from '../contract/time-units.js';
import type { CardCap } from '../contract/declines.js';

/** A declined payment, confirmed or not. `at`: epoch ms. */
export interface DeclinedTry {
  token: string;
  at: number;
}

/** Tries older than this count for no limit. */
export const LONGEST_CAP_DAYS = 30;
/** Over all cards of the subscription. */
const KEPT_TRIES = 200;

/**
 * The lowest limits that card schemes publish: Visa's of 15 reattempts in 30 days, Mastercard's of 10 in 24 hours. Each
 * further one costs a fine. Holdfast doesn't know the scheme of a card, so both count for all.
 */
export const SCHEME_CAPS: readonly CardCap[] = [
  { tries: 15, days: LONGEST_CAP_DAYS },
  { tries: 10, days: 1 },
];

/** Subscriptions whose history records no limits have kept to this one: with another they would not replay. */
const CAP_WHERE_NONE_IS_RECORDED: readonly CardCap[] = SCHEME_CAPS.slice(0, 1);

/** The limits of a unit: its own counts beside those of the schemes. */
export function capsOf(own: CardCap | undefined): CardCap[] {
  return own === undefined ? [...SCHEME_CAPS] : [...SCHEME_CAPS, own];
}

/** The declines that still count at `now`, oldest first. */
export function declinedTriesAt(tries: readonly DeclinedTry[] | undefined, now: number): DeclinedTry[] {
  return (tries ?? []).filter(({ at }) => at > now - LONGEST_CAP_DAYS * DAY_MS).slice(-KEPT_TRIES);
}

/** `cap` is undefined where so many cards were declined that those of before would be forgotten. */
interface CardLimit {
  /** Epoch ms. */
  freeAt: number;
  cap: CardCap | undefined;
}

/**
 * When the card may be charged again, and which limit says so; undefined if it may be charged now.
 * @param caps as recorded; all of them count
 */
export function cardLimit(
  tries: readonly DeclinedTry[] | undefined,
  token: string,
  now: number,
  caps: readonly CardCap[] | undefined,
): CardLimit | undefined {
  const kept = declinedTriesAt(tries, now);
  const card = token.toLowerCase();
  const ofCard = kept.filter((one) => one.token.toLowerCase() === card);
  const limits = (caps ?? CAP_WHERE_NONE_IS_RECORDED).flatMap((cap): CardLimit[] => {
    const freeAt = endOfLimit(ofCard, cap);
    return freeAt === undefined || freeAt <= now ? [] : [{ freeAt, cap }];
  });
  // A list that is full would drop the oldest try, and its card could be tried once too often.
  const full = caps === undefined ? undefined : endOfLimit(kept, { tries: KEPT_TRIES, days: LONGEST_CAP_DAYS });
  if (full !== undefined) limits.push({ freeAt: full, cap: undefined });
  return limits.reduce<CardLimit | undefined>(
    (last, one) => (last === undefined || one.freeAt > last.freeAt ? one : last),
    undefined,
  );
}

/** When the oldest of the last tries that the limit allows has passed out of its days. */
function endOfLimit(tries: readonly DeclinedTry[], { tries: most, days }: CardCap): number | undefined {
  const oldest = tries.at(-most);
  return oldest === undefined ? undefined : oldest.at + days * DAY_MS;
}
