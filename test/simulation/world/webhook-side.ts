import type { Client } from '@temporalio/client';
import { Registry } from 'prom-client';
import { createEventSink } from '../../../src/client/event-sink.js';
import type { Config } from '../../../src/config/index.js';
import type { ProviderClient } from '../../../src/provider/index.js';
import { createWebhookHandler } from '../../../src/webhook/handler.js';
import { createWebhookMetrics } from '../../../src/webhook/metrics.js';
import { createWebhookServer } from '../../../src/webhook/server.js';
import { createPaymentDetails, eventRateLimits } from '../../../workers/providers.js';
import { type AppReply, type AppRequest, type Serve, serveBy } from './app-call.js';
import type { Host, HostState, Network } from './network.js';

const DELIVERY_TIMEOUT_MS = 5000;

/** What became of a verified event, as its handler logs it. */
export interface TakenEvent {
  readonly businessUnit: string;
  readonly eventType: string;
  readonly result: string;
  readonly paymentId?: string;
}

/** The webhook handler of a simulated world, put together as `workers/webhook.ts` does for a process. */
export interface WebhookSide {
  /** Where the service sends its events. */
  readonly url: string;
  /** Warnings and errors that it logged. */
  readonly logged: readonly string[];
  /** Verified events that went to no flow. */
  readonly dropped: readonly TakenEvent[];
  /** How what comes over the network is answered, for a test in which some of it is refused. */
  through: (request: AppRequest, serve: Serve) => Promise<AppReply>;
  /** An outage and its end: `refusing`, or a status that everything is answered with. */
  deliver(state: HostState): void;
  close(): Promise<void>;
}

export interface WebhookSideParts {
  network: Network;
  config: Config;
  providers: ReadonlyMap<string, ProviderClient>;
  /** On the engine of the world, with the data converter that the worker has. */
  client: Client;
  url: string;
  /** How long an event waits for the end of its flow, in ms. */
  waitForEndMs: number;
}

export async function createWebhookSide({
  network,
  config,
  providers,
  client,
  url,
  waitForEndMs,
}: WebhookSideParts): Promise<WebhookSide> {
  const logged: string[] = [];
  const dropped: TakenEvent[] = [];
  const noteTaken = (fields: object): void => {
    const { result, businessUnit, eventType, paymentId } = fields as Partial<TakenEvent>;
    if (result === undefined || businessUnit === undefined || eventType === undefined) return;
    if (result !== 'unrouted' && !result.startsWith('foreign')) return;
    dropped.push({ result, businessUnit, eventType, ...(paymentId !== undefined && { paymentId }) });
  };
  const note = (fields: object, message: string): void => {
    noteTaken(fields);
    const { err } = fields as { err?: unknown };
    logged.push(
      err === undefined ? message : `${message}: ${err instanceof Error ? err.message : JSON.stringify(err)}`,
    );
  };
  const logger = { info: noteTaken, warn: note, error: note };
  const metrics = createWebhookMetrics(new Registry());
  const handler = createWebhookHandler({
    environment: config.environment,
    units: config.businessUnits.values(),
    sink: createEventSink(client, { timeoutMs: DELIVERY_TIMEOUT_MS }),
    paymentDetails: createPaymentDetails(providers, eventRateLimits(config)),
    apiBaseUrl: config.apiBaseUrl,
    metrics,
    logger,
    deliveryTimeoutMs: DELIVERY_TIMEOUT_MS,
    waitForEndMs,
  });
  const app = createWebhookServer({ handler, metrics, logger, ready: () => Promise.resolve(true) });
  await app.ready();
  const { origin, host } = new URL(url);
  const serve = serveBy(app, host);
  const attached: Host = network.attach(origin, (request) => side.through(request, serve));
  const side: WebhookSide = {
    url,
    logged,
    dropped,
    through: (request, answer) => answer(request),
    deliver(state) {
      attached.state = state;
    },
    async close() {
      network.detach(origin);
      await app.close();
    },
  };
  return side;
}
