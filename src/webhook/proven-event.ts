import type { TransactionEvent } from '../contract/messages.js';
import type { Proof } from './key-rings.js';
import { legacyEvent } from './legacy.js';
import type { ReadRequest } from './read-request.js';
import { readEvent, type UnusableField } from './transaction-event.js';

/** An event of either generation, after every check. */
export interface ProvenEvent {
  /** False for a legacy event, which has only a digest. */
  signed: boolean;
  eventType: string;
  version: string;
  unit: string;
  /** Index of the signing key in the unit's key ring, 0 for the current key. */
  keyIndex: number | undefined;
  created: string;
  event: TransactionEvent | undefined;
  unusable: readonly UnusableField[];
}

export function readProven(request: ReadRequest, proof: Extract<Proof, { ok: true }>): ProvenEvent {
  const { version } = request;
  const { unit } = proof;
  if (request.generation === 'signed') {
    const keyIndex = 'keyIndex' in proof ? proof.keyIndex : undefined;
    const read = readEvent(request.values, unit);
    return { signed: true, eventType: request.values[0] ?? '', version, unit, keyIndex, ...read };
  }
  if (!('pointer' in proof)) throw new Error('an unsigned event was proven as a signed one');
  const { pointer } = proof;
  const { eventType, created } = pointer;
  const event = legacyEvent(pointer, { bodyHash: request.bodyHash, businessUnit: unit });
  return { signed: false, eventType, version, unit, keyIndex: undefined, created, event, unusable: [] };
}
