import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { LoadedDataConverter, Payload, SerializationContext } from '@temporalio/common';
import type { FinalOutcome } from '../contract/messages.js';
import { BEFORE_NEW_REFERENCE, MEMO_KEYS } from '../contract/names.js';
import { isInClear, isSealed, isUndecodable, NOT_FOR_THIS_FLOW, whyUndecodable } from '../contract/payload-marks.js';
import type { PaymentRecord } from '../contract/records.js';
import { decodePayload } from '../security/data-converter.js';
import { HoldfastError, engineUnavailable, translate } from './errors.js';
import { isOpen } from './is-open.js';
import { speakingRun } from './speaking-run.js';
import { UndecodableError } from './undecodable.js';

/** Time limit for two reads of an ended flow, in ms. */
const READ_MS = 15_000;

/**
 * The result of an ended flow, for a caller who repeats the same input (money rule 2).
 * @throws HoldfastError `ReferenceConflict` for another input; the flow's own failure; `FlowStopped` when it
 * was terminated or cancelled and so has no result
 */
export async function outcomeOfEndedFlow(
  client: Client,
  workflowId: string,
  fingerprint: string,
  reference: string,
): Promise<FinalOutcome> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    return await client.withDeadline(Date.now() + READ_MS, async () => {
      const { memo, runId } = await speakingRun(client, await handle.describe());
      if (decoded(memo?.[MEMO_KEYS.fingerprint]) !== fingerprint) {
        throw new HoldfastError(
          'ReferenceConflict',
          `Reference "${reference}" has already been used for another input: ${BEFORE_NEW_REFERENCE}`,
        );
      }
      const result: unknown = await client.workflow.getHandle(workflowId, runId).result();
      const outcome = ofWorker(result as FinalOutcome);
      // A result that names no flow, as of a worker in another language, can be a copy, and the memo stands in clear.
      if (outcome.reference !== reference) throw answersForAnother(reference, outcome.reference);
      return outcome;
    });
  } catch (error) {
    const failure = translate(error, reference);
    throw failure === 'ended' ? new HoldfastError('FlowStopped', `The flow of "${reference}" has no result`) : failure;
  }
}

const LOOK_EVERY_MS = 25;
/** A flow whose last task is run again usually ends within this. */
export const SOON_MS = 1_000;
const LAST_LOOK_MS = 2_000;

/** True as soon as the flow has closed; false when it still runs after `ms` or can't be read. */
export async function endsWithin(client: Client, workflowId: string, ms: number): Promise<boolean> {
  const end = Date.now() + ms;
  try {
    do {
      await sleep(LOOK_EVERY_MS);
      const { status } = await client.withDeadline(end + READ_MS, () =>
        client.workflow.getHandle(workflowId).describe(),
      );
      if (!isOpen(status)) return true;
    } while (Date.now() < end);
  } catch {
    return false;
  }
  return false;
}

