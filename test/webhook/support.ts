import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import type { DisputedPayment } from '../../src/contract/engine-port.js';
import type { Delivery, EndedFlow, EventSink } from '../../src/client/event-sink.js';
import type { TransactionEvent } from '../../src/contract/messages.js';
import type { ParkedEventInput } from '../../src/contract/parked-event.js';
import { createWebhookHandler, type WebhookDeps } from '../../src/webhook/handler.js';
import type { WebhookUnit } from '../../src/webhook/key-rings.js';
import type { PaymentDetails } from '../../src/webhook/route.js';
import { createWebhookMetrics } from '../../src/webhook/metrics.js';
import { createWebhookServer, type WebhookServerOptions } from '../../src/webhook/server.js';
import { sign, signedText } from '../../src/webhook/signature.js';

export const KEY = 'unit-private-key';
export const OLD_KEY = 'unit-previous-key';
export const OTHER_KEY = 'other-private-key';
export const UNITS: readonly WebhookUnit[] = [
  { name: 'default', appId: 'app-default', privateKey: KEY, previousPrivateKeys: [OLD_KEY] },
  { name: 'other', appId: 'app-other', privateKey: OTHER_KEY, previousPrivateKeys: [] },
];
export const EVENT_TYPE = 'payment.charge.update';

/** A charge event that is complete in all its signed fields, and carries fields that no signature covers. */
export function chargeBody() {
  const paymentId = '150f1279-6d2c-4728-9e23-6b303f3f1f2f';
  const created = '2026-11-06T14:33:46.150Z';
  return {
    id: `${paymentId}-${created}-fe14a744-ade7-4a15-8df4-a0b12ac11590`,
    account_id: '2058ac1f-ca4b-497f-8181-341e0eea5392',
    payment_id: paymentId,
    created,
    app_id: 'app-default',
    data: {
      id: '4a3c1f6e-5d50-4b7c-9b3d-0c5d2a1b7e11',
      result: { status: 'Failed', category: 'payment_method_declined', sub_category: 'insufficient_funds' },
      provider_data: { response_code: '102', description: 'DECLINED.' },
      reconciliation_id: 'order-1001',
      amount: 1095,
      currency: 'USD',
      redirection: { url: 'https://unsigned.example/' },
    },
  };
}

export function headersFor(body: unknown, key = KEY, eventType = EVENT_TYPE): Record<string, string> {
  return {
    'content-type': 'application/json',
    'event-type': eventType,
    version: '1.3.0',
    'x-svc-env': 'test',
    'x-svc-request-id': 'request-1',
    signature: sign(signedText(eventType, body), key),
  };
}

interface Sent {
  workflowId: string;
  event: TransactionEvent;
}

/** Flows as a test says they are. */
class FakeSink implements EventSink {
  /** Every signal that was tried. */
  readonly sent: Sent[] = [];
  readonly parked: ParkedEventInput[] = [];
  readonly disputes: DisputedPayment[] = [];
  answer: (workflowId: string) => Promise<Delivery> = () => Promise.resolve('delivered');
  ended: (workflowId: string) => Promise<EndedFlow | undefined> = () => Promise.resolve({});
  /** Every wait for an end, as `<workflow id> <ms>`. */
  readonly awaited: string[] = [];
  waits: (workflowId: string) => Promise<EndedFlow | undefined> = () => Promise.resolve(undefined);

  deliver(workflowId: string, event: TransactionEvent): Promise<Delivery> {
    this.sent.push({ workflowId, event });
    return this.answer(workflowId);
  }

  endedFlow(workflowId: string): Promise<EndedFlow | undefined> {
    return this.ended(workflowId);
  }

  awaitEnd(workflowId: string, ms: number): Promise<EndedFlow | undefined> {
    this.awaited.push(`${workflowId} ${ms}`);
    return this.waits(workflowId);
  }

  flowOfPayment(): Promise<string | undefined> {
    return Promise.resolve(undefined);
  }

  disputed(payment: DisputedPayment): ReturnType<EventSink['disputed']> {
    this.disputes.push(payment);
    return Promise.resolve('passedOn');
  }

  park(input: ParkedEventInput): Promise<'parked' | 'known'> {
    this.parked.push(input);
    return Promise.resolve('parked');
  }
}

export interface Harness {
  url: string;
  port: number;
  sink: FakeSink;
  logged: string[];
  /** Payments that were asked about, each as `<unit> <payment>`. */
  asked: string[];
  /** What the service answers about a payment. */
  setDetails(details: PaymentDetails): void;
  setReady(ready: () => Promise<boolean | string>): void;
  post(
    body: string | Buffer,
    headers: Record<string, string>,
  ): Promise<{ status: number; text: string; response: Response }>;
  /** Posts with a signature made for this very body. */
  postSigned(
    body: unknown,
    key?: string,
    eventType?: string,
  ): Promise<{ status: number; text: string; response: Response }>;
  /** Value of a metric with exactly these labels, 0 when it was never counted. */
  metric(name: string, labels?: Record<string, string>): Promise<number>;
  close(): Promise<void>;
}

export async function startHandler(
  settings: {
    units?: readonly WebhookUnit[];
    deliveryTimeoutMs?: number;
    maxInFlight?: number;
    server?: WebhookServerOptions;
  } & Partial<
    Pick<
      WebhookDeps,
      'allowedSenders' | 'apiBaseUrl' | 'lookUpTimeoutMs' | 'waitForEndMs' | 'remembersFlows' | 'stopping'
    >
  > = {},
): Promise<Harness> {
  const { units = UNITS, server: serverOptions, ...limits } = settings;
  const registry = new Registry();
  const metrics = createWebhookMetrics(registry);
  const sink = new FakeSink();
  const logged: string[] = [];
  const write = (fields: object, message: string) => void logged.push(JSON.stringify({ ...fields, message }));
  const logger = { info: write, warn: write, error: write };
  const asked: string[] = [];
  let details: PaymentDetails = () => Promise.resolve({});
  let ready: () => Promise<boolean | string> = () => Promise.resolve(true);
  const paymentDetails: PaymentDetails = (payment, timeoutMs) => {
    asked.push(`${payment.businessUnit} ${payment.paymentId}`);
    return details(payment, timeoutMs);
  };
  const handler = createWebhookHandler({
    environment: 'test',
    units,
    sink,
    paymentDetails,
    metrics,
    logger,
    ...limits,
  });
  const app = createWebhookServer({
    handler,
    metrics,
    logger,
    ready: () => ready(),
    ...(serverOptions === undefined ? {} : { options: serverOptions }),
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const post: Harness['post'] = async (body, headers) => {
    const response = await fetch(`${url}/webhooks`, {
      method: 'POST',
      body: new Uint8Array(Buffer.from(body)),
      headers,
    });
    return { status: response.status, text: await response.text(), response };
  };
  return {
    url,
    port,
    sink,
    logged,
    asked,
    setDetails: (next) => void (details = next),
    setReady: (next) => void (ready = next),
    post,
    postSigned: (body, key, eventType) => post(JSON.stringify(body), headersFor(body, key, eventType)),
    async metric(name, labels = {}) {
      const found = await registry.getSingleMetric(name)?.get();
      const same = (left: object) =>
        JSON.stringify(Object.entries(left).sort()) === JSON.stringify(Object.entries(labels).sort());
      return found?.values.find((entry) => same(entry.labels))?.value ?? 0;
    },
    close: () => app.close(),
  };
}
