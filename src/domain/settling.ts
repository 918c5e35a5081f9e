import type { KnownBy } from '../contract/statuses.js';
import type { TransactionRecord } from '../contract/transaction.js';
import {
  NETWORK_ERROR_BELIEVED_AFTER_MS,
  NETWORK_ERROR_REPOSTS_MS,
  pollDelay,
  PROVIDER_ERROR_READ_AFTER_MS,
} from './schedules.js';
import { isUnconfirmedFailure } from './transitions.js';

/** Progress of waiting for one transaction's final status. */
export interface SettlingProgress {
  polls: number;
  /** POSTs repeated under the same key because the provider could not be reached. */
  reposts: number;
  /** false if the window has closed or the transaction is foreign. */
  canRepost: boolean;
  /** A read has been answered since the transaction was first seen. */
  readBack: boolean;
  /** ms since `provider_network_error` was first seen. */
  unconfirmedForMs: number;
}

export type NextStep = { end: true; confirmed: boolean } | { end: false; waitMs: number; by: 'read' | 'repost' };

/**
 * The next step towards a final status. `Succeed` is final. A failure is final with two exceptions: `provider_error` in
 * a reply is read once more, and `provider_network_error` is sent again under the same key, then read for an hour,
 * before it counts as an unconfirmed decline.
 */
export function nextSettlingStep(record: TransactionRecord, knownBy: KnownBy, progress: SettlingProgress): NextStep {
  if (isUnconfirmedFailure(record)) {
    if (progress.unconfirmedForMs >= NETWORK_ERROR_BELIEVED_AFTER_MS) return { end: true, confirmed: false };
    const repostIn = progress.canRepost ? NETWORK_ERROR_REPOSTS_MS[progress.reposts] : undefined;
    if (repostIn !== undefined) return { end: false, waitMs: repostIn, by: 'repost' };
    const left = NETWORK_ERROR_BELIEVED_AFTER_MS - progress.unconfirmedForMs;
    return { end: false, waitMs: Math.min(pollDelay(progress.polls), left), by: 'read' };
  }
  if (record.status === 'Pending') return { end: false, waitMs: pollDelay(progress.polls), by: 'read' };
  if (record.status === 'Failed' && record.category === 'provider_error' && knownBy === 'reply' && !progress.readBack) {
    return { end: false, waitMs: PROVIDER_ERROR_READ_AFTER_MS, by: 'read' };
  }
  return { end: true, confirmed: true };
}
