import { createHash, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { transactionEventSchema } from '../../src/contract/messages.js';
import { createWebhookHandler } from '../../src/webhook/handler.js';
import { createUnsignedLimit } from '../../src/webhook/legacy.js';
import { fullOr } from '../support/counts.js';
import { chargeBody, headersFor, startHandler, UNITS, type Harness } from './support.js';

const API = 'https://api.example.com/v1';
const PAYMENT = '150f1279-6d2c-4728-9e23-6b303f3f1f2f';
const CHARGE = '4a3c1f6e-5d50-4b7c-9b3d-0c5d2a1b7e11';
const OWN = 'payment-order-1001';
const units = UNITS.map((unit) => ({ ...unit, legacyWebhooks: unit.name === 'default' }));

let harness: Harness;
beforeEach(async () => {
  harness = await startHandler({ units, apiBaseUrl: API });
  harness.sink.answer = (workflowId) => Promise.resolve(workflowId === OWN ? 'delivered' : 'notFound');
  harness.setDetails(() => Promise.resolve({ holdfast_workflow_id: OWN }));
});
afterEach(() => harness.close());

function pointerBody(resource: object = {}, fields: object = {}) {
  return {
    event_type: 'payment.charge.update',
    created: '2026-11-06T14:33:46.150Z',
    account_id: '2058ac1f-ca4b-497f-8181-341e0eea5392',
    'app-id': 'app-default',
    ...fields,
    resource: { id: PAYMENT, action_id: CHARGE, href: `${API}/payments/${PAYMENT}/charges/${CHARGE}`, ...resource },
  };
}

async function post(body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const digest = createHash('sha256').update(text).digest('hex');
  return await harness.post(text, { digest, version: '1.0.1', 'x-svc-env': 'test', ...headers });
}

describe('an event of version 1.0.1', () => {
  test('makes the flow of its payment look, and vouches for nothing', async () => {
    const body = pointerBody();
    expect((await post(body)).status).toBe(200);
    const event = harness.sink.sent.at(-1)?.event;
    expect(harness.sink.sent.at(-1)?.workflowId).toBe(OWN);
    expect(event).toEqual({
      hash: createHash('sha256').update(JSON.stringify(body)).digest('hex'),
      eventType: 'payment.charge.update',
      created: '2026-11-06T14:33:46.150Z',
      businessUnit: 'default',
      paymentId: PAYMENT,
      transactionId: CHARGE,
      trusted: false,
    });
    expect(transactionEventSchema.parse(event)).toEqual(event);
    const labels = { type: 'payment.charge.update', version: '1.0.1', key: 'none' };
    expect(await harness.metric('holdfast_webhook_verified_total', labels)).toBe(1);
  });

  test('is left by a flow that has ended to one that runs', async () => {
    const resolve = `resolve-${CHARGE}`;
    for (const running of [resolve, OWN]) {
      harness.sink.answer = (workflowId) =>
        Promise.resolve(
          workflowId === running ? 'delivered' : workflowId === `payment-actions-${PAYMENT}` ? 'ended' : 'notFound',
        );
      harness.sink.ended = () =>
        Promise.resolve({ status: 'idle', paymentId: PAYMENT, result: { status: 'idle', actions: [] } });
      expect((await post(pointerBody({}, { created: running }))).text).toBe('{"result":"delivered"}');
    }
    harness.sink.answer = (workflowId) => Promise.resolve(workflowId === OWN ? 'notFound' : 'ended');
    harness.sink.ended = () => Promise.resolve({ paymentId: PAYMENT, result: { transactionId: CHARGE } });
    expect((await post(pointerBody({}, { created: 'late' }))).text).toBe('{"result":"late"}');
    harness.setDetails(() => Promise.reject(new Error('503')));
    expect((await post(pointerBody({}, { created: 'later' }))).text).toBe('{"result":"late"}');
  });

  test('is parked for a person where the flow that made its payment has ended and does not know its transaction', async () => {
    harness.sink.answer = (workflowId) => Promise.resolve(workflowId === OWN ? 'ended' : 'notFound');
    const result = { status: 'succeeded', transactionId: randomUUID() };
    harness.sink.ended = () => Promise.resolve({ status: 'succeeded', paymentId: PAYMENT, result });
    const refund = pointerBody({ href: undefined }, { event_type: 'payment.refund.create' });
    expect((await post(refund)).text).toBe('{"result":"parked"}');
    expect(harness.sink.parked).toMatchObject([
      { event: { transactionId: CHARGE, trusted: false }, reason: 'unknownTransaction' },
    ]);
  });

  test('of a dispute has the commands of its payment look, where the service knows that payment', async () => {
    const dispute = pointerBody({ href: undefined }, { event_type: 'payment.dispute.create' });
    expect((await post(dispute)).status).toBe(200);
    expect(harness.sink.disputes).toMatchObject([{ paymentId: PAYMENT, madeBy: OWN }]);
    await post(pointerBody());
    expect(harness.sink.disputes).toHaveLength(1);
  });

  test.each(['EUR', 'no code of a currency'])(
    'of a dispute is passed on in the currency of its payment, where Temporal has forgotten the flow: %s',
    async (currency) => {
      const details = { holdfast_workflow_id: OWN, details: 'a text of the merchant' };
      harness.setDetails(() => Promise.resolve({ details, currency }));
      harness.sink.answer = () => Promise.resolve('notFound');
      const told: unknown[] = [];
      harness.sink.disputed = (payment) => {
        told.push(payment.currency);
        return Promise.resolve(payment.currency === undefined ? 'noCurrency' : 'passedOn');
      };
      const dispute = pointerBody({ href: undefined }, { event_type: 'payment.dispute.create' });
      const isKnown = currency === 'EUR';
      expect((await post(dispute)).status).toBe(isKnown ? 200 : 503);
      expect(told).toEqual([isKnown ? 'EUR' : undefined]);
      expect(harness.sink.parked).toMatchObject([{ reason: 'flowNotFound' }]);
    },
  );

  test('is taken with app_id and with app-id, and not with two that differ', async () => {
    expect((await post(pointerBody({}, { 'app-id': undefined, app_id: 'app-default' }))).status).toBe(200);
    expect((await post(pointerBody({}, { app_id: 'app-default' }))).status).toBe(200);
    expect((await post(pointerBody({}, { app_id: 'app-other' }))).status).toBe(400);
  });

  test('of version 1.0.0, which names no transaction, says which one by its address', async () => {
    expect((await post(pointerBody({ action_id: undefined }), { version: '1.0.0' })).status).toBe(200);
    expect(harness.sink.sent.at(-1)?.event.transactionId).toBe(CHARGE);
  });

  test('may carry its digest in hex of either case or in base64', async () => {
    const hash = createHash('sha256').update(JSON.stringify(pointerBody())).digest();
    for (const digest of [hash.toString('hex').toUpperCase(), hash.toString('base64')]) {
      expect((await post(pointerBody(), { digest })).status).toBe(200);
    }
  });
});

describe('no request goes anywhere but to the configured address: refused is an href', () => {
  const path = `/payments/${PAYMENT}/charges/${CHARGE}`;
  test.each([
    ['of another host', `https://evil.example/v1${path}`],
    ['of a host that begins like ours', `https://api.example.com.evil.example/v1${path}`],
    ['with our host as user name', `https://api.example.com@evil.example/v1${path}`],
    ['of another port', `https://api.example.com:8443/v1${path}`],
    ['of another scheme', `http://api.example.com/v1${path}`],
    ['of a file', `file:///v1${path}`],
    ['beside the base path', `https://api.example.com/v2${path}`],
    ['that begins like the base path', `https://api.example.com/v1x${path}`],
    ['that climbs out of it', `https://api.example.com/v1/../admin${path}`],
    ['that climbs out of it encoded', `https://api.example.com/v1/%2e%2e/admin${path}`],
    ['with a query', `${API}${path}?redirect=https://evil.example`],
    ['with a fragment', `${API}${path}#x`],
    ['with a line break', `${API}${path}\n`],
    ['with a backslash', `https://api.example.com\\v1${path}`],
    ['of the metadata service', 'http://169.254.169.254/latest/meta-data'],
    ['without a host', path],
    ['of another payment', `${API}/payments/${CHARGE}/charges/${CHARGE}`],
    ['of another transaction', `${API}/payments/${PAYMENT}/charges/${PAYMENT}`],
    ['of no payment', `${API}/customers/${PAYMENT}`],
  ])('%s', async (_, href) => {
    const { status } = await post(pointerBody({ href }));
    expect(status).toBe(400);
    expect(harness.sink.sent).toEqual([]);
    expect(harness.asked).toEqual([]);
  });
});

describe('a unit without legacy webhooks', () => {
  test('refuses them with 401, whatever they hold', async () => {
    for (const body of [
      pointerBody({}, { 'app-id': 'app-other' }),
      pointerBody({ id: 1 }, { 'app-id': 'app-other' }),
    ]) {
      const { status, text } = await post(body);
      expect([status, text]).toEqual([401, '{"error":"not authorized"}']);
    }
    expect(await harness.metric('holdfast_webhook_rejected_total', { reason: 'legacyRefused' })).toBe(2);
    expect(harness.sink.sent).toEqual([]);
  });

  test('is the default; and one with them needs the address of the service', () => {
    const deps = { units } as unknown as Parameters<typeof createWebhookHandler>[0];
    expect(() => createWebhookHandler(deps)).toThrow('default takes legacy webhooks, which needs the address');
  });
});

describe('an unsigned event is refused', () => {
  test.each([
    ['without a digest', pointerBody(), { digest: '' }, 401],
    ['with a digest of another body', pointerBody(), { digest: 'a'.repeat(64) }, 401],
    ['with a digest that is none', pointerBody(), { digest: 'sha256' }, 401],
    ['of the other environment', pointerBody(), { 'x-svc-env': 'live' }, 401],
    ['of an unknown app', pointerBody({}, { 'app-id': 'nobody' }), {}, 401],
    ['of a payment that is no UUID', pointerBody({ id: '../admin' }), {}, 400],
    ['of a transaction that is no UUID', pointerBody({ action_id: {} }), {}, 400],
    ['of a type that is none of ours', pointerBody({}, { event_type: 'customer.create' }), {}, 400],
    ['under a signed version', pointerBody(), { version: '1.2.0', signature: 'sig1=00' }, 400],
    ['under a version nobody knows', pointerBody(), { version: '1.1-beta', signature: 'sig1=00' }, 400],
  ])('%s', async (_, body, headers, wanted) => {
    expect((await post(body, headers)).status).toBe(wanted);
    expect(harness.sink.sent).toEqual([]);
  });

  test('with a signed body under an unsigned version', async () => {
    const body = chargeBody();
    expect((await post(body, { ...headersFor(body), version: '1.0.1' })).status).toBe(400);
  });
});

describe('nothing is kept for an event that anybody could have made', () => {
  test('while the service does not answer: it comes again', async () => {
    harness.setDetails(() => Promise.reject(new Error('503')));
    expect((await post(pointerBody())).status).toBe(503);
    const dispute = pointerBody({ href: undefined }, { event_type: 'payment.dispute.create' });
    expect((await post(dispute)).status).toBe(503);
    expect([harness.sink.parked, harness.sink.disputes]).toEqual([[], []]);
  });

  test.each(['payment.charge.update', 'payment.dispute.create'])(
    'when the service knows no such payment, though a flow of it has ended (%s)',
    async (eventType) => {
      harness.setDetails(() => Promise.resolve(undefined));
      harness.sink.answer = () => Promise.resolve('ended');
      harness.sink.ended = () => Promise.resolve({ paymentId: PAYMENT, result: {} });
      const body = pointerBody({ href: undefined }, { event_type: eventType });
      expect((await post(body)).text).toBe('{"result":"foreign"}');
      expect([harness.sink.parked, harness.sink.disputes]).toEqual([[], []]);
    },
  );

  test('beyond what one payment can cause in a minute', async () => {
    const answers: number[] = [];
    for (let index = 0; index < 40; index += 1) {
      answers.push((await post(pointerBody({}, { created: `forged ${index}` }))).status);
    }
    expect(answers.filter((status) => status === 200)).toHaveLength(30);
    expect(answers.at(-1)).toBe(503);
  });

  test('and what is refused takes no place from an event that is signed', async () => {
    await harness.close();
    harness = await startHandler({ units, apiBaseUrl: API, maxInFlight: 4 });
    harness.setDetails(() => Promise.resolve({ holdfast_workflow_id: OWN }));
    const statuses: number[] = [];
    for (let index = 0; index < 40; index += 1) {
      statuses.push((await post(pointerBody({}, { created: `forged ${index}` }))).status);
    }
    expect(statuses.at(-1)).toBe(503);
    expect((await harness.postSigned(chargeBody())).status).toBe(200);
  });

  test('beyond what one transaction can cause, whatever payment it is said to be of', async () => {
    harness.sink.answer = (workflowId) =>
      Promise.resolve(workflowId === `resolve-${CHARGE}` ? 'delivered' : 'notFound');
    for (let index = 0; index < 40; index += 1) {
      await post(pointerBody({ id: randomUUID(), href: undefined }));
    }
    expect(harness.sink.sent.filter(({ workflowId }) => workflowId === `resolve-${CHARGE}`)).toHaveLength(30);
  });

  test('by writing the id of one payment in ever other ways', async () => {
    for (let index = 0; index < 40; index += 1) {
      const letters = Array.from(PAYMENT).map((letter, place) =>
        (index >> (place % 6)) & 1 ? letter.toUpperCase() : letter,
      );
      await post(pointerBody({ id: letters.join(''), href: undefined }, { created: `forged ${index}` }));
    }
    expect(harness.sink.sent.filter(({ workflowId }) => workflowId === OWN).length).toBeLessThanOrEqual(30);
  });
});

test('unsigned events fill no history in the 30 days for which a flow may wait', () => {
  const withinLimit = createUnsignedLimit();
  const now = vi.spyOn(performance, 'now');
  let taken = 0;
  const attempts = 24 * 60 * 30;
  for (let minute = 0; minute < attempts; minute += fullOr(1, 5)) {
    now.mockReturnValue(minute * 60_000);
    for (let index = 0; index < 30; index += 1) if (withinLimit({ paymentId: PAYMENT })) taken += 1;
  }
  now.mockRestore();
  // The engine takes 10,000 signals at most, and stops a flow with 51,200 events: one that looks costs a dozen.
  expect(taken).toBeLessThan(4_000);
});
