import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { transactionEventSchema } from '../../src/contract/messages.js';
import { createWebhookHandler } from '../../src/webhook/handler.js';
import { signedText } from '../../src/webhook/signature.js';
import {
  chargeBody,
  EVENT_TYPE,
  headersFor,
  KEY,
  OLD_KEY,
  OTHER_KEY,
  startHandler,
  UNITS,
  type Harness,
} from './support.js';

let harness: Harness;
beforeEach(async () => {
  harness = await startHandler();
});
afterEach(() => harness.close());

describe('a verified event', () => {
  test('reaches the flow of its reference with its signed fields and nothing else', async () => {
    const body = chargeBody();
    const { status } = await harness.postSigned(body);

    expect(status).toBe(200);
    const text = signedText(EVENT_TYPE, body);
    expect(harness.sink.sent).toEqual([
      {
        workflowId: 'payment-order-1001',
        event: {
          hash: createHash('sha256').update(text).digest('hex'),
          eventId: body.id,
          eventType: 'payment.charge.update',
          created: '2026-11-06T14:33:46.150Z',
          businessUnit: 'default',
          paymentId: '150f1279-6d2c-4728-9e23-6b303f3f1f2f',
          transactionId: '4a3c1f6e-5d50-4b7c-9b3d-0c5d2a1b7e11',
          status: 'Failed',
          category: 'payment_method_declined',
          subCategory: 'insufficient_funds',
          responseCode: '102',
          reconciliationId: 'order-1001',
          amount: 1095,
          currency: 'USD',
          trusted: true,
        },
      },
    ]);
    expect(transactionEventSchema.parse(harness.sink.sent[0]?.event)).toEqual(harness.sink.sent[0]?.event);
  });

  test('leaves absent, null and empty fields absent', async () => {
    const { amount: _amount, currency: _currency, ...data } = chargeBody().data;
    const body = {
      ...chargeBody(),
      data: { ...data, result: { status: 'Succeed', category: null, sub_category: '' } },
    };
    expect((await harness.postSigned(body)).status).toBe(200);
    const event = harness.sink.sent[0]?.event ?? {};
    expect(Object.keys(event)).not.toEqual(expect.arrayContaining(['amount']));
    for (const name of ['amount', 'currency', 'category', 'subCategory']) expect(event).not.toHaveProperty(name);
    expect(await harness.metric('holdfast_webhook_unusable_fields_total', { field: 'amount' })).toBe(0);
  });

  test.each([
    ['amount', { amount: 10.95 }],
    ['amount', { amount: 0 }],
    ['amount', { amount: -5 }],
    ['amount', { amount: '10.95' }],
    ['amount', { amount: 9007199254740992 }],
    ['currency', { currency: 'dollars' }],
    ['status', { result: { status: 'Exploded' } }],
  ])('leaves out and counts a signed %s that cannot be used: %j', async (field, change) => {
    const body = { ...chargeBody(), data: { ...chargeBody().data, ...change } };
    expect((await harness.postSigned(body)).status).toBe(200);
    const event = harness.sink.sent[0]?.event;
    expect(event).not.toHaveProperty(field);
    expect(event?.unknownStatus).toBe(field === 'status' ? true : undefined);
    expect(event?.unknownSum).toBe(field === 'status' ? undefined : true);
    expect(await harness.metric('holdfast_webhook_unusable_fields_total', { field })).toBe(1);
  });

  test.each(['1.1.0', '1.2', '1.10.0', '2.0.0', '12.3.4'])(
    'is read as version %s with the fields that are known',
    async (version) => {
      expect((await harness.post(JSON.stringify(chargeBody()), { ...headersFor(chargeBody()), version })).status).toBe(
        200,
      );
      expect(harness.sink.sent[0]?.event).toMatchObject({ eventType: EVENT_TYPE, status: expect.any(String) });
    },
  );

  test('is one event, whatever the JSON around its signed text looks like', async () => {
    const body = chargeBody();
    await harness.postSigned(body);
    const spelled = { ...body, extra: [1, 2], data: { ...body.data, amount: '1095', redirection: 'elsewhere' } };
    await harness.post(JSON.stringify(spelled, null, 2), headersFor(body));
    expect(harness.sink.sent[1]).toEqual(harness.sink.sent[0]);
  });

  test('is taken under a rotated key, and the key is counted', async () => {
    expect((await harness.postSigned(chargeBody(), OLD_KEY)).status).toBe(200);
    const kind = { type: EVENT_TYPE, version: '1.3.0' };
    expect(await harness.metric('holdfast_webhook_verified_total', { ...kind, key: 'previous' })).toBe(1);
    const uses = (key: string) => harness.metric('holdfast_webhook_key_uses_total', { business_unit: 'default', key });
    expect([await uses('current'), await uses('previous-1')]).toEqual([0, 1]);
  });

  test('is counted as received, and as a duplicate from the second time on, by type and version', async () => {
    const kind = { type: EVENT_TYPE, version: '1.3.0' };
    for (let sent = 0; sent < 3; sent += 1) await harness.postSigned(chargeBody());
    expect((await harness.post('no event', { 'event-type': 'a'.repeat(90), version: '9' })).status).toBe(400);
    expect(await harness.metric('holdfast_webhook_received_total', kind)).toBe(3);
    expect(await harness.metric('holdfast_webhook_received_total', { type: 'other', version: 'other' })).toBe(1);
    expect(await harness.metric('holdfast_webhook_duplicates_total', kind)).toBe(2);
  });

  test('of an unknown type is delivered all the same, under a label that cannot grow', async () => {
    expect((await harness.postSigned(chargeBody(), KEY, 'payment.dispute.create')).status).toBe(200);
    expect(harness.sink.sent[0]?.event.eventType).toBe('payment.dispute.create');
    const labels = { type: 'other', version: '1.3.0', result: 'delivered' };
    expect(await harness.metric('holdfast_webhook_events_total', labels)).toBe(1);
  });

  test('of a billing attempt of a subscription reaches its child flow', async () => {
    const body = { ...chargeBody(), data: { ...chargeBody().data, reconciliation_id: 'club-7.12.1' } };
    await harness.postSigned(body);
    expect(harness.sink.sent[0]?.workflowId).toBe('payment-club-7.12.1');
  });

  test.each([undefined, 'with space', 'x'.repeat(71), 'päyment', '../up'])(
    'without a reference of ours (%s) goes to the actions of its payment, and to no id made of that text',
    async (reference) => {
      const body = { ...chargeBody(), data: { ...chargeBody().data, reconciliation_id: reference } };
      harness.sink.answer = () => Promise.resolve('notFound');
      expect((await harness.postSigned(body)).status).toBe(200);
      expect(harness.sink.sent.map(({ workflowId }) => workflowId)).toEqual([
        `payment-actions-${body.payment_id}`,
        `resolve-${body.data.id}`,
      ]);
    },
  );

  test('without a payment id is acknowledged and goes nowhere', async () => {
    const { payment_id: _paymentId, ...body } = chargeBody();
    expect((await harness.postSigned(body)).status).toBe(200);
    expect(harness.sink.sent).toEqual([]);
  });

  test('leaves no secret, amount, body or unsigned field in the log', async () => {
    await harness.postSigned(chargeBody());
    await harness.post('{"app_id":"app-default"}', { ...headersFor(chargeBody()), signature: 'sig1=00' });
    const log = harness.logged.join('\n');
    for (const shown of ['order-1001', chargeBody().id]) expect(log).toContain(shown);
    for (const secret of [
      KEY,
      OLD_KEY,
      '1095',
      'unsigned.example',
      'DECLINED',
      headersFor(chargeBody())['signature'],
    ]) {
      expect(log).not.toContain(secret);
    }
  });
});

