import { groupBy, type LedgerEntry } from '../../../tools/audit/ledger.js';
import type { PaymentRecord } from '../../../tools/audit/payment-record.js';
import type { ProfileUnit } from '../../../tools/stack/profile-units.js';
import type { PassedRequest } from '../world/strategies.js';
import type { Counts } from './counts.js';

const KIND = 'profile took effect';

/**
 * Counts how often a service has behaved otherwise than the default, for profiles that need a coincidence for it: without
 * one their flows prove nothing.
 */
export function countEffects(
  passed: readonly PassedRequest[],
  records: readonly PaymentRecord[],
  units: readonly ProfileUnit[],
  ledger: readonly LedgerEntry[],
  counts: Counts,
): void {
  const posts = groupBy(
    passed.filter(({ method, key }) => method === 'POST' && key !== undefined),
    ({ key, path }) => `${key} ${path}`,
  );
  const profiles = new Map(units.map(({ name, profile }) => [name, profile]));
  for (const { reference, profile: unit } of records) {
    const profile = profiles.get(unit) ?? {};
    const own = [...posts].filter(([name]) => name.includes(reference)).map(([, list]) => list);
    const entries = ledger.filter(({ reconciliation_id: id }) => id === reference);
    if (profile.same_key_in_flight === 'conflict')
      counts.add(KIND, 'same key in flight refused', own.filter(hasConflict).length);
    if (profile.replay_network_errors === true)
      counts.add(KIND, 'failure replayed', own.filter((list) => isRepeatedFailure(list, entries)).length);
    const lapsed = entries.find(({ kind }) => kind === 'lapse');
    const isLate = (one: LedgerEntry): boolean => Number(one.created) > Number(lapsed?.created ?? Infinity);
    if (profile.expired_hold === 'fails_capture' && entries.some(isLate)) counts.add(KIND, 'hold lapsed in silence');
  }
}

/** Refused, while another request with the same key made what it asked for. */
function hasConflict(posts: readonly PassedRequest[]): boolean {
  return posts.some(({ outcome }) => outcome === 409) && posts.some(({ outcome }) => outcome === 201);
}

/** Answered more than once, and what it has made failed: for whatever reason, the answer was replayed. */
function isRepeatedFailure(posts: readonly PassedRequest[], entries: readonly LedgerEntry[]): boolean {
  const made = entries.find(({ idempotency_key: key }) => key === posts[0]?.key);
  return made?.status === 'Failed' && posts.filter(({ outcome }) => outcome === 201).length > 1;
}
