const MINUTE = 60_000;

/** How often a read of one kind was refused without an answer in between; times are epoch ms. */
export interface RefusedReads {
  readonly times: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** The unit's setting says that the service has no such read: it is not even asked. */
  readonly bySetting: boolean;
}

/** HTTP statuses by which a service without a read answers it. One 404 may also be a proxy, or a lag. */
export const REFUSING_STATUSES: readonly number[] = [404, 405, 501];

export const REFUSALS = 3;
export const REFUSED_FOR_MS = 15 * MINUTE;

export function noteRefusedRead(before: RefusedReads | undefined, now: number, bySetting: boolean): RefusedReads {
  return {
    times: (before?.times ?? 0) + 1,
    firstAt: before?.firstAt ?? now,
    lastAt: now,
    bySetting: bySetting || before?.bySetting === true,
  };
}

/** Money rule 6: a read counts as not offered after three refusals over 15 minutes, or by the unit's setting. */
export function isNotOffered(refused: RefusedReads | undefined): boolean {
  if (refused === undefined) return false;
  return refused.bySetting || (refused.times >= REFUSALS && refused.lastAt - refused.firstAt >= REFUSED_FOR_MS);
}
