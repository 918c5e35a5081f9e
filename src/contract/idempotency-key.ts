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
