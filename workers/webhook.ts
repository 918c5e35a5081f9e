import { collectDefaultMetrics, Registry } from 'prom-client';
import { createEventSink } from '../src/client/event-sink.js';
import { createReadyCheck } from '../src/client/ready-check.js';
import { lazyClient } from '../src/client/connect.js';
import { whyEngineUnreachable } from '../src/client/why-unreachable.js';
import { loadConfig } from '../src/config/index.js';
import { createDataConverter } from '../src/security/data-converter.js';
import { createWebhookHandler } from '../src/webhook/handler.js';
import { createMetricsServer, createWebhookMetrics } from '../src/webhook/metrics.js';
import { createWebhookServer } from '../src/webhook/server.js';
import { createPaymentDetails, createProviders, eventRateLimits } from './providers.js';
import { listen, runProcess } from './process.js';

const DELIVERY_TIMEOUT_MS = 5000;

await runProcess({
  name: 'webhook',
  load: (env) => loadConfig(env, { tells: false }),
  async start({ config, logger, stopping }) {
    const dataConverter = createDataConverter(config.keyRing, { logger });
    // Lazy: without Temporal the handler answers 503 and recovers by itself, so the service loses no event.
    const { client, connection } = lazyClient(dataConverter);
    const registry = new Registry();
    registry.setDefaultLabels({ environment: config.environment });
    collectDefaultMetrics({ register: registry });
    const metrics = createWebhookMetrics(registry);
    const sink = createEventSink(client, { timeoutMs: DELIVERY_TIMEOUT_MS, environment: config.environment });
    const handler = createWebhookHandler({
      environment: config.environment,
      units: config.businessUnits.values(),
      sink,
      paymentDetails: createPaymentDetails(createProviders(config), eventRateLimits(config)),
      apiBaseUrl: config.apiBaseUrl,
      metrics,
      logger,
      deliveryTimeoutMs: DELIVERY_TIMEOUT_MS,
      waitForEndMs: config.webhookWaitMs,
      stopping,
      // What an earlier event named may be a flow that the restore has lost.
      remembersFlows: config.restoredTo === undefined,
      ...(config.webhookSenders !== undefined && { allowedSenders: config.webhookSenders }),
    });
    const { keyRing, environment } = config;
    const ready = createReadyCheck(client, {
      keyId: keyRing.currentId,
      environment,
      why: whyEngineUnreachable,
      logger,
    });
    // Logs what is not right, even if no readiness check is requested.
    void ready();
    const server = createWebhookServer({
      handler,
      metrics,
      logger,
      ready,
      options: { trustedProxies: config.trustedProxies },
    });
    const metricsServer = createMetricsServer(registry);

    const { bindAddress: host, ports } = config;
    const metricsUrl = await listen(metricsServer, {
      host,
      port: ports.webhookMetrics,
      setting: 'HOLDFAST_WEBHOOK_METRICS_PORT',
    });
    const url = await listen(server, { host, port: ports.webhook, setting: 'HOLDFAST_WEBHOOK_PORT' });
    logger.info({ url: `${metricsUrl}/metrics` }, 'Metrics are served');
    return {
      url,
      async stop() {
        await server.close();
        await metricsServer.close();
        await sink.idle();
        await connection.close();
      },
    };
  },
});
