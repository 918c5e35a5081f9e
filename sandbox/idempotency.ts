import type { Sandbox } from './context.js';
import type { BusinessUnit, Environment, RememberedKey } from './records.js';

/** How long the service remembers a key. After that the same key creates a new transaction. */
export const KEY_LIFE_MS = 24 * 3_600_000;

/** The scope within which one idempotency key is compared. */
export interface KeyUse {
  unit: BusinessUnit;
  env: Environment;
  path: string;
  key: string | undefined;
  /** Separates this use from others of the same key (tokens: the card). */
  detail?: string;
}

export function findKey(sandbox: Sandbox, use: KeyUse): RememberedKey | undefined {
  const remembered = use.key === undefined ? undefined : sandbox.store.keys.get(scopeOf(use));
  return remembered === undefined || remembered.expires <= sandbox.clock.now() ? undefined : remembered;
}

/** Stores the answer of a request that created a resource. A refused request leaves its key unused. */
export function rememberKey(
  sandbox: Sandbox,
  use: KeyUse,
  made: Pick<RememberedKey, 'resource' | 'resourceId' | 'status' | 'version'>,
  answer: string,
): void {
  if (use.key === undefined) return;
  const scope = scopeOf(use);
  const before = findKey(sandbox, use);
  // A later answer under the same key does not extend the key's life.
  const expires = before?.expires ?? sandbox.clock.now() + KEY_LIFE_MS;
  // Delete an expired row first: otherwise the new one takes its old place, which breaks the order by expiry.
  if (before === undefined) sandbox.store.keys.delete(scope);
  sandbox.store.keys.put({ scope, expires, ...made }, answer);
  sweepExpired(sandbox);
}

/** The stored first answer of a key, as text. */
export function storedAnswer(sandbox: Sandbox, remembered: RememberedKey): string {
  const answer = sandbox.store.cold(sandbox.store.keys, remembered.scope);
  if (answer === undefined) throw new Error('a remembered idempotency key has no stored answer');
  return answer;
}

/** Two requests have the same scope exactly if their keys count as the same. */
export function scopeOf({ unit, env, path, key, detail }: KeyUse): string {
  const place = unit.profile.key_scope === 'unit' ? '' : path;
  return JSON.stringify([unit.appId, env, place, key, detail]);
}

/** Keys are ordered by expiry, so deleting a few from the front at each write keeps memory bounded. */
function sweepExpired(sandbox: Sandbox): void {
  const now = sandbox.clock.now();
  const expired: string[] = [];
  for (const row of sandbox.store.keys.values()) {
    if (row.expires > now || expired.length >= 10) break;
    expired.push(row.scope);
  }
  for (const scope of expired) sandbox.store.keys.delete(scope);
}

/** Requests in progress by idempotency key: a second one with the same key waits or is refused. */
export class InFlight {
  private readonly last = new Map<string, Promise<void>>();

  has(scope: string): boolean {
    return this.last.has(scope);
  }

  /** Waits until earlier requests are done; the caller must call the returned function when it is done. */
  async enter(scope: string): Promise<() => void> {
    const before = this.last.get(scope);
    let release = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      release = resolve;
    });
    const turn = before === undefined ? done : before.then(() => done);
    this.last.set(scope, turn);
    if (before !== undefined) await before;
    return () => {
      if (this.last.get(scope) === turn) this.last.delete(scope);
      release();
    };
  }
}
