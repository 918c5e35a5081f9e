import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * Operations with an idempotency key. Names have at most 16 letters, so that the longest key (`payment-` + 50 + `:` +
 * 16 + `:` + 2) fits the strictest provider's limit of 78 characters.
 */
export const KEYED_OPERATIONS = [
  'createPayment',
  'createCharge',
  'authorize',
  'capture',
  'void',
  'refund',
  'credit',
  'analyseRisk',
  'createCustomer',
  'storeCard',
] as const;
export type KeyedOperation = (typeof KEYED_OPERATIONS)[number];

export const MAX_KEY_LENGTH = 78;

/**
 * The idempotency key of one money operation (money rule 3). It is the same for every attempt, worker, run and reset,
 * because it consists of the flow's id and the operation only. It must never contain a run id, an attempt number or a
 * random part.
 */
export function idempotencyKey(workflowId: string, operation: KeyedOperation, sequence: number | string): string {
  return `${workflowId}:${operation}:${sequence}`;
}

/**
 * Sequence part of the key of a command to an ended payment. It stays the same when the workflow closes and opens
 * again.
 */
export function commandSequence(commandId: string): string {
  return `${bytesToHex(sha256(utf8ToBytes(commandId))).slice(0, 12)}-1`;
}

/** Letters of the longest command id that a flow takes. */
export const MAX_COMMAND_ID = 200;

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

/** A command without who, why and commandId. Two requests with the same text are the same request. */
export function canonical(request: object): string {
  const { who: _who, why: _why, commandId: _id, ...asked } = request as Record<string, unknown>;
  return JSON.stringify(Object.entries(asked).sort(([x], [y]) => (x < y ? -1 : 1)));
}

/** The same as a flow keeps it: Temporal's JSON leaves out what is undefined. */
export function asWritten(request: object): string {
  return canonical(JSON.parse(JSON.stringify(request)) as object);
}

/** Why the id of an earlier command can't be used for another one. */
export function describeReuse(commandId: string, earlier: string): string {
  return `command "${commandId}" was already given as ${earlier} with another request; use a new commandId`;
}
