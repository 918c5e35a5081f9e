import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startReceiver, type Receiver } from './support/receiver.js';
import { authorized, GOOD_CARD, startTestSandbox, until, type TestSandbox } from './support/sandbox.js';

let sandbox: TestSandbox;
let receiver: Receiver;
beforeAll(async () => {
  sandbox = await startTestSandbox({ settings: { resendFirstMs: 5, eventDelayMs: 0 } });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await sandbox.close();
});
beforeEach(async () => {
  await sandbox.control.reset();
  receiver.events.length = 0;
});

interface Pointer {
  event_type: string;
  created: string;
  account_id: string;
  'app-id': string;
  resource: { id: string; action_id?: string; href: string; order_id?: string };
}
const pointers = () => receiver.events.map(({ raw }) => JSON.parse(raw) as Pointer);
const pointer = (type: string) => until(() => pointers().find(({ event_type }) => event_type === type));

test('an event of 1.0.1 carries a digest of its body and points at what changed', async () => {
  await sandbox.control.addWebhookEndpoint({ url: receiver.url, version: '1.0.1' });
  const { token } = await sandbox.control.tokenize(GOOD_CARD);
  const payment = await sandbox.api.createPayment({ order: { id: 'order-1' } });
  const charge = await sandbox.api.charge(payment.body.id, token);
  const event = await pointer('payment.charge.create');
  expect(event).toEqual({
    event_type: 'payment.charge.create',
    created: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    account_id: expect.any(String),
    'app-id': 'holdfast-sandbox',
    resource: {
      id: payment.body.id,
      action_id: charge.body.id,
      href: `${sandbox.url}/payments/${payment.body.id}/charges/${charge.body.id}`,
      order_id: 'order-1',
    },
  });
  const read = await sandbox.api.get(event.resource.href.slice(sandbox.url.length));
  expect(read.body.result.status).toBe('Succeed');
  for (const { headers, raw } of receiver.events) {
    expect(headers['digest']).toBe(createHash('sha256').update(raw).digest('hex'));
    expect(headers).toMatchObject({ version: '1.0.1', 'x-svc-env': 'test', 'x-svc-request-id': expect.any(String) });
    for (const newer of ['signature', 'event-type']) expect(headers).not.toHaveProperty(newer);
  }
});

test('before 1.0.1 an event does not name the transaction apart from its link', async () => {
  await sandbox.control.addWebhookEndpoint({ url: receiver.url, version: '1.0.0' });
  const { path } = await authorized(sandbox);
  await sandbox.api.post(`${path}/voids`, {});
  const event = await pointer('payment.void.create');
  expect(event.resource.href).toContain('/voids/');
  expect(event.resource).not.toHaveProperty('action_id');
});

test('every kind of transaction is announced under its name, and a refund with its reason', async () => {
  await sandbox.control.addWebhookEndpoint({ url: receiver.url });
  const { path } = await authorized(sandbox);
  await sandbox.api.post(`${path}/captures`, {});
  const refund = await sandbox.api.post(`${path}/refunds`, { reason: 'returned' });
  for (const kind of ['authorization', 'capture', 'refund']) await receiver.event(`payment.${kind}.create`);
  const event = await receiver.event('payment.refund.create');
  expect(event.body.data).toEqual({ ...refund.body, reason: 'returned' });
});

test('a hold that ends is announced by the payment alone', async () => {
  await sandbox.control.addWebhookEndpoint({ url: receiver.url });
  const { paymentId } = await authorized(sandbox);
  await sandbox.control.advanceClock(7 * 86_400_000);
  const voided = await receiver.event('payment.payment.update', ({ body }) => body.data['status'] === 'Voided');
  expect(voided.body.data.id).toBe(paymentId);
  expect(receiver.events.map(({ type }) => type)).not.toContain('payment.void.create');
});
