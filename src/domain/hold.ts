import { DAY_MS, HOUR_MS, MINUTE_MS } from '../contract/time-units.js';

/** How long the provider holds an authorization if the unit doesn't say. */
export const DEFAULT_HOLD_MS = 7 * DAY_MS;
const DEFAULT_DEADLINE_MS = 6 * DAY_MS;
const DEFAULT_WARNING_MS = 12 * HOUR_MS;
/** The provider's clock and ours may differ: a hold counts as expired only after this margin. */
export const EXPIRY_MARGIN_MS = HOUR_MS;
/** If the service still shows a hold after its end, it is voided daily for this long. */
export const RELEASED_AFTER_END_MS = 30 * DAY_MS;
export const RELEASE_AFTER_END_MS = DAY_MS;

/** Times of one authorization, in epoch ms. */
export interface HoldTerms {
  /** When to warn that the deadline is near. */
  readonly warnAt: number;
  /** When `onDeadline` is executed. */
  readonly captureBy: number;
  /** When the provider releases the hold by itself. */
  readonly heldUntil: number;
}

export interface AskedTerms {
  /** ms; default six days, or six sevenths of a shorter hold. */
  deadlineMs?: number | undefined;
  /** ms; default twelve hours, or half of a shorter deadline. */
  warningMs?: number | undefined;
}

/** The longest deadline that a hold of `holdMs` allows. */
export function longestDeadline(holdMs: number): number {
  return Math.max(0, holdMs - Math.min(EXPIRY_MARGIN_MS, holdMs / 7));
}

/**
 * @param sentAt when the first POST may have left. The hold counts from there, so it is never assumed too long
 * @param authorizedAt when the authorization was known to have succeeded: the deadline counts from there
 */
export function holdTerms(sentAt: number, authorizedAt: number, holdMs: number, asked: AskedTerms): HoldTerms {
  const wanted = asked.deadlineMs ?? Math.min(DEFAULT_DEADLINE_MS, Math.floor((holdMs * 6) / 7));
  const warning = asked.warningMs ?? Math.min(DEFAULT_WARNING_MS, Math.floor(wanted / 2));
  const captureBy = Math.floor(Math.min(authorizedAt + wanted, sentAt + longestDeadline(holdMs)));
  return { warnAt: captureBy - warning, captureBy, heldUntil: Math.floor(sentAt + holdMs) };
}

/** Progress of ending a hold: after the deadline, a cancel or a declined risk analysis. */
export interface Retries {
  /** Void even if `onDeadline` says otherwise: after a cancel or a declined risk analysis. */
  readonly mustVoid: boolean;
  readonly onDeadline: 'capture' | 'void';
  /** Attempts that did not end the hold. */
  readonly tries: number;
  /** Epoch ms: end of the last attempt. */
  readonly lastTryAt: number;
  /** A capture at the deadline failed, or a capture was never confirmed: the hold is voided. */
  readonly captureFailed: boolean;
}

export type HoldAct =
  { act: 'wait'; until: number; soon: boolean } | { act: 'capture' } | { act: 'void' } | { act: 'expire' };

const RETRIES = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 2 * HOUR_MS];
const LONGEST_RETRIES_MS = 6 * HOUR_MS;

/** ms until the next attempt to end a hold, after `tries` failed ones. */
export function releaseDelay(tries: number): number {
  return tries === 0 ? 0 : (RETRIES[tries - 1] ?? LONGEST_RETRIES_MS);
}

/**
 * The next action for a hold without commands. It always ends: from the deadline on, a void or capture is retried, and
 * `expire` follows once the provider must have released the hold.
 */
export function holdAct(terms: HoldTerms, retries: Retries, now: number): HoldAct {
  const gone = terms.heldUntil + EXPIRY_MARGIN_MS;
  // A hold without any void yet (no worker ran, or it was authorized late) is voided once, whatever the clock says.
  if (now >= gone && retries.tries > 0) return { act: 'expire' };
  if (!retries.mustVoid && now < terms.captureBy) {
    return now < terms.warnAt
      ? { act: 'wait', until: terms.warnAt, soon: false }
      : { act: 'wait', until: terms.captureBy, soon: true };
  }
  const next = retries.lastTryAt + releaseDelay(retries.tries);
  if (retries.tries > 0 && now < next) return { act: 'wait', until: Math.min(next, gone), soon: true };
  // Between the hold's end and its margin, keep voiding: a void of a released hold does no harm, and the caller needn't
  // wait an hour for the end of a short hold.
  const mayCapture = now < terms.heldUntil && !retries.captureFailed;
  const capture = retries.onDeadline === 'capture' && !retries.mustVoid && mayCapture;
  return { act: capture ? 'capture' : 'void' };
}

/** Epoch ms by which a review of a held payment must end, so that there is time to void the hold. */
export function reviewMargin(heldUntil: number, begun: number): number {
  return heldUntil - Math.min(12 * HOUR_MS, Math.max(0, Math.floor((heldUntil - begun) / 4)));
}
