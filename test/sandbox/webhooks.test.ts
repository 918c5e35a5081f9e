import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startReceiver, type ReceivedEvent, type Receiver } from './support/receiver.js';
import {
  GOOD_CARD,
  PENDING_THEN_FAILED,
  PENDING_THEN_SUCCEED,
  startTestSandbox,
  type TestSandbox,
  until,
} from './support/sandbox.js';

const HOUR_MS = 3_600_000;

let sandbox: TestSandbox;
let receiver: Receiver;
beforeAll(async () => {
  sandbox = await startTestSandbox({ settings: { resendFirstMs: 5, eventDelayMs: 0 } });
});
afterAll(() => sandbox.close());
beforeEach(async () => {
  receiver = await startReceiver();
  await sandbox.control.reset({ resendFirstMs: 5 });
});
afterEach(() => receiver.close());

/** The documented signature, worked out here again so that the sandbox's own signer can't vouch for itself. */
function expectedSignature({ type, body }: ReceivedEvent, key: string): string {
  const data = body.data as {
    id: string;
    result?: { status?: string; category?: string; sub_category?: string };
    provider_data?: { response_code?: string };
    reconciliation_id?: string;
    amount?: number;
    currency?: string;
  };
  const values = [
    ...[type, body.id, body.account_id, body.payment_id, body.created, body.app_id, data.id],
    ...[data.result?.status, data.result?.category, data.result?.sub_category, data.provider_data?.response_code],
    ...[data.reconciliation_id, data.amount, data.currency],
  ];
  return `sig1=${createHmac('sha256', key)
    .update(values.map((value) => value ?? '').join(','))
    .digest('hex')}`;
}

