import type { Brake, BrakeRequest, Brakes, ReleaseRequest, Stoppable } from '../contract/brakes.js';

/** The latest changes are kept: workers read them with the brakes, every few seconds. */
const MOST_CHANGES = 50;

export const NO_BRAKES: Brakes = Object.freeze({ braked: [], changes: [] });

export function brakeOf({ braked }: Brakes, businessUnit: string): Brake | undefined {
  return braked.find((brake) => brake.businessUnit === businessUnit);
}

export function isStopped(brake: Brake, what: Stoppable): boolean {
  return what === 'payments' || brake[what] === true;
}

/** A part of a sentence. */
export function sayBrake({ businessUnit, since, who, why }: Brake): string {
  return `business unit "${businessUnit}" is braked since ${since} by ${who}: ${why}`;
}

/** Another brake of the same unit replaces what is stopped, by whom and why. */
export function withBrake(brakes: Brakes, request: BrakeRequest, at: string): Brakes {
  const since = brakeOf(brakes, request.businessUnit)?.since ?? at;
  return {
    braked: [...others(brakes, request), { ...request, since }],
    changes: [...brakes.changes, { did: 'brake' as const, at, ...request }].slice(-MOST_CHANGES),
  };
}

export function withoutBrake(brakes: Brakes, { since: _since, ...request }: ReleaseRequest, at: string): Brakes {
  return {
    braked: others(brakes, request),
    changes: [...brakes.changes, { did: 'release' as const, at, ...request }].slice(-MOST_CHANGES),
  };
}

function others({ braked }: Brakes, { businessUnit }: ReleaseRequest): Brake[] {
  return braked.filter((brake) => brake.businessUnit !== businessUnit);
}

/** What a memo, or an earlier run, has kept; undefined if it can't be read. */
export function brakesIn(kept: unknown): Brakes | undefined {
  if (typeof kept !== 'object' || kept === null || !('braked' in kept) || !('changes' in kept)) return undefined;
  return Array.isArray(kept.braked) && Array.isArray(kept.changes) ? (kept as Brakes) : undefined;
}
