import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * Operations that carry an idempotency key. Names of at most 16 letters, so that the longest key
 * (`payment-` + 50 + `:` + 16 + `:` + 2) fits the 78 characters that the strictest provider takes.
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
 * The idempotency key of one money operation: the same for every attempt, from any worker, in any
 * run and after any reset, because it is made of nothing but the flow's id and the operation.
 * It must never hold a run id, an attempt number or a random part.
 */
export function idempotencyKey(workflowId: string, operation: KeyedOperation, sequence: number | string): string {
  return `${workflowId}:${operation}:${sequence}`;
}

/**
 * What stands for the sequence in the key of a command to an ended payment: the same whenever the workflow has
 * closed and opened again.
 */
export function commandSequence(commandId: string): string {
  return `${bytesToHex(sha256(utf8ToBytes(commandId))).slice(0, 12)}-1`;
}