describe('webhooks', () => {
  test('a charge that pends and settles is announced by signed events with the shape of GET', async () => {
    await sandbox.control.addWebhookEndpoint({ url: receiver.url });
    const { paymentId, charge } = await sandbox.charged(PENDING_THEN_SUCCEED, { reconciliation_id: 'wh-1' });
    await receiver.event('payment.charge.create');
    await sandbox.control.advanceClock(10_000);
    const settled = await receiver.event('payment.charge.update');
    await receiver.event('payment.payment.update', (event) => event.body.data['status'] === 'Captured');
    expect(receiver.events.map((event) => event.type)).toEqual([
      'payment.payment.create',
      'payment.charge.create',
      'payment.payment.update',
      'payment.charge.update',
      'payment.payment.update',
    ]);
    for (const event of receiver.events) {
      expect(event.headers['signature']).toBe(expectedSignature(event, 'sandbox-private-key'));
      expect(event.headers).toMatchObject({
        version: '1.3.0',
        'x-svc-env': 'test',
        'content-type': 'application/json',
      });
      expect(event.body).toMatchObject({ payment_id: paymentId, app_id: 'holdfast-sandbox' });
      expect(event.body.id.startsWith(`${paymentId}-${event.body.created}-`)).toBe(true);
    }
    expect(new Set(receiver.events.map((event) => event.body.id)).size).toBe(5);
    expect(settled.headers['x-svc-request-id']).toBe(charge.headers.get('x-svc-request-id'));
    const read = await sandbox.api.get(`/payments/${paymentId}/charges/${charge.body.id}`);
    expect(settled.body.data).toEqual(read.body);
    expect(read.body).toMatchObject({ amount: 1095, currency: 'USD', reconciliation_id: 'wh-1' });
  });

  test('the event of a failed charge carries category and response code under its signature', async () => {
    await sandbox.control.addWebhookEndpoint({ url: receiver.url, events: ['payment.charge.update'] });
    const { charge } = await sandbox.charged(PENDING_THEN_FAILED);
    await sandbox.control.complete(charge.body.id, {
      status: 'Failed',
      category: 'payment_method_declined',
      subCategory: 'insufficient_funds',
    });
    const event = await receiver.event('payment.charge.update');
    expect(event.body.data.result).toMatchObject({ status: 'Failed', sub_category: 'insufficient_funds' });
    expect(event.headers['signature']).toBe(expectedSignature(event, 'sandbox-private-key'));
    expect(receiver.events).toHaveLength(1);
  });

  test('an event is sent again, unchanged, until a 2xx', async () => {
    await sandbox.control.addWebhookEndpoint({ url: receiver.url, events: ['payment.charge.create'] });
    receiver.answerNext(500, 302, 404);
    await sandbox.charged(GOOD_CARD, { reconciliation_id: 'wh-again' });
    const [delivery] = await until(async () => {
      const done = await sandbox.control.deliveries({ reconciliationId: 'wh-again', status: 'delivered' });
      return done.length > 0 ? done : undefined;
    });
    expect(delivery).toMatchObject({ attempts: 4, last_status: 200, event_type: 'payment.charge.create' });
    expect(new Set(receiver.events.map((event) => event.raw)).size).toBe(1);
    expect(receiver.events).toHaveLength(4);
  });

  test('without a 2xx the pauses double, and after 24 h the event is given up', async () => {
    await sandbox.control.settings({ resendFirstMs: 60_000 });
    await receiver.close();
    await sandbox.control.addWebhookEndpoint({ url: receiver.url, events: ['payment.charge.create'] });
    await sandbox.charged();
    const attempted = (times: number) =>
      until(async () => (await sandbox.control.deliveries()).find((delivery) => delivery.attempts === times));
    const pauses: number[] = [];
    for (let times = 1; times <= 8; times++) {
      const { next_at: next } = await attempted(times);
      const { now } = await sandbox.control.health();
      pauses.push(Math.round((Number(next) - Date.parse(now)) / 60_000));
      await sandbox.control.advanceClock(Number(next) - Date.parse(now));
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    await sandbox.control.advanceClock(24 * HOUR_MS);
    await until(async () => (await sandbox.control.deliveries({ status: 'given_up' }))[0]);
  });

  test('a changed endpoint keeps its old address for what is under way, and takes new events at the new one', async () => {
    await sandbox.control.settings({ resendFirstMs: 3_600_000 });
    const old = await startReceiver();
    old.answerNext(500);
    const { id } = await sandbox.control.addWebhookEndpoint({ url: old.url, events: ['payment.charge.create'] });
    const first = await sandbox.charged();
    await until(async () => (await sandbox.control.deliveries()).find((delivery) => delivery.attempts === 1));
    await sandbox.control.addWebhookEndpoint({ id, url: receiver.url, events: ['payment.charge.create'] });
    const second = await sandbox.charged();
    await receiver.event('payment.charge.create');
    await sandbox.control.advanceClock(HOUR_MS);
    await until(() => old.events[1]);
    expect(old.events.map((event) => event.body.payment_id)).toEqual([first.paymentId, first.paymentId]);
    expect(receiver.events.map((event) => event.body.payment_id)).toEqual([second.paymentId]);
    await old.close();
  });

  test('a removed endpoint gets nothing more', async () => {
    await sandbox.control.settings({ resendFirstMs: 3_600_000 });
    receiver.answerNext(500);
    const { id } = await sandbox.control.addWebhookEndpoint({ url: receiver.url, events: ['payment.charge.create'] });
    await sandbox.charged();
    await until(async () => (await sandbox.control.deliveries()).find((delivery) => delivery.attempts === 1));
    await sandbox.control.removeWebhookEndpoint(id);
    expect(await sandbox.control.deliveries()).toMatchObject([{ status: 'cancelled' }]);
    expect(await sandbox.control.webhookEndpoints()).toEqual([]);
  });

  test('nor one that is removed while it takes its time to refuse an event', async () => {
    let answer = (): void => undefined;
    receiver.answerAfter(new Promise((resolve) => (answer = resolve)));
    receiver.answerNext(500);
    const { id } = await sandbox.control.addWebhookEndpoint({ url: receiver.url, events: ['payment.charge.create'] });
    await sandbox.charged();
    await receiver.event('payment.charge.create');
    await sandbox.control.removeWebhookEndpoint(id);
    answer();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await sandbox.control.deliveries()).toMatchObject([{ status: 'cancelled' }]);
    expect(receiver.events).toHaveLength(1);
  });

  test('an endpoint gets only its events, environment and units, without the fields it filters', async () => {
    await sandbox.control.putBusinessUnit({ app_id: 'unit-2' });
    const charges = ['payment.charge.*'];
    await sandbox.control.addWebhookEndpoint({ url: `${receiver.url}/unit-2`, app_ids: ['unit-2'] });
    await sandbox.control.addWebhookEndpoint({ url: `${receiver.url}/live`, env: 'live' });
    const filters = ['provider_data.raw_response', 'payment_method', 'no.such.field'];
    await sandbox.control.addWebhookEndpoint({ url: receiver.url, version: '1.2.0', events: charges, filters });
    await sandbox.charged();
    const event = await receiver.event('payment.charge.create');
    expect(event.headers['version']).toBe('1.2.0');
    expect(event.body.data).not.toHaveProperty('payment_method');
    expect(event.body.data['provider_data']).not.toHaveProperty('raw_response');
    expect(await sandbox.control.deliveries()).toHaveLength(1);
    expect(event.headers['signature']).toBe(expectedSignature(event, 'sandbox-private-key'));
  });

  test('a rotated private key signs what is sent from then on', async () => {
    await sandbox.control.addWebhookEndpoint({ url: receiver.url, events: ['payment.charge.create'] });
    await sandbox.charged();
    await receiver.event('payment.charge.create');
    await sandbox.control.putBusinessUnit({ app_id: 'holdfast-sandbox', private_key: 'rotated' });
    const [delivery] = await sandbox.control.deliveries();
    await sandbox.control.resend(delivery?.id ?? '');
    const again = await until(() => receiver.events[1]);
    expect(again.headers['signature']).toBe(expectedSignature(again, 'rotated'));
    expect((await sandbox.api.createPayment()).status).toBe(401);
  });

  test('deliveries can be looked at, filtered and sent again', async () => {
    await sandbox.control.addWebhookEndpoint({ url: receiver.url });
    const { paymentId, charge } = await sandbox.charged(GOOD_CARD, { reconciliation_id: 'wh-list' });
    await receiver.event('payment.payment.update');
    const [delivery] = await sandbox.control.deliveries({ paymentId, eventType: 'payment.charge.create' });
    const whole = await sandbox.control.delivery(delivery?.id ?? '');
    expect(whole.body).toMatchObject({ id: delivery?.event_id, data: { id: charge.body.id } });
    await sandbox.control.resend(delivery?.id ?? '');
    const copies = await until(() => {
      const same = receiver.events.filter((event) => event.body.id === delivery?.event_id);
      return same.length === 2 ? same : undefined;
    });
    expect(copies[0]?.raw).toBe(copies[1]?.raw);
    await expect(sandbox.control.resend('nothing')).rejects.toThrow('there is no delivery nothing');
  });

  test('a resend that does not arrive is not delivered, whatever an earlier attempt was answered', async () => {
    await sandbox.control.settings({ resendFirstMs: HOUR_MS });
    await sandbox.control.addWebhookEndpoint({ url: receiver.url, events: ['payment.charge.create'] });
    await sandbox.charged();
    const { id } = await until(async () => (await sandbox.control.deliveries({ status: 'delivered' }))[0]);
    await receiver.close();
    await sandbox.control.resend(id);
    const delivery = await until(async () =>
      (await sandbox.control.deliveries()).find(({ attempts }) => attempts === 2),
    );
    expect(delivery).toMatchObject({ status: 'pending', last_status: null, last_error: expect.any(String) });
  });

  test('at most five test endpoints take one event of one business unit', async () => {
    for (let i = 0; i < 5; i++) await sandbox.control.addWebhookEndpoint({ url: `${receiver.url}/${i}` });
    await expect(
      sandbox.control.addWebhookEndpoint({ url: receiver.url, events: ['payment.charge.create'] }),
    ).rejects.toThrow('has 5 test endpoints for payment.charge.create already');
    await sandbox.control.addWebhookEndpoint({ url: receiver.url, env: 'live' });
  });

  test('which is counted for each event, however it is named', async () => {
    const add = (event: string) => sandbox.control.addWebhookEndpoint({ url: receiver.url, events: [event] });
    for (const resource of ['charge', 'capture', 'refund', 'void', 'credit']) await add(`payment.${resource}.create`);
    for (let count = 0; count < 4; count += 1) await add('*');
    await expect(add('payment.*.create')).rejects.toThrow('payment.charge.create, payment.credit.create');
    await expect(add('payment.charge.*')).rejects.toThrow('endpoints for payment.charge.create already');
    await add('payment.*.update');
  });

  test('a wrong endpoint is refused with every fault named', async () => {
    const answer = await sandbox.api.post('/sandbox/webhook-endpoints', {
      url: 'ftp://x',
      version: '9',
      events: [],
      colour: 1,
    });
    const errors = (answer.body['errors'] as string[]).join('\n');
    expect(answer.status).toBe(400);
    for (const name of ['url', 'version', 'events', 'colour']) expect(errors).toContain(`${name}:`);
    await expect(sandbox.control.addWebhookEndpoint({ url: receiver.url, app_ids: ['nobody'] })).rejects.toThrow(
      'there is no business unit nobody',
    );
  });
});

