import { patched } from '@temporalio/workflow';
import { PATCHES } from '../../src/contract/names.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import { NETWORK_ERROR_BELIEVED_AFTER_MS } from '../../src/domain/schedules.js';
import { isOpenToTries, isUnconfirmedFailure } from '../../src/domain/settling.js';
import type { Attempted } from './attempt.js';

/** A transaction's record, and how it is known. */
export interface Known {
  record: TransactionRecord;
  knownBy: KnownBy;
}

/** What a repost has come to; `unanswered`: it may still arrive. */
export type Reposted = Known | 'unanswered' | undefined;

interface Followed {
  known: Known;
  /** Epoch ms. */
  unconfirmedSince?: number | undefined;
  /** Epoch ms: when a try that had no answer arrives at the latest. */
  triesUntil?: number;
}

/**
 * Marks what a read has shown of an operation that has had no answer: several tries of its key may have left, of which one
 * has made it, and another may still arrive and change it. An activity has marked what answers a POST: that counts for nothing
 * in a run of older code, which has decided without it.
 */
export function markUnanswered(seen: Known): Known {
  const { record, knownBy } = seen;
  const isMarked = record.earlierTryOpen === true;
  if (!isMarked && (knownBy === 'reply' || !isOpenToTries(record))) return seen;
  if (patched(PATCHES.doubtsFailures)) return { record: { ...record, earlierTryOpen: true }, knownBy };
  const { earlierTryOpen: _unread, ...plain } = record;
  return { record: plain, knownBy };
}

/** What a list has shown that this run has not sent: which tries of the run before have had an answer nobody knows. */
export function foundBefore(record: TransactionRecord): Known {
  return markUnanswered({ record, knownBy: 'poll' });
}

export function triesUntil({ record }: Known): { triesUntil?: number } {
  return record.earlierTryOpen === true ? { triesUntil: Date.now() + NETWORK_ERROR_BELIEVED_AFTER_MS } : {};
}

/** The flow knows of all tries before a repost what their answers were: its activity knows only that they have left. */
export function answerToRepost(sent: Attempted<TransactionRecord>): Reposted {
  if (sent.answer === undefined) return sent.unanswered === true ? 'unanswered' : undefined;
  const { earlierTryOpen: _known, ...record } = sent.answer;
  const known = { record, knownBy: sent.knownBy };
  // Where a read has shown it, the repost is still on its way.
  return markUnanswered(known);
}

/** Marks what is known already, since a repost of it may still arrive. */
export function noteUnansweredRepost(followed: Followed): void {
  const { record } = followed.known;
  if (!isUnconfirmedFailure(record) || !patched(PATCHES.doubtsFailures)) return;
  followed.known = { ...followed.known, record: { ...record, earlierTryOpen: true } };
  followed.triesUntil = Date.now() + NETWORK_ERROR_BELIEVED_AFTER_MS;
}

/** What pended for longer than any try is on its way has failed for good. */
export function forgetOldTries(followed: Followed): void {
  const { known, unconfirmedSince, triesUntil: until = 0 } = followed;
  if (known.record.earlierTryOpen !== true || unconfirmedSince !== undefined || Date.now() < until) return;
  const { earlierTryOpen: _old, ...record } = known.record;
  followed.known = { ...known, record };
}
