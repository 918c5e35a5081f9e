/**
 * Holdfast's webhook handler in an Express server of your own, beside its other routes. Temporal is found by its
 * `TEMPORAL_*` variables, the keys in `HOLDFAST_ENCRYPTION_KEYS` are those of the worker.
 */
import express from 'express';
import { connectEventSink } from 'holdfast/client';
import { ProviderClient } from 'holdfast/provider';
import { createWebhookHandler, createWebhookMetrics, webhookListener } from 'holdfast/webhook';
import { Registry } from 'prom-client';

const { API_BASE_URL: baseUrl, APP_ID: appId, PRIVATE_KEY: privateKey, PORT = '0' } = process.env;
const environment = 'test';
const provider = new ProviderClient({ baseUrl, environment, unit: { appId, privateKey, apiVersion: '1.3.0' } });
const registry = new Registry();

const handler = createWebhookHandler({
  environment,
  units: [{ name: 'default', appId, privateKey, previousPrivateKeys: [] }],
  sink: connectEventSink(),
  paymentDetails: async ({ paymentId }, timeoutMs) => {
    const { data } = await provider.getPayment(paymentId, { timeoutMs });
    return data.additionalDetails ?? {};
  },
  // After a restore of Temporal's database the flow that it remembers may be lost.
  remembersFlows: process.env.HOLDFAST_RESTORED_TO === undefined,
  metrics: createWebhookMetrics(registry),
  logger: { info() {}, warn: (fields, message) => console.error(message, fields.result ?? fields.reason ?? '') },
});

const app = express();
// Before any body parser: a signature is checked over the bytes as they came.
app.post('/webhooks', webhookListener(handler));
app.use(express.json());
app.post('/orders', (request, response) => response.json({ ordered: request.body.item }));

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`ready express http://127.0.0.1:${server.address().port}`);
});
process.once('SIGTERM', () => process.exit(0));
