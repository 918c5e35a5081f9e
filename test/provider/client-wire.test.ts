import { afterEach, describe, expect, test } from 'vitest';
import { API_VERSIONS, createDispatcher } from '../../src/provider/index.js';
import {
  type Answer,
  CHARGE,
  CHARGE_BODY,
  CHARGE_ID,
  clientOf,
  fakeService,
  type FakeService,
  json,
  PAYMENT,
  PAYMENT_BODY,
  PAYMENT_ID,
  PRIVATE_KEY,
  TOKEN,
} from './support/fake-service.js';

const open: FakeService[] = [];
async function serve(answer: Answer): Promise<FakeService> {
  const service = await fakeService(answer);
  open.push(service);
  return service;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((service) => service.close()));
});

describe('what a call sends', () => {
  test('a charge carries every common header, the key and the client address, and nothing else', async () => {
    const service = await serve(json(201, CHARGE_BODY));
    const client = clientOf(service.url);
    const options = { idempotencyKey: 'payment-1:createCharge:1', clientIpAddress: '203.0.113.7' };
    await client.createCharge(PAYMENT_ID, CHARGE, options);
    const [seen] = service.requests;
    expect(seen).toMatchObject({ method: 'POST', url: `/payments/${PAYMENT_ID}/charges` });
    expect(seen?.headers).toEqual({
      host: new URL(service.url).host,
      connection: 'keep-alive',
      'content-length': String(seen?.body.length),
      'content-type': 'application/json',
      accept: 'application/json',
      'api-version': '1.3.0',
      'x-svc-env': 'test',
      'app-id': 'app.test',
      'private-key': PRIVATE_KEY,
      'idempotency-key': 'payment-1:createCharge:1',
      'x-client-ip-address': '203.0.113.7',
    });
    expect(seen?.body).toBe(`{"payment_method":{"type":"tokenized","token":"${TOKEN}"}}`);
    await client.close();
  });

  test('the longest key leaves whole: cut, the keys of two intents with long references would be one', async () => {
    const service = await serve(json(201, CHARGE_BODY));
    const client = clientOf(service.url);
    const reference = 'x'.repeat(50);
    const keys = ['createCharge', 'authorize'].map((operation) => `payment-${reference}:${operation}:1`);
    for (const idempotencyKey of [...keys, 'k'.repeat(78)])
      await client.createCharge(PAYMENT_ID, CHARGE, { idempotencyKey });
    expect(service.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([...keys, 'k'.repeat(78)]);
    await client.close();
  });

  test('only a POST carries an idempotency key, and only when one is given', async () => {
    const service = await serve(json(200, PAYMENT_BODY));
    const client = clientOf(service.url);
    const options = { idempotencyKey: 'k' };
    await client.createPayment(PAYMENT, options);
    await client.createPayment(PAYMENT);
    await client.getPayment(PAYMENT_ID, options as object);
    await client.updatePayment(PAYMENT_ID, PAYMENT, options as object);
    expect(service.requests.map(({ method, headers }) => [method, headers['idempotency-key']])).toEqual([
      ['POST', 'k'],
      ['POST', undefined],
      ['GET', undefined],
      ['PUT', undefined],
    ]);
    await client.close();
  });

  test.each(API_VERSIONS)('every operation has its method and path, and asks for version %s', async (apiVersion) => {
    const service = await serve((response, { method, url }) => {
      const list = method === 'GET' && url.endsWith('/charges');
      const body = url.includes('/charges') ? { ...CHARGE_BODY, amount: 1 } : { ...PAYMENT_BODY, amount: 1 };
      json(200, list ? [body] : body)(response, service.requests[0]!);
    });
    const client = clientOf(`${service.url}/base/path/`, { apiVersion });
    await client.createPayment(PAYMENT);
    await client.getPayment(PAYMENT_ID);
    await client.getPayment(PAYMENT_ID, { expand: ['charges', 'payment_method'] });
    await client.updatePayment(PAYMENT_ID, PAYMENT);
    await client.createCharge(PAYMENT_ID, CHARGE);
    await client.getCharge(PAYMENT_ID, CHARGE_ID);
    await client.listCharges(PAYMENT_ID);
    const payment = `/base/path/payments/${PAYMENT_ID}`;
    expect(service.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /base/path/payments',
      `GET ${payment}`,
      `GET ${payment}?expand=charges&expand=payment_method`,
      `PUT ${payment}`,
      `POST ${payment}/charges`,
      `GET ${payment}/charges/${CHARGE_ID}`,
      `GET ${payment}/charges`,
    ]);
    for (const { headers } of service.requests) expect(headers['api-version']).toBe(apiVersion);
    await client.close();
  });

  test('text outside ASCII arrives as UTF-8', async () => {
    const service = await serve(json(201, PAYMENT_BODY));
    const client = clientOf(service.url);
    await client.createPayment({ ...PAYMENT, statementSoftDescriptor: 'Caffè ☕' });
    expect(JSON.parse(service.requests[0]!.body)).toMatchObject({ statement_soft_descriptor: 'Caffè ☕' });
    await client.close();
  });

  test('a redirect is not followed', async () => {
    const service = await serve(json(307, {}, { location: '/elsewhere' }));
    const client = clientOf(service.url);
    await expect(client.createPayment(PAYMENT)).rejects.toMatchObject({ kind: 'http', httpStatus: 307 });
    expect(service.requests).toHaveLength(1);
    await client.close();
  });
});

