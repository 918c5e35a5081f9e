import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** What makes two requests the same request (money rule 2). */
export interface FingerprintParts {
  type: string;
  reference: string;
  amount: number;
  currency: string;
  businessUnit: string;
  token?: string | undefined;
  customerId?: string | undefined;
  /** Of a subscription only: see `flows.ts`. */
  plan?: readonly unknown[];
}

/**
 * SHA-256 (hex) over the canonical parts. Pure JavaScript because the flow computes it too, inside the
 * workflow sandbox, for runs that were started without our client.
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

/** The letters of a UUID may be of either case; any other id is what it is. */
function canonicalId(id: string | undefined): string | null {
  return id !== undefined && /^[0-9a-f-]{36}$/i.test(id) ? id.toLowerCase() : (id ?? null);
}
