import type { LoadedDataConverter, Payload } from '@temporalio/common';
import type { PaymentRecord } from '../contract/transaction.js';

const LOCAL_ACTIVITY_MARKER = 'core_local_activity';
const CREATE_PAYMENT = 'createPayment';

/** The parts of a history event that matter here, as the SDK decodes them. */
interface HistoryLike {
  events?: readonly EventLike[] | null;
}
interface EventLike {
  eventId?: { toString(): string } | null;
  activityTaskScheduledEventAttributes?: { activityType?: { name?: string | null } | null } | null;
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
 * The payment that a run created, from the recorded result of its `createPayment`. From the history and
 * not by a query: a run is often reset because its code no longer replays.
 */
export async function paymentOfHistory(
  history: HistoryLike,
  converter: LoadedDataConverter,
): Promise<PaymentRecord | undefined> {
  const scheduled = new Set<string>();
  for (const event of history.events ?? []) {
    if (event.activityTaskScheduledEventAttributes?.activityType?.name === CREATE_PAYMENT) {
      scheduled.add(String(event.eventId));
    }
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed && scheduled.has(String(completed.scheduledEventId))) {
      const record = asPayment(await decode(completed.result?.payloads?.[0], converter));
      if (record !== undefined) return record;
    }
    const marker = event.markerRecordedEventAttributes;
    if (marker?.markerName !== LOCAL_ACTIVITY_MARKER || !namesCreatePayment(marker.details?.['data']?.payloads?.[0])) {
      continue;
    }
    const record = asPayment(await decode(marker.details?.['result']?.payloads?.[0], converter));
    if (record !== undefined) return record;
  }
  return undefined;
}

/** The SDK writes the marker's own data as plain JSON or protobuf; the activity's name stands in it either way. */
function namesCreatePayment(data: Payload | undefined): boolean {
  return data?.data != null && Buffer.from(data.data).includes(CREATE_PAYMENT);
}

async function decode(payload: Payload | undefined, converter: LoadedDataConverter): Promise<unknown> {
  if (payload === undefined) return undefined;
  let payloads = [payload];
  for (const codec of [...converter.payloadCodecs].reverse()) payloads = await codec.decode(payloads);
  const [clear] = payloads;
  return clear === undefined ? undefined : converter.payloadConverter.fromPayload(clear);
}

function asPayment(value: unknown): PaymentRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { paymentId, amount, currency, status } = value as Partial<Record<keyof PaymentRecord, unknown>>;
  if (typeof paymentId !== 'string' || typeof amount !== 'number') return undefined;
  if (typeof currency !== 'string' || typeof status !== 'string') return undefined;
  return { paymentId, amount, currency, status };
}
