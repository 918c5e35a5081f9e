import type { Brake, BrakeChange, BrakeRequest, Brakes, ReleaseRequest, Stoppable } from '../contract/brakes.js';

/** The latest changes are kept: workers read them with the brakes, every few seconds. */
const MOST_CHANGES = 50;

export const NO_BRAKES: Brakes = Object.freeze({ braked: [], changes: [] });

export function brakeOf({ braked }: Brakes, businessUnit: string): Brake | undefined {
  return braked.find((brake) => brake.businessUnit === businessUnit);
}

export function isStopped(brake: Brake, what: Stoppable): boolean {
  return what === 'payments' || brake[what] === true;
}

/** When it was last braked (ISO 8601 UTC), by whomever: a release names it, so that it lifts no brake that came after. */
export function brakedAt({ changes }: Brakes, { businessUnit, since }: Brake): string {
  return changes.findLast((change) => change.did === 'brake' && change.businessUnit === businessUnit)?.at ?? since;
}

/** A part of a sentence. */
export function sayBrake({ businessUnit, since, who, why }: Brake): string {
  return `business unit "${businessUnit}" is braked since ${since} by ${who}: ${why}`;
}

/** Another brake of the same unit replaces what is stopped, by whom and why. */
export function withBrake(brakes: Brakes, request: BrakeRequest, at: string): Brakes {
  const since = brakeOf(brakes, request.businessUnit)?.since ?? at;
  return kept(
    [...others(brakes, request), { ...request, since }],
    [...brakes.changes, { did: 'brake', at, ...request }],
  );
}

export function withoutBrake(brakes: Brakes, { since: _since, ...request }: ReleaseRequest, at: string): Brakes {
  return kept(others(brakes, request), [...brakes.changes, { did: 'release', at, ...request }]);
}

/** The last brake of a unit that is braked is kept as well: a release is compared with it. */
function kept(braked: Brake[], changes: readonly BrakeChange[]): Brakes {
  const compared = new Set(braked.map((brake) => brakedAt({ braked, changes: [...changes] }, brake)));
  const isKept = ({ did, at }: BrakeChange, index: number): boolean =>
    index >= changes.length - MOST_CHANGES || (did === 'brake' && compared.has(at));
  return { braked, changes: changes.filter(isKept) };
}

function others({ braked }: Brakes, { businessUnit }: ReleaseRequest): Brake[] {
  return braked.filter((brake) => brake.businessUnit !== businessUnit);
}

/** What a memo, or an earlier run, has kept; undefined if it can't be read. */
export function brakesIn(kept: unknown): Brakes | undefined {
  if (typeof kept !== 'object' || kept === null || !('braked' in kept) || !('changes' in kept)) return undefined;
  return Array.isArray(kept.braked) && Array.isArray(kept.changes) ? (kept as Brakes) : undefined;
}