/** Whether the flow runs with this input or has ended; undefined if it runs with another input or can't be read. */
export async function stateOf(
  client: Client,
  workflowId: string,
  fingerprint: string,
): Promise<'running' | 'ended' | undefined> {
  try {
    const { status, memo } = await client.withDeadline(Date.now() + LAST_LOOK_MS, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    if (!isOpen(status)) return 'ended';
    return memo?.[MEMO_KEYS.fingerprint] === fingerprint ? 'running' : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The cause of a "not found" for an update or query: the server drops an update that arrives while its flow ends and
 * reports the update, not the flow, as not found.
 */
export async function missing(
  client: Client,
  workflowId: string,
  name: string,
  failure: HoldfastError,
): Promise<HoldfastError | 'ended'> {
  if (await endsWithin(client, workflowId, SOON_MS)) return 'ended';
  const isThere = await client
    .withDeadline(Date.now() + LAST_LOOK_MS, () => client.workflow.getHandle(workflowId).describe())
    .then(
      () => true,
      () => false,
    );
  return isThere ? engineUnavailable(name, failure.message) : failure;
}

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
 * @param of the flow whose history it is: a result that was encrypted for another one is not read
 * @param key of that call. A flow that reauthorizes creates several payments, and the first can't replace a later one.
 * Without a key, or with the first call's key, the first payment is returned.
 * @throws Error if this process can't decode such a call: answering "none" would create a second payment
 */
export async function paymentOfHistory(
  history: AsyncIterable<EventLike>,
  { client, workflowId }: { client: Client; workflowId: string },
  key?: string,
): Promise<PaymentRecord | undefined> {
  const { loadedDataConverter: converter } = client.options;
  const context = contextOf(client, workflowId);
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
      const record = asPayment(await decode(completed.result?.payloads?.[0], converter, { context }));
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
    const record = asPayment(await decode(marker.details?.['result']?.payloads?.[0], converter, { context }));
    if (record !== undefined) return record;
  }
  return undefined;
}

/** The SDK writes the marker's data as plain JSON or protobuf; both contain the activity's name. */
function namesCreatePayment(data: Payload | undefined): boolean {
  return data?.data != null && Buffer.from(data.data).includes(CREATE_PAYMENT);
}

/** @throws UndecodableError without the key */
export function requireDecoded<Result>(result: Result): Result {
  if (!isUndecodable(result)) return result;
  throw new UndecodableError(`its result can't be decoded (${whyUndecodable(result)}): give this process the key`);
}

/**
 * @param how `context`: the flow that the payload must have been encrypted for, to be taken for ours
 * @throws UndecodableError without the key, which says what it is of
 */
export async function decode(
  payload: Payload | undefined,
  converter: LoadedDataConverter,
  { what = 'what an earlier run created', context }: { what?: string; context?: SerializationContext } = {},
): Promise<unknown> {
  const value = await decodePayload(converter, payload, context);
  if (!isUndecodable(value)) return value;
  throw new UndecodableError(`This process can't decode ${what} (${whyUndecodable(value)}); give it the missing key`);
}

/** The context of the SDK's own calls, for a payload that we read or send: it names the flow that it is encrypted for. */
export function contextOf(client: Client, workflowId: string): SerializationContext {
  return { type: 'workflow', namespace: client.options.namespace, workflowId };
}

export function keyOf(call: unknown): unknown {
  return typeof call === 'object' && call !== null && 'key' in call ? call.key : undefined;
}

function asPayment(value: unknown): PaymentRecord | undefined {
  // Whoever has access to Temporal can complete an activity in clear, or with a copy.
  if (typeof value !== 'object' || value === null || !isSealed(value)) return undefined;
  const { paymentId, amount, currency, status, businessUnit, holdMs, madeUnder, ofEarlierFlow } = value as Partial<
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
    // Another flow may have charged it under keys that this one does not have.
    ...(ofEarlierFlow === true && { ofEarlierFlow }),
  };
}

/**
 * The answer of a flow.
 * @throws HoldfastError `UnexpectedResponse` when this process lacks the key that the answer was encrypted with
 */
export function decoded<Answer>(answer: Answer): Answer {
  if (!isUndecodable(answer)) return answer;
  throw new HoldfastError(
    'UnexpectedResponse',
    `The flow has answered, but this process can't decode it (${answer.holdfastUndecodable}): ` +
      'give it the same HOLDFAST_ENCRYPTION_KEYS as the worker',
  );
}

export function answersForAnother(reference: string, other: string): HoldfastError {
  const why = `The answer for "${reference}" is that of "${other}": somebody else runs a workflow under this id`;
  return new HoldfastError('UnexpectedResponse', why);
}

/**
 * The answer of a flow as it comes from Temporal, which must be a worker's: whoever has access to Temporal can run a
 * workflow of their own under the id of a payment, and so would invent an outcome. A text has no such mark.
 * @throws HoldfastError `UnexpectedResponse` when it {@link isInClear}, or as {@link decoded}
 */
export function ofWorker<Answer>(answer: Answer): Answer {
  if (!isInClear(answer)) return decoded(answer);
  throw new HoldfastError(
    'UnexpectedResponse',
    `An answer ${NOT_FOR_THIS_FLOW}, and no worker gives one so: somebody else runs a workflow under this id. Believe ` +
      'nothing of it, and look in the Temporal UI at who has started it',
  );
}
