import type { SentBefore } from '../contract/records.js';
import type { HoldTerms } from './hold.js';

/** The part of a hold by which the calls of earlier runs are told apart. */
interface FollowedHold {
  /** From 1; the sequence of its payment and of its authorization. */
  readonly number: number;
  /** Epoch ms. */
  readonly authorizedAt: number;
  readonly terms: Pick<HoldTerms, 'captureBy'>;
  /** The last ones that this run has used. */
  readonly sequences: Readonly<Record<'capture' | 'void', number>>;
}

/** Between the clocks of the service, the engine and a worker. */
export const CLOCKS_DIFFER_MS = 10 * 60_000;

/** What the runs before a reset have sent, and when the deadline of the hold was for them (epoch ms). */
export interface EarlierRuns extends SentBefore {
  readonly deadline: number;
}

/** @param startedAt when the flow started (epoch ms), which a reset does not change */
export function earlierRuns(before: SentBefore, hold: FollowedHold, startedAt: number): EarlierRuns {
  const { number, authorizedAt, terms } = hold;
  // The first authorization of all may have been tried in the first task, which no history shows by its key.
  const sentThen = before.firstSent[`authorize:${number}`] ?? (number === 1 ? startedAt : authorizedAt);
  const later = authorizedAt - sentThen;
  // A hold that this run has found again counts from then.
  return { ...before, deadline: later > CLOCKS_DIFFER_MS ? terms.captureBy - later : terms.captureBy };
}

/** When the run before a reset began the hold that replaced this one (epoch ms); undefined if it never did. */
export function replacedAt({ firstSent }: SentBefore, { number }: FollowedHold): number | undefined {
  return firstSent[`createPayment:${number + 1}`];
}

/**
 * True if the run before a reset has executed the command, whose turn it is now, on a later hold than this one.
 * @param reauthorizeWaits a command to reauthorize waits behind it
 */
export function isOfLaterHold(
  before: EarlierRuns,
  hold: FollowedHold,
  command: 'capture' | 'void' | 'reauthorize',
  reauthorizeWaits: boolean,
): boolean {
  const replaced = replacedAt(before, hold);
  if (replaced === undefined) return false;
  const { deadline } = before;
  const byDeadline = replaced >= deadline;
  if (command === 'reauthorize') return byDeadline;
  const sent = before.firstSent[`${command}:${hold.sequences[command] + 1}`] ?? Infinity;
  if (command === 'capture') return sent > replaced;
  // The void that made room for the next hold has such a key, too.
  return byDeadline ? sent >= deadline : !reauthorizeWaits;
}

/**
 * True if a hold that a reset run finds ended may be replaced by its deadline: the run before has replaced it, or its
 * deadline has voided it, or nobody has voided it and it has lapsed. A hold that a command or a cancel has voided stays
 * voided, and so does one of which the histories tell nothing.
 */
export function isReplacedByDeadline(
  before: EarlierRuns,
  hold: FollowedHold,
  endedAs: 'voided' | 'expired' | 'captured',
): boolean {
  if (replacedAt(before, hold) !== undefined) return true;
  const voids = voidsOf(before, hold);
  if (voids.some(({ at }) => at >= before.deadline)) return true;
  return before.isKept && voids.length === 0 && endedAs === 'expired';
}

/** The sequence of the last void that the run before a reset sent before it replaced the hold. */
export function lastVoidBeforeNext(before: SentBefore, hold: FollowedHold): number {
  const replaced = replacedAt(before, hold) ?? Infinity;
  const sent = voidsOf(before, hold).filter(({ at }) => at <= replaced);
  return Math.max(hold.sequences.void, ...sent.map(({ sequence }) => sequence));
}

const VOID = 'void:';

/** Those that this run has not sent. */
function voidsOf({ firstSent }: SentBefore, { sequences }: FollowedHold): { sequence: number; at: number }[] {
  return Object.entries(firstSent)
    .filter(([call]) => call.startsWith(VOID))
    .map(([call, at]) => ({ sequence: Number(call.slice(VOID.length)), at }))
    .filter(({ sequence }) => sequence > sequences.void);
}
