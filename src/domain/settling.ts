import type { KnownBy } from '../contract/statuses.js';
import type { TransactionRecord } from '../contract/transaction.js';
import {
  NETWORK_ERROR_BELIEVED_AFTER_MS,
  NETWORK_ERROR_REPOSTS_MS,
  pollDelay,
  PROVIDER_ERROR_READ_AFTER_MS,
} from './schedules.js';
import { isUnconfirmedFailure } from './transitions.js';

/** How far the following of one transaction has come. */
export interface SettlingProgress {
  polls: number;
  /** POSTs sent again under the same key because the provider could not be reached. */
  reposts: number;
  /** False when the window has closed or the transaction was made elsewhere. */
  canRepost: boolean;
  /** A read has answered since the transaction was first seen. */
  readBack: boolean;
  /** ms for which `provider_network_error` has stood. */
  unconfirmedForMs: number;
}

export type NextStep = { end: true; confirmed: boolean } | { end: false; waitMs: number; by: 'read' | 'repost' };

/**
 * The next step towards a final status. `Succeed` is final. A failure is too, with two exceptions: an
 * answer of `provider_error` is read back once, and `provider_network_error` is asked again under the
 * same key, then read for an hour, before it is taken for a decline that nobody confirmed.
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
