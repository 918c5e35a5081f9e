import type { LoadedDataConverter, Payload } from '@temporalio/common';
import type { PaymentRecord } from '../contract/transaction.js';
import { isUndecodable, whyUndecodable } from '../contract/undecodable.js';

const LOCAL_ACTIVITY_MARKER = 'core_local_activity';
const CREATE_PAYMENT = 'createPayment';

/** The parts of a history event that are used here, as the SDK decodes them. */
interface EventLike {
  eventId?: { toString(): string } | null;
  activityTaskScheduledEventAttributes?: {
    activityType?: { name?: string | null } | null;
    input?: { payloads?: Payload[] | null } | null;
  } | null;
  activityTaskCompletedEventAttributes?: {
    scheduledEventId?: { toString(): string } | null;
    result?: { payloads?: Payload[] | null } | null;
  } | null;
  markerRecordedEventAttributes?: {
    markerName?: string | null;
    details?: Record<string, { payloads?: Payload[] | null }> | null;
  } | null;
}

/**
 * The payment that a run created, from the recorded result of its `createPayment`. Reads the history instead of a
 * query because a run is often reset when its code no longer replays.
 * @param key of that call. A flow that reauthorizes creates several payments, and the first can't replace a later one.
 * Without a key, or with the first call's key, the first payment is returned.
 * @throws Error if this process can't decode such a call: answering "none" would create a second payment
 */
export async function paymentOfHistory(
  history: AsyncIterable<EventLike>,
  converter: LoadedDataConverter,
  key?: string,
): Promise<PaymentRecord | undefined> {
  const later = key !== undefined && !key.endsWith(':1');
  const scheduled = new Set<string>();
  for await (const event of history) {
    const call = event.activityTaskScheduledEventAttributes;
    if (call?.activityType?.name === CREATE_PAYMENT) {
      const theirs = later ? keyOf(await decode(call.input?.payloads?.[0], converter)) : key;
      if (theirs === key) scheduled.add(String(event.eventId));
    }
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed && scheduled.has(String(completed.scheduledEventId))) {
      const record = asPayment(await decode(completed.result?.payloads?.[0], converter));
      if (record !== undefined) return record;
    }
    const marker = event.markerRecordedEventAttributes;
    // Only the first payment may be created by a local activity.
    if (
      later ||
      marker?.markerName !== LOCAL_ACTIVITY_MARKER ||
      !namesCreatePayment(marker.details?.['data']?.payloads?.[0])
    ) {
      continue;
    }
    const record = asPayment(await decode(marker.details?.['result']?.payloads?.[0], converter));
    if (record !== undefined) return record;
  }
  return undefined;
}

/** The SDK writes the marker's data as plain JSON or protobuf; both contain the activity's name. */
function namesCreatePayment(data: Payload | undefined): boolean {
  return data?.data != null && Buffer.from(data.data).includes(CREATE_PAYMENT);
}

async function decode(payload: Payload | undefined, converter: LoadedDataConverter): Promise<unknown> {
  if (payload === undefined) return undefined;
  let payloads = [payload];
  for (const codec of [...converter.payloadCodecs].reverse()) payloads = await codec.decode(payloads);
  const [clear] = payloads;
  const value: unknown = clear === undefined ? undefined : converter.payloadConverter.fromPayload(clear);
  if (!isUndecodable(value)) return value;
  throw new Error(
    `This worker can't decode what an earlier run created (${whyUndecodable(value)}); give it the missing key`,
  );
}

function keyOf(call: unknown): unknown {
  return typeof call === 'object' && call !== null && 'key' in call ? call.key : undefined;
}

function asPayment(value: unknown): PaymentRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { paymentId, amount, currency, status, businessUnit, holdMs, madeUnder } = value as Partial<
    Record<keyof PaymentRecord, unknown>
  >;
  if (typeof paymentId !== 'string' || typeof amount !== 'number') return undefined;
  if (typeof currency !== 'string' || typeof status !== 'string') return undefined;
  return {
    paymentId,
    amount,
    currency,
    status,
    // For a risk analysis this may differ from the input's business unit: reads with the input's unit would fail.
    ...(typeof businessUnit === 'string' && { businessUnit }),
    ...(typeof holdMs === 'number' && { holdMs }),
    // Without it, a worker configured with another app id would look like the one that created the payment.
    ...(typeof madeUnder === 'string' && { madeUnder }),
  };
}
