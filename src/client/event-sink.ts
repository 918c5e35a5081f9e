import { isGrpcServiceError, type Client } from '@temporalio/client';
import type { LoadedDataConverter, Payload } from '@temporalio/common';
import { uuidSchema } from '../contract/fields.js';
import type { EventSink } from '../contract/engine-port.js';
import type { TransactionEvent } from '../contract/messages.js';
import { SIGNAL_NAMES, WORKFLOW_TYPES } from '../contract/names.js';
import { readEndedFlow } from './ended-flow-of-event.js';
import { otherEnvironment, type Environment } from './namespace-environment.js';
import { startParkedEvent } from './start-parked-event.js';

export type { Delivery, EndedFlow, EventSink } from '../contract/engine-port.js';

export interface EventSinkOptions {
  /** Time limit of one call in ms, including retries on a lost connection. Default 5000. */
  timeoutMs?: number;
  /** Shown in the history with each event. */
  identity?: string;
  /** If set, events are refused while the namespace is marked for the other environment. */
  environment?: Environment;
}

const NOT_FOUND = 5;

/**
 * Delivers events as signals. Uses raw requests because only those let us choose the request id: it is the hash of the
 * signed text, so the server drops a repeated event even when several handlers receive it.
 */
export function createEventSink(client: Client, options: EventSinkOptions = {}): EventSink {
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
  return {
    async deliver(workflowId, event) {
      const payload = await encode(loadedDataConverter, event, namespace, workflowId);
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
    flowOfPayment: (paymentId) => within(() => flowOfPayment(client, paymentId)),
    park: (input) => within(() => startParkedEvent(client, input, 'once')),
  };
}

/** Finds the flow by the search attribute `PaymentId`, which a flow sets once it waits for something. */
async function flowOfPayment(client: Client, paymentId: string): Promise<string | undefined> {
  if (!uuidSchema.safeParse(paymentId).success) return undefined;
  const query = `PaymentId = "${paymentId}" AND WorkflowType != "${WORKFLOW_TYPES.paymentActions}"`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    if (/^(?:payment|risk)-/.test(workflowId)) return workflowId;
  }
  return undefined;
}

/**
 * gRPC code 5 has three meanings here that differ only in their text. A text that is not about the workflow (such as an
 * unknown namespace) counts as an error: otherwise the event would be acknowledged and lost.
 */
function flowIsGone(error: unknown): 'ended' | 'notFound' | undefined {
  if (!isGrpcServiceError(error) || error.code !== NOT_FOUND) return undefined;
  if (/^workflow execution already completed/i.test(error.details)) return 'ended';
  if (/^workflow (execution )?not found/i.test(error.details)) return 'notFound';
  return undefined;
}

/** Uses the same context as the SDK's own signals, because a codec may bind a payload to its workflow. */
async function encode(
  converter: LoadedDataConverter,
  value: TransactionEvent,
  namespace: string,
  workflowId: string,
): Promise<Payload> {
  const context = { type: 'workflow', namespace, workflowId } as const;
  let payloads = [converter.payloadConverter.toPayload(value, context)];
  for (const codec of converter.payloadCodecs) payloads = await codec.encode(payloads, context);
  const [payload] = payloads;
  if (payload === undefined) throw new Error('a payload codec returned nothing for an event');
  return payload;
}
