import { MINUTE_MS } from '../contract/time-units.js';
import { pollDelay, slowDelay } from './schedules.js';

/** The first read that counts is this long after the last attempt could have ended. */
const ABSENCE_SETTLE_MS = 15 * MINUTE_MS;
/** The reads that count span at least this long. */
const ABSENCE_SPAN_MS = 60 * MINUTE_MS;
const ABSENCE_READS = 3;
const HASTY_READS = 45;

/** Reads that found no transaction of ours. Plain data, so that it can be carried across runs and tested. */
export interface AbsenceEvidence {
  /** Epoch ms: the latest time at which an attempt could still have reached the service. */
  readonly lastAttemptEnd: number;
  /** Epoch ms of the reads that count, oldest first. */
  readonly emptyReads: readonly number[];
}

export function startAbsence(lastAttemptEnd: number): AbsenceEvidence {
  return { lastAttemptEnd, emptyReads: [] };
}

/** Records a list read at `now`, answered 200 without a transaction of ours. Ignores reads that are too early. */
export function noteEmptyRead(evidence: AbsenceEvidence, now: number): AbsenceEvidence {
  if (now < evidence.lastAttemptEnd + ABSENCE_SETTLE_MS) return evidence;
  return { ...evidence, emptyReads: [...evidence.emptyReads, now] };
}

/** True once the reads prove absence (money rule 6). */
export function isAbsenceProven(evidence: AbsenceEvidence): boolean {
  const first = evidence.emptyReads[0];
  const last = evidence.emptyReads.at(-1);
  return (
    first !== undefined &&
    last !== undefined &&
    evidence.emptyReads.length >= ABSENCE_READS &&
    last - first >= ABSENCE_SPAN_MS
  );
}

/** ms until the next read: soon at first, in case the transaction exists, then as the proof requires. */
export function nextReadDelay(evidence: AbsenceEvidence, readsSoFar: number, now: number): number {
  const settled = evidence.lastAttemptEnd + ABSENCE_SETTLE_MS;
  const first = evidence.emptyReads[0];
  if (first === undefined) {
    if (now < settled) return Math.min(pollDelay(readsSoFar), Math.max(MINUTE_MS, settled - now));
    // Slow down while a list can't be read: every read adds history events, whose number is limited.
    return readsSoFar < HASTY_READS ? MINUTE_MS : slowDelay(readsSoFar - HASTY_READS);
  }
  const reads = Math.min(evidence.emptyReads.length, ABSENCE_READS - 1);
  const due = first + (ABSENCE_SPAN_MS / (ABSENCE_READS - 1)) * reads;
  if (due > now) return Math.max(MINUTE_MS, due - now);
  return readsSoFar < HASTY_READS ? MINUTE_MS : slowDelay(readsSoFar - HASTY_READS);
}

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

const REFUSALS = 3;
const REFUSED_FOR_MS = 15 * MINUTE_MS;

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
