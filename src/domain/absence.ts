import { pollDelay, slowDelay } from './schedules.js';

const MINUTE = 60_000;
/** The first read that counts comes this long after the last attempt could have ended. */
const ABSENCE_SETTLE_MS = 15 * MINUTE;
/** The reads that count span at least this long. */
const ABSENCE_SPAN_MS = 60 * MINUTE;
const ABSENCE_READS = 3;
const HASTY_READS = 45;

/** Reads that found nothing of ours, kept as a value so that it can be carried and tested. */
export interface AbsenceEvidence {
  /** Epoch ms: the latest moment at which an attempt could still have reached the service. */
  readonly lastAttemptEnd: number;
  /** Epoch ms of the reads that count, oldest first. */
  readonly emptyReads: readonly number[];
}

export function startAbsence(lastAttemptEnd: number): AbsenceEvidence {
  return { lastAttemptEnd, emptyReads: [] };
}

/** A list answered 200 without a transaction of ours at `now`. Reads that come too early don't count. */
export function noteEmptyRead(evidence: AbsenceEvidence, now: number): AbsenceEvidence {
  if (now < evidence.lastAttemptEnd + ABSENCE_SETTLE_MS) return evidence;
  return { ...evidence, emptyReads: [...evidence.emptyReads, now] };
}

/** Money rule 6: three reads over at least 60 minutes, the first at least 15 after the last attempt. */
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

/** ms until the next read: quick at first, in case the transaction does exist, then what the proof needs. */
export function nextReadDelay(evidence: AbsenceEvidence, readsSoFar: number, now: number): number {
  const settled = evidence.lastAttemptEnd + ABSENCE_SETTLE_MS;
  const first = evidence.emptyReads[0];
  if (first === undefined) {
    if (now < settled) return Math.min(pollDelay(readsSoFar), Math.max(MINUTE, settled - now));
    // A list that can't be read for days: every read costs history events, and there is an end to those.
    return readsSoFar < HASTY_READS ? MINUTE : slowDelay(readsSoFar - HASTY_READS);
  }
  const reads = Math.min(evidence.emptyReads.length, ABSENCE_READS - 1);
  const due = first + (ABSENCE_SPAN_MS / (ABSENCE_READS - 1)) * reads;
  if (due > now) return Math.max(MINUTE, due - now);
  return readsSoFar < HASTY_READS ? MINUTE : slowDelay(readsSoFar - HASTY_READS);
}
