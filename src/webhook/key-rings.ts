import { randomBytes } from 'node:crypto';
import { digestFits, followHref, type LegacyPointer } from './legacy.js';
import type { LegacyRequest, ReadRequest, Rejection, SignedRequest } from './read-request.js';
import { verify } from './signature.js';

/** Settings of a business unit that the handler needs. */
export interface WebhookUnit {
  name: string;
  appId: string;
  privateKey: string;
  /** Rotated keys that may have signed events still in transit. */
  previousPrivateKeys: readonly string[];
  /** Accepts events of version 1.0.1 and older, which are unsigned. Default false. */
  legacyWebhooks?: boolean;
}

/** Random key of this process, so no sender can have signed with it. */
const NOBODYS_KEY = randomBytes(32).toString('hex');

export type Proof =
  | { ok: true; unit: string; keyIndex: number }
  /** An unsigned event; the unit accepts those. */
  | { ok: true; unit: string; pointer: LegacyPointer }
  | { ok: false; rejection: Rejection; message?: string };
interface Ring {
  unit: string;
  keys: readonly string[];
  legacy: boolean;
}
export type KeyRings = ReadonlyMap<string, Ring>;

/**
 * Throws with all faults when a unit has an empty key, two units share an app id, or a unit accepts legacy events and
 * `apiBaseUrl` is missing.
 */
export function keyRings(units: Iterable<WebhookUnit>, apiBaseUrl: string | undefined): KeyRings {
  const rings = new Map<string, Ring>();
  const faults: string[] = [];
  for (const unit of units) {
    const keys = [unit.privateKey, ...unit.previousPrivateKeys];
    const legacy = unit.legacyWebhooks ?? false;
    if (keys.includes('')) faults.push(`business unit ${unit.name} has an empty private key`);
    if (legacy && (apiBaseUrl === undefined || !URL.canParse(apiBaseUrl))) {
      faults.push(`business unit ${unit.name} takes legacy webhooks, which needs the address of the payment service`);
    }
    const other = rings.get(unit.appId);
    if (other !== undefined)
      faults.push(`business units ${other.unit} and ${unit.name} share the app id ${unit.appId}`);
    rings.set(unit.appId, { unit: unit.name, keys, legacy });
  }
  if (faults.length > 0) throw new Error(`webhooks cannot be verified:\n${faults.join('\n')}`);
  return rings;
}

export interface ProofContext {
  rings: KeyRings;
  environment: string;
  apiBaseUrl: string | undefined;
}

/**
 * Whether the request comes from the service, for which unit, and signed with which key of its ring. For a legacy
 * event, only checks the digest, that its unit accepts such events and that it points to the service.
 */
export function prove(request: ReadRequest, context: ProofContext): Proof {
  return request.generation === 'signed' ? proveSigned(request, context) : checkLegacy(request, context);
}

/** Always computes a digest, so that response times don't reveal which check failed. */
function proveSigned(request: SignedRequest, { rings, environment }: ProofContext): Proof {
  const ring = rings.get(request.appId);
  const keyIndex = verify(request.values.join(','), request.signature, ring?.keys ?? [NOBODYS_KEY]);
  if (request.environment !== environment) return { ok: false, rejection: 'environment' };
  if (ring === undefined) return { ok: false, rejection: 'unknownApp' };
  if (keyIndex === undefined) return { ok: false, rejection: 'badSignature' };
  return { ok: true, unit: ring.unit, keyIndex };
}

function checkLegacy(request: LegacyRequest, { rings, environment, apiBaseUrl = '' }: ProofContext): Proof {
  const ring = rings.get(request.appId);
  if (request.environment !== environment) return { ok: false, rejection: 'environment' };
  if (ring === undefined) return { ok: false, rejection: 'unknownApp' };
  if (!ring.legacy) return { ok: false, rejection: 'legacyRefused' };
  if (!digestFits(request.digest, request.bodyHash)) return { ok: false, rejection: 'badDigest' };
  const { pointer } = request;
  if ('fault' in pointer) return { ok: false, rejection: 'shape', message: pointer.fault };
  const named = followHref(pointer, apiBaseUrl);
  if ('fault' in named) return { ok: false, rejection: 'address', message: named.fault };
  return { ok: true, unit: ring.unit, pointer: { ...pointer, ...named } };
}
