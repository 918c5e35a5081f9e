import { HOUR } from './schedules.js';

const MINUTE = 60_000;
const DAY = 24 * HOUR;

/** Where nobody says how long the provider holds an authorization. */
export const DEFAULT_HOLD_MS = 7 * DAY;
const DEFAULT_DEADLINE_MS = 6 * DAY;
const DEFAULT_WARNING_MS = 12 * HOUR;
/** The provider's clock and ours may differ: before this has passed nobody calls a hold expired. */
export const EXPIRY_MARGIN_MS = HOUR;
/** A hold that the service still shows after it must have ended is voided daily for so long. */
export const PURSUED_AFTER_END_MS = 30 * DAY;
export const PURSUIT_AFTER_END_MS = DAY;

/** Of one authorization. All are epoch ms. */
export interface HoldTerms {
  /** When somebody is told that the deadline is near. */
  readonly warnAt: number;
  /** When `onDeadline` is done. */
  readonly captureBy: number;
  /** When the provider lets go of the money by itself. */
  readonly heldUntil: number;
}

export interface AskedTerms {
  /** ms; absent: six days, or six sevenths of a shorter hold. */
  deadlineMs?: number | undefined;
  /** ms; absent: twelve hours, or half of a shorter deadline. */
  warningMs?: number | undefined;
}

/** The longest deadline that a hold of `holdMs` allows. */
export function longestDeadline(holdMs: number): number {
  return Math.max(0, holdMs - Math.min(EXPIRY_MARGIN_MS, holdMs / 7));
}

/**
 * @param sentAt when the first POST may have left: the hold is never taken for longer than it is
 * @param authorizedAt when it was known to have succeeded: the deadline counts from there
 */
export function holdTerms(sentAt: number, authorizedAt: number, holdMs: number, asked: AskedTerms): HoldTerms {
  const wanted = asked.deadlineMs ?? Math.min(DEFAULT_DEADLINE_MS, Math.floor((holdMs * 6) / 7));
  const warning = asked.warningMs ?? Math.min(DEFAULT_WARNING_MS, Math.floor(wanted / 2));
  const captureBy = Math.floor(Math.min(authorizedAt + wanted, sentAt + longestDeadline(holdMs)));
  return { warnAt: captureBy - warning, captureBy, heldUntil: Math.floor(sentAt + holdMs) };
}

/** How far a hold's end has been pursued: after the deadline, or since a cancel or a declined risk analysis. */
export interface Pursuit {
  /** `void` whatever the deadline says: a cancel, or risk. */
  readonly mustVoid: boolean;
  readonly onDeadline: 'capture' | 'void';
  /** Tries that did not end the hold. */
  readonly tries: number;
  /** Epoch ms of the end of the last one. */
  readonly lastTryAt: number;
  /** A capture that the deadline started did not go through, or one was never confirmed: the hold is let go. */
  readonly captureFailed: boolean;
}

export type HoldAct =
  { act: 'wait'; until: number; soon: boolean } | { act: 'capture' } | { act: 'void' } | { act: 'expire' };

const PURSUIT = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 2 * HOUR];
const LONGEST_PURSUIT_MS = 6 * HOUR;

/** ms until the next try to end a hold, after `tries` that did not. */
export function pursuitDelay(tries: number): number {
  return tries === 0 ? 0 : (PURSUIT[tries - 1] ?? LONGEST_PURSUIT_MS);
}

/**
 * What is to be done with a hold that nobody commands anything about. It always comes to an end: a void or a
 * capture is pursued from the deadline on, and `expire` follows once the provider must have let go.
 */
export function holdAct(terms: HoldTerms, pursuit: Pursuit, now: number): HoldAct {
  const gone = terms.heldUntil + EXPIRY_MARGIN_MS;
  // What nothing has let go of yet (no worker ran, or it was authorized late) is voided once, whatever the clock says.
  if (now >= gone && pursuit.tries > 0) return { act: 'expire' };
  if (!pursuit.mustVoid && now < terms.captureBy) {
    return now < terms.warnAt
      ? { act: 'wait', until: terms.warnAt, soon: false }
      : { act: 'wait', until: terms.captureBy, soon: true };
  }
  const next = pursuit.lastTryAt + pursuitDelay(pursuit.tries);
  if (pursuit.tries > 0 && now < next) return { act: 'wait', until: Math.min(next, gone), soon: true };
  // Between the hold's end and its margin it is voided on: a void that finds nothing to let go of does no harm, and
  // whoever waits for the end of a short hold is not left without a word for an hour.
  const mayCapture = now < terms.heldUntil && !pursuit.captureFailed;
  const capture = pursuit.onDeadline === 'capture' && !pursuit.mustVoid && mayCapture;
  return { act: capture ? 'capture' : 'void' };
}

/** Epoch ms by which a review of a held payment must have ended, so that there is time to void it. */
export function reviewMargin(heldUntil: number, begun: number): number {
  return heldUntil - Math.min(12 * HOUR, Math.max(0, Math.floor((heldUntil - begun) / 4)));
}
