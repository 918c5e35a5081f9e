import type { SentBefore } from '../contract/records.js';
import type { HoldTerms } from './hold.js';

/** The part of a hold by which the calls and commands of earlier runs are told apart. */
interface FollowedHold {
  /** From 1; the sequence of its payment and of its authorization. */
  readonly number: number;
  /** Epoch ms. */
  readonly authorizedAt: number;
  readonly terms: Pick<HoldTerms, 'captureBy'>;
  /** The last sequence of a void before the hold began. */
  readonly voidsBefore: number;
  /** The last ones that this run has used. */
  readonly sequences: Readonly<Record<'capture' | 'void', number>>;
}

/** Between the clocks of the service, the engine and a worker. */
export const CLOCKS_DIFFER_MS = 10 * 60_000;

/** What the runs before a reset have sent and been told, and when the deadline of the hold was for them (epoch ms). */
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

/** True if the run before a reset has authorized the hold that followed this one: somebody must follow that. */
export function isReplaced({ firstSent }: SentBefore, { number }: FollowedHold): boolean {
  return firstSent[`authorize:${number + 1}`] !== undefined;
}

/** When a hold began to be made (epoch ms); undefined for one that the runs before have not made. */
function begunAt({ firstSent }: SentBefore, number: number): number | undefined {
  return number === 1 ? Number.NEGATIVE_INFINITY : firstSent[`createPayment:${number}`];
}

/**
 * The hold that a command was for which the engine gives again, by when the run before a reset accepted it: an earlier
 * one than this, which has answered it, this one, or a later one, for which it has to wait.
 */
export function holdOfCommand(before: SentBefore, hold: FollowedHold, commandId: string): 'earlier' | 'this' | 'later' {
  const accepted = Object.hasOwn(before.commands, commandId) ? before.commands[commandId] : undefined;
  const replaced = begunAt(before, hold.number + 1);
  // Given since the reset, it is for the hold that there is now.
  if (accepted === undefined) return replaced === undefined ? 'this' : 'later';
  if (replaced !== undefined && accepted.at > replaced) return 'later';
  const begun = begunAt(before, hold.number);
  const isOver = accepted.answered && (begun === undefined || accepted.at < begun);
  return isOver ? 'earlier' : 'this';
}

/**
 * True if a run before the reset has sent the capture of this sequence for this command: the first one after that was
 * accepted, and before any other was.
 */
export function isCaptureOf(before: SentBefore, commandId: string, sequence: number): boolean {
  const given = Object.hasOwn(before.commands, commandId) ? before.commands[commandId] : undefined;
  const sentAt = before.firstSent[`capture:${sequence}`];
  if (given?.name !== 'capture' || sentAt === undefined || sentAt < given.at) return false;
  const isBetween = ({ at }: { at: number }): boolean => at > given.at && at <= sentAt;
  const others = Object.values(before.commands).filter((one) => one !== given && one.name === 'capture');
  const earlier = callsOf(before, 'capture').filter((call) => call.sequence < sequence && call.at >= given.at);
  return earlier.length === 0 && !others.some(isBetween);
}

/**
 * True if a hold that a reset run finds ended may be replaced by its deadline: the run before has replaced it, or its
 * deadline has voided it, or nobody has voided it and it has lapsed. A hold that a command or a cancel was to void stays
 * as it is, and so does one with which the run before has ended, or of which the histories tell nothing.
 */
export function isReplacedByDeadline(
  before: EarlierRuns,
  hold: FollowedHold,
  endedAs: 'voided' | 'expired' | 'captured',
): boolean {
  if (isReplaced(before, hold)) return true;
  // Whoever was told so may have had the order paid otherwise.
  if (before.hasEnded === true) return false;
  const begun = begunAt(before, hold.number) ?? hold.authorizedAt;
  const isToldToVoid = Object.values(before.commands).some(({ name, at }) => name === 'void' && at >= begun);
  if (before.cancelled || isToldToVoid) return false;
  const voids = callsOf(before, 'void').filter(({ sequence }) => sequence > hold.voidsBefore);
  if (voids.some(({ at }) => at >= before.deadline)) return true;
  return before.isKept && voids.length === 0 && endedAs === 'expired';
}

/** The last sequences that the hold, in this run or in those before, has used in keys: the next hold takes later ones. */
export function lastSequences(before: SentBefore, hold: FollowedHold): { capture: number; void: number } {
  const replaced = begunAt(before, hold.number + 1) ?? Number.POSITIVE_INFINITY;
  const last = (operation: 'capture' | 'void'): number => {
    const sent = callsOf(before, operation).filter(({ at }) => at <= replaced);
    return Math.max(hold.sequences[operation], ...sent.map(({ sequence }) => sequence));
  };
  return { capture: last('capture'), void: last('void') };
}

function callsOf({ firstSent }: SentBefore, operation: 'capture' | 'void'): { sequence: number; at: number }[] {
  const prefix = `${operation}:`;
  return Object.entries(firstSent)
    .filter(([call]) => call.startsWith(prefix))
    .map(([call, at]) => ({ sequence: Number(call.slice(prefix.length)), at }));
}
