/**
 * Holdfast's webhook handler in an Express server of your own, beside its other routes. Temporal is found by its
 * `TEMPORAL_*` variables, the keys in `HOLDFAST_ENCRYPTION_KEYS` are those of the worker.
 */
import { createServer } from 'node:http';
import express from 'express';
import { connectEventSink } from 'holdfast/client';
import { ProviderClient, ProviderError } from 'holdfast/provider';
import { createWebhookHandler, createWebhookMetrics, webhookListener } from 'holdfast/webhook';
import { Registry } from 'prom-client';

const { env } = process;
const environment = env.HOLDFAST_ENVIRONMENT ?? 'test';
// One for each business unit.
const units = [{ name: 'default', appId: env.APP_ID, privateKey: env.PRIVATE_KEY, previousPrivateKeys: [] }];
const providers = new Map();
for (const { name, appId, privateKey } of units) {
  const unit = { appId, privateKey, apiVersion: '1.3.0' };
  providers.set(name, new ProviderClient({ baseUrl: env.API_BASE_URL, environment, unit }));
}
const registry = new Registry();
registry.setDefaultLabels({ environment });
const warn = ({ err, ...fields }, message) => console.error(message, JSON.stringify(fields), err ?? '');
const stopping = new AbortController();
const sink = connectEventSink({ environment });

const handler = createWebhookHandler({
  environment,
  units,
  sink,
  async paymentDetails({ businessUnit, paymentId }, timeoutMs) {
    try {
      const { data } = await providers.get(businessUnit).getPayment(paymentId, { timeoutMs });
      return data.additionalDetails ?? {};
    } catch (error) {
      // The service has no such payment. Anything else says that it can't be asked now.
      if (error instanceof ProviderError && error.failureType === 'NotFound') return undefined;
      throw error;
    }
  },
  // After a restore of Temporal's database the flow that it remembers may be lost.
  remembersFlows: env.HOLDFAST_RESTORED_TO === undefined,
  metrics: createWebhookMetrics(registry),
  logger: { info() {}, warn },
  stopping: stopping.signal,
});

const app = express();
// Before any body parser: a signature is checked over the bytes as they came.
const onError = (err) => warn({ err }, 'A webhook could not be handled');
app.post('/webhooks', webhookListener(handler, { onError }));
app.get('/ready', async (_request, response) => {
  const ready = await sink.ready();
  response.status(ready === true ? 200 : 503).json({ status: ready === true ? 'ready' : ready });
});
app.use(express.json());
app.post('/orders', (request, response) => response.json({ ordered: request.body.item }));

const server = app.listen(Number(env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`ready express http://127.0.0.1:${server.address().port}`);
});
// On a port of its own: the payment service, which reaches the other one, must not see them.
const metrics = createServer(async (_request, response) => {
  response.setHeader('content-type', registry.contentType).end(await registry.metrics());
}).listen(Number(env.METRICS_PORT ?? 9465), '127.0.0.1');

process.once('SIGTERM', async () => {
  // What waits for the end of its flow is delivered at once.
  stopping.abort();
  await new Promise((resolve) => server.close(resolve));
  metrics.close();
  await sink.close();
});
