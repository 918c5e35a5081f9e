const MINUTE = 60_000;

/** Consecutive refusals of one kind of read; times are epoch ms. */
export interface RefusedReads {
  readonly times: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** By the unit's setting the service has no such read, so it is never sent. */
  readonly bySetting: boolean;
}

/** HTTP statuses that answer a read that is not offered. A single 404 may also come from a proxy or a lag. */
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

/** True if the service doesn't offer the read (money rule 6), or the unit's setting says so. */
export function isNotOffered(refused: RefusedReads | undefined): boolean {
  if (refused === undefined) return false;
  return refused.bySetting || (refused.times >= REFUSALS && refused.lastAt - refused.firstAt >= REFUSED_FOR_MS);
}