describe('faults on events', () => {
  beforeEach(() => sandbox.control.addWebhookEndpoint({ url: receiver.url, events: ['payment.charge.*'] }));

  test('a lost event is never sent, whatever time passes', async () => {
    await sandbox.control.addFault({
      action: 'lose_event',
      path: 'payment.charge.create',
      reconciliation_id: 'wh-lost',
    });
    await sandbox.charged(GOOD_CARD, { reconciliation_id: 'wh-lost' });
    const other = await sandbox.charged(GOOD_CARD, { reconciliation_id: 'wh-kept' });
    await sandbox.control.advanceClock(24 * HOUR_MS);
    const kept = await receiver.event('payment.charge.create');
    expect(kept.body.payment_id).toBe(other.paymentId);
    expect(await sandbox.control.deliveries({ reconciliationId: 'wh-lost' })).toMatchObject([
      { status: 'lost', attempts: 0 },
    ]);
    expect(receiver.events).toHaveLength(1);
  });

  test('a repeated event arrives twice with the same id', async () => {
    await sandbox.control.addFault({ action: 'repeat_event', path: 'payment.charge.*' });
    await sandbox.charged();
    const second = await until(() => receiver.events[1]);
    expect(second.raw).toBe(receiver.events[0]?.raw);
    await until(async () => (await sandbox.control.deliveries({ status: 'delivered' }))[0]);
    expect(receiver.events).toHaveLength(2);
  });

  test('a delayed event is overtaken and arrives when its time has come', async () => {
    await sandbox.control.addFault({ action: 'delay_event', path: '*.create', delay_ms: 60_000, times: 1 });
    const { charge } = await sandbox.charged(PENDING_THEN_SUCCEED);
    await sandbox.control.complete(charge.body.id, { status: 'Succeed' });
    await receiver.event('payment.charge.update');
    await sandbox.control.advanceClock(60_000);
    await receiver.event('payment.charge.create');
    expect(receiver.events.map((event) => event.type)).toEqual(['payment.charge.update', 'payment.charge.create']);
  });
});
