import { createHash, randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { SandboxControl } from '../../sandbox/control.js';
import { sign, signedText } from '../../src/webhook/signature.js';

const SANDBOX_KEY = 'sandbox-private-key';

export interface EventParts {
  paymentId?: string;
  transactionId?: string;
  reconciliationId?: string;
  status?: string;
  category?: string;
  amount?: number;
  currency?: string;
  id?: string;
  created?: string;
}

/** An event of the sandbox's own business unit that the sandbox never sent. */
export function eventBody(parts: EventParts = {}) {
  const { paymentId = randomUUID(), transactionId = randomUUID(), created = new Date().toISOString() } = parts;
  return {
    id: parts.id ?? `${paymentId}-${created}-${randomUUID()}`,
    account_id: '2058ac1f-ca4b-497f-8181-341e0eea5392',
    payment_id: paymentId,
    created,
    app_id: 'holdfast-sandbox',
    data: {
      id: transactionId,
      ...(parts.status !== undefined && { result: { status: parts.status, category: parts.category } }),
      reconciliation_id: parts.reconciliationId,
      amount: parts.amount,
      currency: parts.currency,
    },
  };
}

/** Name of the event in Temporal: request id of its signal, and end of the id of its `parkedEvent`. */
export function hashOf(eventType: string, body: unknown): string {
  return createHash('sha256').update(signedText(eventType, body)).digest('hex');
}

/** Posts an event as the sandbox would, under the key of its business unit; answers status and result. */
export async function postEvent(
  url: string,
  eventType: string,
  body: unknown,
  key = SANDBOX_KEY,
  headers: Record<string, string> = {},
) {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      'event-type': eventType,
      version: '1.3.0',
      'x-svc-env': 'test',
      signature: sign(signedText(eventType, body), key),
      ...headers,
    },
  });
  const answer = (await response.json()) as { result?: string };
  return { status: response.status, result: answer.result };
}

/** Every event of a payment as the service made it, and whether it has been taken. */
export async function eventsOfPayment(sandbox: SandboxControl, paymentId: string) {
  const deliveries = await sandbox.deliveries({ paymentId });
  return await Promise.all(
    deliveries.map(async ({ id, status }) => {
      const { event_type: eventType, body } = await sandbox.delivery(id);
      return { eventType, body, status, hash: hashOf(eventType, body) };
    }),
  );
}

/** The events that a flow has been given, by hash, oldest first: one that came twice stands there twice. */
export async function eventsIn(client: Client, workflowId: string): Promise<string[]> {
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const hashes: string[] = [];
  for (const event of events ?? []) {
    let payloads = event.workflowExecutionSignaledEventAttributes?.input?.payloads ?? [];
    for (const codec of payloadCodecs) payloads = await codec.decode(payloads);
    const [payload] = payloads;
    if (payload != null) hashes.push(payloadConverter.fromPayload<{ hash: string }>(payload).hash);
  }
  return hashes;
}
