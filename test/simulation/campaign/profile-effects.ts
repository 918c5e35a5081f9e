import { groupBy, type LedgerEntry } from '../../../tools/audit/ledger.js';
import type { PaymentRecord } from '../../../tools/audit/payment-record.js';
import type { PassedRequest } from '../world/strategies.js';
import type { Counts } from './counts.js';

const KIND = 'profile took effect';
/** Those that take effect in every campaign that is large enough. */
export const EFFECTS: readonly string[] = ['replayed-network-errors'];

/**
 * Counts how often a profile has behaved otherwise than the default, for profiles that need a coincidence for it: without
 * one their flows prove nothing.
 */
export function countEffects(
  passed: readonly PassedRequest[],
  records: readonly PaymentRecord[],
  ledger: readonly LedgerEntry[],
  counts: Counts,
): void {
  const posts = groupBy(
    passed.filter(({ method, key }) => method === 'POST' && key !== undefined),
    ({ key, path }) => `${key} ${path}`,
  );
  for (const { reference, profile } of records) {
    const own = [...posts].filter(([name]) => name.includes(reference)).map(([, list]) => list);
    if (profile.startsWith('conflict-in-flight'))
      counts.add(KIND, 'conflict-in-flight', own.filter(hasConflict).length);
    const entries = ledger.filter(({ reconciliation_id: id }) => id === reference);
    if (profile.startsWith('replayed-network-errors'))
      counts.add(KIND, 'replayed-network-errors', own.filter((list) => isRepeatedFailure(list, entries)).length);
    const lapsed = entries.find(({ kind }) => kind === 'lapse');
    const isLate = (one: LedgerEntry): boolean => Number(one.created) > Number(lapsed?.created ?? Infinity);
    if (profile.startsWith('silent-holds') && entries.some(isLate)) counts.add(KIND, 'silent-holds');
  }
}

/** Refused, while another request with the same key made what it asked for. */
function hasConflict(posts: readonly PassedRequest[]): boolean {
  return posts.some(({ outcome }) => outcome === 409) && posts.some(({ outcome }) => outcome === 201);
}

/** Answered more than once, and what it has made failed: the answer was replayed. */
function isRepeatedFailure(posts: readonly PassedRequest[], entries: readonly LedgerEntry[]): boolean {
  const made = entries.find(({ idempotency_key: key }) => key === posts[0]?.key);
  return made?.status === 'Failed' && posts.filter(({ outcome }) => outcome === 201).length > 1;
}
