import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';
import { cutAttribute } from '../contract/cut-attribute.js';
import type { DisputedPayment, EventSink } from '../contract/engine-port.js';
import { uuidSchema } from '../contract/fields.js';
import { FLOWS } from '../contract/flows.js';
import { SIGNAL_NAMES, MEMO_KEYS, paymentActionsWorkflowId } from '../contract/names.js';
import { needsPerson, type ParkedEventInput, type ParkReason } from '../contract/parked-event.js';
import { createDataConverter, encodePayload } from '../security/data-converter.js';
import { parseKeyRing } from '../security/key-ring.js';
import { environmentOrRefuse, lazyClient } from './connect.js';
import { type Environment, otherEnvironment } from './environment-mark.js';
import { findFlowOfPayment } from './earlier-runs.js';
import { createReadyCheck, type ReadyCheck } from './ready-check.js';
import { currencyOf, tellOfDispute } from './start-actions.js';
import { keyword } from './start-options.js';
import { whyEngineUnreachable } from './why-unreachable.js';
import { contextOf } from './ended-flow.js';
import { awaitEndOfFlow, flowIsGone, readEndedFlow } from './end-of-flow.js';

export type { Delivery, EndedFlow, EventSink } from '../contract/engine-port.js';

export interface EventSinkOptions {
  /** Time limit of one call in ms, including retries on a lost connection. Default 5000. */
  timeoutMs?: number;
  /** Shown in the history with each event. */
  identity?: string;
  /** If set, events are refused while the namespace is marked for the other environment. */
  environment?: Environment;
}

export interface ClosableSink extends EventSink {
  /** Resolves when no question is under way any more: only then may the connection be closed. */
  idle(): Promise<void>;
}

/**
 * Delivers events as signals. Uses raw requests because only those let us choose the request id: it is the hash of the
 * signed text, so the server drops a repeated event even when several handlers receive it.
 */
export function createEventSink(client: Client, options: EventSinkOptions = {}): ClosableSink {
  const timeoutMs = options.timeoutMs ?? 5000;
  const identity = options.identity ?? 'holdfast-webhook';
  const { namespace, loadedDataConverter } = client.options;
  // Read the namespace with each event until one read succeeds: Temporal may be unavailable when the handler starts.
  // Calls don't share this read because each has its own deadline.
  let isRightPlace = options.environment === undefined;
  const beSureOfPlace = async (): Promise<void> => {
    if (isRightPlace || options.environment === undefined) return;
    const other = await otherEnvironment(client.connection, namespace, options.environment);
    if (other !== undefined) throw new Error(other);
    isRightPlace = true;
  };
  const within = <T>(call: () => Promise<T>): Promise<T> =>
    client.connection.withDeadline(Date.now() + timeoutMs, async () => {
      await beSureOfPlace();
      return await call();
    });
  const asked = new Set<Promise<unknown>>();
  const note = (question: Promise<unknown>): void => {
    asked.add(question);
    void question.finally(() => asked.delete(question));
  };
  return {
    async deliver(workflowId, event) {
      const payload = await encodePayload(loadedDataConverter, event, contextOf(client, workflowId));
      try {
        await within(() =>
          client.workflowService.signalWorkflowExecution({
            namespace,
            identity,
            workflowExecution: { workflowId },
            signalName: SIGNAL_NAMES.transactionEvent,
            requestId: event.hash,
            input: { payloads: [payload] },
          }),
        );
        return 'delivered';
      } catch (error) {
        const answer = flowIsGone(error);
        if (answer === undefined) throw error;
        return answer;
      }
    },
    endedFlow: (workflowId) => within(() => readEndedFlow(client, workflowId)),
    awaitEnd: (workflowId, ms, stopping) => awaitEndOfFlow(client, workflowId, { ms, stopping, note }),
    idle: async () => void (await Promise.all(asked)),
    flowOfPayment: (paymentId) => within(() => flowOfPayment(client, paymentId)),
    park: (input) => within(() => startParkedEvent(client, input, 'once')),
    disputed: (payment) => within(() => passOnDispute(client, payment)),
  };
}

