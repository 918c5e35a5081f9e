import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** The parts that make two requests the same (money rule 2). */
export interface FingerprintParts {
  type: string;
  reference: string;
  amount: number;
  currency: string;
  businessUnit: string;
  token?: string | undefined;
  customerId?: string | undefined;
  /** Subscriptions only: see `flows.ts`. */
  plan?: readonly unknown[];
}

/**
 * SHA-256 (hex) of the canonical parts. Pure JavaScript, because a flow that our client didn't start computes it too,
 * inside the workflow sandbox.
 */
export function fingerprint(parts: FingerprintParts): string {
  const canonical = JSON.stringify([
    parts.type,
    parts.reference,
    parts.amount,
    parts.currency,
    parts.businessUnit,
    canonicalId(parts.token),
    canonicalId(parts.customerId),
    ...(parts.plan === undefined ? [] : [parts.plan]),
  ]);
  return hashOf(canonical);
}

/** SHA-256 (hex) of a text. */
export function hashOf(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/** A UUID may be in upper or lower case; other ids are compared unchanged. */
function canonicalId(id: string | undefined): string | null {
  return id !== undefined && /^[0-9a-f-]{36}$/i.test(id) ? id.toLowerCase() : (id ?? null);
}