describe('the acknowledgement', () => {
  const outcomes = { type: EVENT_TYPE, version: '1.3.0' };

  test('is 200 and counted late when the flow has ended as the event says', async () => {
    harness.sink.answer = () => Promise.resolve('ended');
    harness.sink.ended = () => Promise.resolve({ status: 'declined', paymentId: chargeBody().payment_id });
    expect((await harness.postSigned(chargeBody())).status).toBe(200);
    expect(await harness.metric('holdfast_webhook_events_total', { ...outcomes, result: 'late' })).toBe(1);
    expect(harness.sink.parked).toEqual([]);
  });

  test('is 503 with Retry-After while Temporal is away, and 200 once it is back', async () => {
    harness.sink.answer = () => Promise.reject(new Error('14 UNAVAILABLE'));
    const { status, response, text } = await harness.postSigned(chargeBody());
    expect([status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(text).not.toContain('UNAVAILABLE');
    harness.sink.answer = () => Promise.resolve('delivered');
    expect((await harness.postSigned(chargeBody())).status).toBe(200);
  });

  test('does not wait for ever: an answer that never comes is a 503', async () => {
    await harness.close();
    harness = await startHandler({ deliveryTimeoutMs: 50 });
    harness.sink.answer = () => new Promise(() => undefined);
    expect((await harness.postSigned(chargeBody())).status).toBe(503);
    expect(await harness.metric('holdfast_webhook_events_total', { ...outcomes, result: 'unavailable' })).toBe(1);
  });

  test('is 503 for events above the limit of deliveries under way, which do not pile up', async () => {
    await harness.close();
    harness = await startHandler({ maxInFlight: 1 });
    let release = (): void => undefined;
    const entered = new Promise<void>((resolve) => {
      harness.sink.answer = () => {
        resolve();
        return new Promise((done) => (release = () => done('delivered')));
      };
    });
    const first = harness.postSigned(chargeBody());
    await entered;
    expect((await harness.postSigned(chargeBody())).status).toBe(503);
    release();
    expect((await first).status).toBe(200);
    expect(harness.sink.sent).toHaveLength(1);
  });
});

test('events of one business unit take half of the places, and those of another one are still delivered', async () => {
  const harness = await startHandler({ maxInFlight: 4, deliveryTimeoutMs: 60_000 });
  try {
    const releases: (() => void)[] = [];
    let entered = (): void => undefined;
    harness.sink.answer = () => {
      entered();
      return new Promise((done) => releases.push(() => done('delivered')));
    };
    const begin = async (post: () => Promise<{ status: number }>): Promise<Promise<{ status: number }>[]> => {
      const isIn = new Promise<void>((resolve) => (entered = resolve));
      const posted = post();
      await isIn;
      return [posted];
    };
    const own = (transaction: string) => ({
      ...chargeBody(),
      data: { ...chargeBody().data, id: transaction },
    });
    const ofOther = { ...chargeBody(), app_id: 'app-other' };
    const [first] = await begin(async () => await harness.postSigned(own('4a3c1f6e-5d50-4b7c-9b3d-0c5d2a1b7e12')));
    const [second] = await begin(async () => await harness.postSigned(own('4a3c1f6e-5d50-4b7c-9b3d-0c5d2a1b7e13')));
    expect((await harness.postSigned(own('4a3c1f6e-5d50-4b7c-9b3d-0c5d2a1b7e14'))).status).toBe(503);
    const [other] = await begin(async () => await harness.postSigned(ofOther, OTHER_KEY));
    for (const release of releases.splice(0)) release();
    expect((await Promise.all([first, second, other])).map((one) => one?.status)).toEqual([200, 200, 200]);
    // Each place has been given back.
    harness.sink.answer = () => Promise.resolve('delivered');
    expect((await harness.postSigned(own('4a3c1f6e-5d50-4b7c-9b3d-0c5d2a1b7e14'))).status).toBe(200);
  } finally {
    await harness.close();
  }
});

describe('settings under which a signature proves nothing', () => {
  test('are refused at the start, all faults named and no key shown', async () => {
    const [unit] = UNITS;
    if (unit === undefined) throw new Error('no unit');
    const units = [unit, { ...unit, name: 'copy' }, { ...unit, name: 'bare', appId: 'b', previousPrivateKeys: [''] }];
    const start = () => createWebhookHandler({ units } as unknown as Parameters<typeof createWebhookHandler>[0]);
    expect(start).toThrow('business units default and copy share the app id app-default');
    expect(start).toThrow('business unit bare has an empty private key');
    expect(start).not.toThrow(KEY);
  });
});
