/** A payment that was declined, whether somebody has confirmed that or not. `at`: epoch ms. */
export interface DeclinedTry {
  token: string;
  at: number;
}

/** The lowest limit of the card schemes: who tries a declined card more often in 30 days pays a fine for each try. */
const MOST_DECLINES = 15;
const WINDOW_MS = 30 * 86_400_000;
/** Of many cards. */
const KEPT_TRIES = 200;

/** Those that still count at `now`, oldest first. */
export function declinedTriesAt(tries: readonly DeclinedTry[] | undefined, now: number): DeclinedTry[] {
  return (tries ?? []).filter(({ at }) => at > now - WINDOW_MS).slice(-KEPT_TRIES);
}

/** When the card may be tried again (epoch ms); undefined: it may be tried now. */
export function cardFreeAt(tries: readonly DeclinedTry[] | undefined, token: string, now: number): number | undefined {
  const card = token.toLowerCase();
  const ofCard = declinedTriesAt(tries, now).filter((one) => one.token.toLowerCase() === card);
  const oldest = ofCard.at(-MOST_DECLINES);
  return oldest === undefined ? undefined : oldest.at + WINDOW_MS;
}
