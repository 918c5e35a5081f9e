import { createHash } from 'node:crypto';
import { amountSchema, currencySchema } from '../contract/fields.js';
import type { TransactionEvent } from '../contract/messages.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../contract/statuses.js';
import { SIGNED_TEXT_COMMAS } from './signature.js';

/** A field whose signed value could not be used. It is left out of the event, which then triggers a read. */
export type UnusableField = 'status' | 'amount' | 'currency' | 'length';

export interface ReadEvent {
  /** Undefined when the event names no payment: no flow could do anything with it. */
  event: TransactionEvent | undefined;
  unusable: UnusableField[];
  created: string;
}

/** Far above every value the service is known to send; keeps a stray text from filling a history. */
const MAX_VALUE_LENGTH = 512;

/**
 * The event that the signed values say. Made from them alone, so that nothing the signature does not cover can reach a
 * flow, and one signed text always makes one event, whatever the JSON around it looked like.
 * A value of no use (an amount that is not a whole number of minor units, a status nobody knows) is left out and named
 * in `unusable`, never guessed at.
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
    hash: createHash('sha256').update(text, 'utf8').digest('hex'),
    ...(eventId !== undefined && { eventId }),
    eventType,
    created,
    businessUnit,
    paymentId,
    ...withoutAbsent(fields),
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
  return Object.fromEntries(Object.entries(fields).filter(([, found]) => found !== undefined)) as Present<T>;
}
