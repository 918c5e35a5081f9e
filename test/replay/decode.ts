import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Payload, PayloadCodec } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { UNDECODABLE_KEY } from '../../src/contract/payload-marks.js';

export type History = temporal.api.history.v1.IHistory;
export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
export type Failure = temporal.api.failure.v1.IFailure;

/** What JSON can hold, and comparable by structure. */
export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };

/**
 * @param history in the form of Temporal's JSON files, or the protobuf message
 * @returns a history whose payloads are decoded; those of headers and search attributes never were encoded
 * @throws Error that names event and path of a payload that can't be decoded: it would be compared with nothing
 */
export async function decodeHistory(history: unknown, codec: PayloadCodec): Promise<History> {
  const events = (history as History).events ?? [];
  // A message holds its ids as `Long`, a file as texts.
  const message = typeof events[0]?.eventId === 'object' ? (history as History) : historyFromJSON(history);
  const decoded = await Promise.all(
    (message.events ?? []).map((event) => decodeIn(event, codec, `event ${whole(event.eventId)}`)),
  );
  return { events: decoded };
}

async function decodeIn<Value>(value: Value, codec: PayloadCodec, path: string): Promise<Value> {
  if (isPayload(value)) return (await decoded(value, codec, path)) as Value;
  if (Array.isArray(value)) {
    return (await Promise.all(value.map((item, at) => decodeIn(item, codec, `${path}[${at}]`)))) as Value;
  }
  if (!isRecord(value) || isLong(value)) return value;
  const entries = Object.entries(value).map(async ([key, item]) => [
    key,
    key === 'searchAttributes' || key === 'header' ? item : await decodeIn(item, codec, `${path}.${key}`),
  ]);
  return Object.fromEntries(await Promise.all(entries)) as Value;
}

async function decoded(payload: Payload, codec: PayloadCodec, path: string): Promise<Payload> {
  const [open] = await codec.decode([payload]);
  const value = open && plainPayload(open, path);
  if (open === undefined || (isRecord(value) && UNDECODABLE_KEY in value)) {
    throw new Error(`${path} can't be decoded: ${JSON.stringify(value)}`);
  }
  return open;
}

/**
 * A message as JSON: payloads by their content, durations and moments in ms, empty parts left out. A payload must
 * be decoded before.
 */
export function plain(value: unknown, path = ''): Plain | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (Array.isArray(value)) return value.map((item, at) => plain(item, `${path}[${at}]`) ?? null);
  if (isPayload(value)) return plainPayload(value, path);
  if (isLong(value)) return value.toNumber();
  if (!isRecord(value)) throw new Error(`${path}: a message holds no ${typeof value}`);
  if (isSpan(value)) return ms(value);
  const entries = Object.entries(value).flatMap(([key, item]) => {
    const one = plain(item, `${path}.${key}`);
    return one === undefined ? [] : [[key, one] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Without stacks, which change with every build, and with the message that was encoded apart from it. */
export function plainFailure(failure: Failure | null | undefined): Plain | undefined {
  if (failure === null || failure === undefined) return undefined;
  const { message, source: _source, stackTrace: _stack, encodedAttributes, cause, ...info } = failure;
  const attributes = plain(encodedAttributes, 'encodedAttributes');
  const encoded = isRecord(attributes) ? attributes['message'] : undefined;
  const causedBy = plainFailure(cause);
  return {
    message: (encoded as Plain | undefined) ?? message ?? '',
    ...(plain(info, 'failure') as object | undefined),
    ...(causedBy !== undefined && { cause: causedBy }),
  };
}

/** The id of an event, or another whole number, in any of its forms: 0 when there is none. */
export function whole(value: unknown): number {
  return Number(plain(value) ?? 0);
}

/** Of a duration or a moment. */
export function ms(span: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return whole(span?.seconds) * 1000 + Math.floor((span?.nanos ?? 0) / 1_000_000);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

function plainPayload({ metadata, data }: Payload, path: string): Plain {
  const encoding = Buffer.from(metadata?.['encoding'] ?? []).toString();
  if (encoding === 'binary/null') return null;
  if (encoding === 'json/plain') return JSON.parse(Buffer.from(data ?? []).toString()) as Plain;
  throw new Error(`${path}: no flow of Holdfast writes payloads of the encoding ${encoding}`);
}

function isPayload(value: unknown): value is Payload {
  return isRecord(value) && isRecord(value['metadata']) && ArrayBuffer.isView(value['metadata']['encoding']);
}

function isLong(value: unknown): value is { toNumber(): number } {
  return isRecord(value) && 'low' in value && 'high' in value && typeof value['toNumber'] === 'function';
}

function isSpan(value: Record<string, unknown>): boolean {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => key === 'seconds' || key === 'nanos');
}
