import { hash } from 'node:crypto';
import { amountSchema, currencySchema } from '../contract/fields.js';
import type { TransactionEvent } from '../contract/messages.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../contract/statuses.js';
import type { Proof } from './key-rings.js';
import { legacyEvent } from './legacy.js';
import type { ReadRequest } from './read-request.js';
import { saysDisputed } from './says-disputed.js';
import { SIGNED_TEXT_COMMAS } from './signature.js';

/** A field whose signed value can't be used. The event omits it and triggers a read. */
export type UnusableField = 'status' | 'amount' | 'currency' | 'length';

interface ReadEvent {
  /** undefined when the event names no payment, so that no flow can use it. */
  event: TransactionEvent | undefined;
  unusable: UnusableField[];
  created: string;
}

/** Far above every known value of the service; a longer text could fill a history. */
const MAX_VALUE_LENGTH = 512;

/**
 * Creates the event from the signed values alone, so that no unsigned data reaches a flow and the same signed text
 * always gives the same event, whatever the JSON around it.
 * An unusable value (an amount that is not a whole number of minor units, an unknown status) is left out and named in
 * `unusable`, never guessed.
 */
export function readEvent(values: readonly string[], businessUnit: string): ReadEvent {
  const text = values.join(',');
  const unusable: UnusableField[] = [];
  const value = (index: number): string | undefined => {
    const found = values[index];
    if (found === undefined || found === '') return undefined;
    if (found.length <= MAX_VALUE_LENGTH) return found;
    unusable.push('length');
    return undefined;
  };
  const usable = <T>(field: UnusableField, found: string | undefined, read: (from: string) => T | undefined) => {
    const result = found === undefined ? undefined : read(found);
    if (found !== undefined && result === undefined) unusable.push(field);
    return result;
  };

  const eventType = value(0);
  const eventId = value(1);
  const paymentId = value(3);
  const created = value(4) ?? '';
  const fields = {
    transactionId: value(6),
    status: usable('status', value(7), readStatus),
    category: value(8),
    subCategory: value(9),
    responseCode: value(10),
    reconciliationId: value(11),
    amount: usable('amount', value(12), readAmount),
    currency: usable('currency', value(13), readCurrency),
  };
  if (eventType === undefined || paymentId === undefined) return { event: undefined, unusable, created };
  const event: TransactionEvent = {
    hash: hash('sha256', text, 'hex'),
    ...(eventId !== undefined && { eventId }),
    eventType,
    created,
    businessUnit,
    paymentId,
    ...withoutAbsent(fields),
    ...(unusable.includes('status') && { unknownStatus: true as const }),
    ...((unusable.includes('amount') || unusable.includes('currency')) && { unknownSum: true as const }),
    trusted: text.split(',').length - 1 === SIGNED_TEXT_COMMAS,
  };
  return { event, unusable, created };
}

function readStatus(text: string): TransactionStatus | undefined {
  return TRANSACTION_STATUSES.find((status) => status === text);
}

function readAmount(text: string): number | undefined {
  if (!/^\d{1,16}$/.test(text)) return undefined;
  const amount = amountSchema.safeParse(Number(text));
  return amount.success ? amount.data : undefined;
}

function readCurrency(text: string): string | undefined {
  return currencySchema.safeParse(text).data;
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function withoutAbsent<T extends object>(fields: T): Present<T> {
  const present: Partial<T> = {};
  for (const name in fields) if (fields[name] !== undefined) present[name] = fields[name];
  return present as Present<T>;
}

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
  /** It says that the payment is charged back, beside what is signed. */
  disputed?: true;
}

export function readProven(request: ReadRequest, proof: Extract<Proof, { ok: true }>): ProvenEvent {
  const { version } = request;
  const { unit } = proof;
  if (request.generation === 'signed') {
    const keyIndex = 'keyIndex' in proof ? proof.keyIndex : undefined;
    const read = readEvent(request.values, unit);
    const disputed = request.disputed === true ? { disputed: true as const } : {};
    return { signed: true, eventType: request.values[0] ?? '', version, unit, keyIndex, ...read, ...disputed };
  }
  if (!('pointer' in proof)) throw new Error('an unsigned event was proven as a signed one');
  const { pointer } = proof;
  const { eventType, created } = pointer;
  const event = legacyEvent(pointer, { bodyHash: request.bodyHash, businessUnit: unit });
  // Its type alone can say so: what the payment says stands at the service.
  const disputed = saysDisputed(eventType, {}) ? { disputed: true as const } : {};
  return { signed: false, eventType, version, unit, keyIndex: undefined, created, event, unusable: [], ...disputed };
}
