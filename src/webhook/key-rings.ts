import { randomBytes } from 'node:crypto';
import type { ReadRequest, Rejection } from './read-request.js';
import { verify } from './signature.js';

/** What the handler must know of a business unit. */
export interface WebhookUnit {
  name: string;
  appId: string;
  privateKey: string;
  /** Keys that were rotated out but may still sign events on their way. */
  previousPrivateKeys: readonly string[];
}

/** Made anew by each process, so nobody can have signed with it. */
const NOBODYS_KEY = randomBytes(32).toString('hex');

export type Proof = { ok: true; unit: string; keyIndex: number } | { ok: false; rejection: Rejection };
export type KeyRings = ReadonlyMap<string, { unit: string; keys: readonly string[] }>;

/** Throws, all faults named, when a unit has an empty key or two units share an app id. */
export function keyRings(units: Iterable<WebhookUnit>): KeyRings {
  const rings = new Map<string, { unit: string; keys: readonly string[] }>();
  const faults: string[] = [];
  for (const unit of units) {
    const keys = [unit.privateKey, ...unit.previousPrivateKeys];
    if (keys.includes('')) faults.push(`business unit ${unit.name} has an empty private key`);
    const other = rings.get(unit.appId);
    if (other !== undefined)
      faults.push(`business units ${other.unit} and ${unit.name} share the app id ${unit.appId}`);
    rings.set(unit.appId, { unit: unit.name, keys });
  }
  if (faults.length > 0) throw new Error(`webhooks cannot be verified:\n${faults.join('\n')}`);
  return rings;
}

/**
 * Whether the request comes from the service, for which unit, and by which key of its ring. A digest is computed in
 * every case, so that the time taken does not tell which check failed.
 */
export function prove(request: ReadRequest, rings: KeyRings, environment: string): Proof {
  const ring = rings.get(request.appId);
  const keyIndex = verify(request.values.join(','), request.signature, ring?.keys ?? [NOBODYS_KEY]);
  if (request.environment !== environment) return { ok: false, rejection: 'environment' };
  if (ring === undefined) return { ok: false, rejection: 'unknownApp' };
  if (keyIndex === undefined) return { ok: false, rejection: 'badSignature' };
  return { ok: true, unit: ring.unit, keyIndex };
}