async function passOnDispute(
  client: Client,
  { madeBy, hash, ...payment }: DisputedPayment,
): ReturnType<EventSink['disputed']> {
  const commands = paymentActionsWorkflowId(payment.paymentId);
  const known = await currencyOf(client, madeBy === undefined ? [commands] : [madeBy, commands]);
  if (known === undefined && madeBy === undefined) return 'unknown';
  const currency = known ?? payment.currency;
  if (currency === undefined) return 'noCurrency';
  await tellOfDispute(client, { ...payment, currency }, 'event', hash);
  return 'passedOn';
}

async function flowOfPayment(client: Client, paymentId: string): Promise<string | undefined> {
  return uuidSchema.safeParse(paymentId).success
    ? await findFlowOfPayment(client, paymentId, /^(?:payment|risk)-/)
    : undefined;
}

export interface ConnectSinkOptions extends EventSinkOptions {
  /** Encryption keys in the format of `HOLDFAST_ENCRYPTION_KEYS`. Default: that variable. */
  encryptionKeys?: string;
  /** Overrides Temporal's environment configuration. */
  address?: string;
  namespace?: string;
}

export interface ConnectedSink extends EventSink {
  /** Readiness check for your server. */
  ready: ReadyCheck;
  close(): Promise<void>;
}

/**
 * Event sink for a webhook handler of your own. Reads Temporal's standard `TEMPORAL_*` variables and profile files and
 * connects with the first event. While Temporal is unavailable, events are refused and the service sends them again.
 * Events are also refused while the namespace is for another environment than `environment` (default:
 * HOLDFAST_ENVIRONMENT).
 * @throws KeyRingError when the encryption keys are missing or malformed: nothing is sent unencrypted
 * @throws HoldfastError `InvalidInput` for settings of Temporal that can't be read, or a misspelt `environment`
 */
export function connectEventSink(options: ConnectSinkOptions = {}): ConnectedSink {
  const keys = parseKeyRing(options.encryptionKeys ?? process.env['HOLDFAST_ENCRYPTION_KEYS'] ?? '');
  const environment = environmentOrRefuse(options.environment);
  const { client, connection } = lazyClient(createDataConverter(keys), options);
  const sink = createEventSink(client, { ...options, ...(environment !== undefined && { environment }) });
  const why = () => whyEngineUnreachable(options);
  const ready = createReadyCheck(client, { keyId: keys.currentId, environment, why });
  const close = async (): Promise<void> => {
    await sink.idle();
    await connection.close();
  };
  return { ...sink, ready, close };
}

/** The memo of a parked event, which lists show. Encrypted, as every memo. */
export interface ParkedEventRecord {
  /** The event id that the service shows. */
  eventId?: string;
  eventType: string;
  created: string;
  transactionId?: string;
  reference?: string;
  /** Why it was parked. */
  reason: ParkReason;
}

/**
 * Starts `parkedEvent` for an event. `once`: parking the event again finds the first flow, open or ended. `again`: an
 * operator restarts it after it has ended.
 */
export async function startParkedEvent(
  client: Client,
  input: ParkedEventInput,
  how: 'once' | 'again',
): Promise<'parked' | 'known'> {
  const { event, reason } = input;
  const { type, title, taskQueue, workflowId } = FLOWS.parkedEvent;
  try {
    await client.workflow.start(type, {
      workflowId: workflowId(input),
      taskQueue,
      args: [input],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: how === 'once' ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
      memo: { [MEMO_KEYS.parkedEvent]: recordOf(input) },
      typedSearchAttributes: attributesOf(input),
      staticSummary: `${title} ${event.eventType}: ${reason}`,
    });
    return 'parked';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'known';
    throw error;
  }
}

function attributesOf({ event, reason }: ParkedEventInput): SearchAttributePair[] {
  return [
    { key: keyword('PaymentStatus'), value: 'parked' },
    { key: keyword('WaitingFor'), value: 'flow' },
    { key: keyword('PaymentId'), value: cutAttribute(event.paymentId) },
    { key: keyword('BusinessUnit'), value: event.businessUnit },
    { key: defineSearchAttributeKey('NeedsOperator', SearchAttributeType.BOOL), value: needsPerson(reason) },
  ];
}

function recordOf({ event, reason }: ParkedEventInput): ParkedEventRecord {
  const { eventId, eventType, created, transactionId, reconciliationId } = event;
  return {
    ...(eventId !== undefined && { eventId }),
    eventType,
    created,
    reason,
    ...(transactionId !== undefined && { transactionId }),
    ...(reconciliationId !== undefined && { reference: reconciliationId }),
  };
}