describe('connections', () => {
  test('calls one after the other keep to the connections there are', async () => {
    const service = await serve(json(200, PAYMENT_BODY));
    const client = clientOf(service.url);
    for (let call = 0; call < 20; call += 1) await client.getPayment(PAYMENT_ID);
    // Two, since undici frees a connection one turn of the event loop after the answer has been handed out.
    expect(new Set(service.requests.map(({ connection }) => connection)).size).toBeLessThanOrEqual(2);
    await client.close();
  });

  test('three hundred calls at once over eight connections each get their own answer, each sent once', async () => {
    const service = await serve((response, { body }) => {
      const { amount } = JSON.parse(body) as { amount: number };
      setImmediate(() =>
        json(201, { ...PAYMENT_BODY, amount }, { 'x-svc-request-id': `req-${amount}` })(response, service.requests[0]!),
      );
    });
    const dispatcher = createDispatcher({ maxConnections: 8 });
    const client = clientOf(service.url, { dispatcher });
    const amounts = Array.from({ length: 300 }, (_, index) => index + 1);
    const answers = await Promise.all(amounts.map((amount) => client.createPayment({ amount, currency: 'USD' })));
    expect(answers.map(({ data, requestId }) => [data.amount, requestId])).toEqual(
      amounts.map((amount) => [amount, `req-${amount}`]),
    );
    expect(service.requests).toHaveLength(300);
    expect(new Set(service.requests.map(({ connection }) => connection)).size).toBeLessThanOrEqual(8);
    await dispatcher.close();
  });

  test('close() lets the calls under way finish, then refuses further ones', async () => {
    const service = await serve((response, request) => setImmediate(() => json(200, PAYMENT_BODY)(response, request)));
    const client = clientOf(service.url);
    const call = client.getPayment(PAYMENT_ID);
    const closed = client.close();
    await expect(call).resolves.toMatchObject({ data: { id: PAYMENT_ID } });
    await closed;
    await expect(client.getPayment(PAYMENT_ID)).rejects.toMatchObject({ kind: 'refused', mayHaveLeft: false });
    expect(service.requests).toHaveLength(1);
  });

  test('close() leaves a dispatcher open that was handed in', async () => {
    const service = await serve(json(200, PAYMENT_BODY));
    const dispatcher = createDispatcher();
    await clientOf(service.url, { dispatcher }).close();
    await clientOf(service.url, { dispatcher }).getPayment(PAYMENT_ID);
    expect(service.requests).toHaveLength(1);
    await dispatcher.close();
  });
});
