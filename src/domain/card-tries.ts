/** A declined payment, confirmed or not. `at`: epoch ms. */
export interface DeclinedTry {
  token: string;
  at: number;
}

/** The lowest limit of the card schemes: each further attempt on a declined card within 30 days costs a fine. */
const MOST_DECLINES = 15;
const WINDOW_MS = 30 * 86_400_000;
/** Over all cards of the subscription. */
const KEPT_TRIES = 200;

/** The declines that still count at `now`, oldest first. */
export function declinedTriesAt(tries: readonly DeclinedTry[] | undefined, now: number): DeclinedTry[] {
  return (tries ?? []).filter(({ at }) => at > now - WINDOW_MS).slice(-KEPT_TRIES);
}

/** When the card may be charged again (epoch ms); undefined if it may be charged now. */
export function cardFreeAt(tries: readonly DeclinedTry[] | undefined, token: string, now: number): number | undefined {
  const card = token.toLowerCase();
  const ofCard = declinedTriesAt(tries, now).filter((one) => one.token.toLowerCase() === card);
  const oldest = ofCard.at(-MOST_DECLINES);
  return oldest === undefined ? undefined : oldest.at + WINDOW_MS;
}
