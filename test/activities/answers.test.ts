import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FailureType } from '../../src/contract/names.js';
import type { FaultInput } from '../../sandbox/control.js';
import { unusedPort } from '../provider/support/fake-service.js';
import { PENDING_THEN_SUCCEED } from '../sandbox/support/sandbox.js';
import { Harness, HOUR, paymentCall, Service } from './support.js';

const MINUTE = 60_000;

let service: Service;
let harness: Harness;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());
beforeEach(() => {
  harness = new Harness({ baseUrl: service.sandbox.url });
});
afterEach(async () => {
  await harness.close();
  await service.sandbox.control.clearFaults();
});

describe('an answer of the payment service', () => {
  test('201 with Succeed is the result, and moved the money once', async () => {
    const charge = await service.readyCharge();
    const record = await harness.run('createCharge', charge.call);
    expect(record).toMatchObject({
      status: 'Succeed',
      amount: 1095,
      reconciliationId: charge.reference,
      holdfastKey: charge.call.key,
      provider: 'MockProcessor',
      requestId: expect.any(String),
    });
    expect(await service.ledger(charge)).toMatchObject([
      { transaction_id: record.transactionId, status: 'Succeed', idempotency_key: charge.call.key },
    ]);
  });

  test.each([
    ['payment_method_declined', 'insufficient_funds'],
    ['provider_network_error', undefined],
    ['provider_error', undefined],
  ])('201 with Failed is the result too, not an error: %s, %s', async (category, subCategory) => {
    const charge = await service.readyCharge();
    await service.plant(charge, {
      action: 'result',
      status: 'Failed',
      category,
      ...(subCategory !== undefined && { sub_category: subCategory }),
    });
    const record = await harness.run('createCharge', charge.call);
    expect(record).toMatchObject({ status: 'Failed', category });
    expect(record.subCategory).toBe(subCategory);
    expect(harness.posts()).toHaveLength(1);
  });

  test('201 with Pending is the result', async () => {
    const charge = await service.readyCharge({}, PENDING_THEN_SUCCEED);
    expect(await harness.run('createCharge', charge.call)).toMatchObject({ status: 'Pending' });
  });
});

/** The rows of the design's table that a planted fault can bring about, and whether the service acted. */
const ROWS: readonly [string, FaultInput, FailureType, boolean, number | undefined, number][] = [
  ['500', { action: 'status', status: 500 }, 'ProviderUnavailable', true, 500, 0],
  ['502', { action: 'status', status: 502 }, 'ProviderUnavailable', true, 502, 0],
  ['503', { action: 'status', status: 503 }, 'ProviderUnavailable', true, 503, 0],
  ['504', { action: 'status', status: 504 }, 'ProviderUnavailable', true, 504, 0],
  ['500 after acting', { action: 'status', status: 500, after: true }, 'ProviderUnavailable', true, 500, 1],
  ['503 after acting', { action: 'status', status: 503, after: true }, 'ProviderUnavailable', true, 503, 1],
  ['a reply that is dropped after acting', { action: 'drop_reply' }, 'ProviderUnavailable', true, undefined, 1],
  ['a connection that is closed before acting', { action: 'refuse' }, 'ProviderUnavailable', true, undefined, 0],
  ['garbage before acting', { action: 'garbage' }, 'UnexpectedResponse', false, 201, 0],
  ['garbage after acting', { action: 'garbage', after: true }, 'UnexpectedResponse', false, 201, 1],
  ['429', { action: 'status', status: 429, retry_after_s: 7 }, 'RateLimited', true, 429, 0],
  ['429 with no time', { action: 'status', status: 429, retry_after_s: 0 }, 'RateLimited', true, 429, 0],
  ['401', { action: 'status', status: 401 }, 'CredentialsRejected', false, 401, 0],
  ['403', { action: 'status', status: 403 }, 'CredentialsRejected', false, 403, 0],
  ['400', { action: 'status', status: 400 }, 'InvalidInput', false, 400, 0],
  ['404', { action: 'status', status: 404 }, 'NotFound', false, 404, 0],
  ['409', { action: 'status', status: 409 }, 'StateConflict', false, 409, 0],
  ['an unknown 4xx', { action: 'status', status: 418 }, 'UnexpectedResponse', false, 418, 0],
];

describe('no result on the first attempt of a charge', () => {
  test.each(ROWS)('%s (%j) leaves as %s', async (_name, fault, type, retryable, httpStatus, moved) => {
    const charge = await service.readyCharge();
    await service.plant(charge, fault);
    const failed = await harness.fail('createCharge', charge.call);
    expect(failed).toMatchObject({ type, retryable, details: { mayHaveLeft: true } });
    expect(failed.details.httpStatus).toBe(httpStatus);
    if (httpStatus !== undefined) expect(failed.details.requestId).toEqual(expect.any(String));
    if (fault.retry_after_s === 7) expect(failed.nextRetryDelay).toBe(7_000);
    else if (retryable) expect(Math.abs(Number(failed.nextRetryDelay) - 1_000)).toBeLessThanOrEqual(250);
    else expect(failed.nextRetryDelay).toBeUndefined();
    expect(harness.posts()).toHaveLength(1);
    expect(harness.heartbeats).toEqual([]);
    expect(await service.ledger(charge)).toHaveLength(moved);
  });

  test('a Retry-After that is longer than its time leaves a minute of that for one more attempt', async () => {
    const charge = await service.readyCharge();
    await service.plant(charge, { action: 'status', status: 429, retry_after_s: 3_600 });
    const call = { ...charge.call, postUntil: Date.now() + 600_000 };
    const { nextRetryDelay } = await harness.fail('createCharge', call);
    expect(nextRetryDelay).toBeGreaterThan(530_000);
    expect(nextRetryDelay).toBeLessThanOrEqual(540_000);
    await service.plant(charge, { action: 'status', status: 429, retry_after_s: 3_600 });
    const last = { ...call, postUntil: Date.now() + 30_000 };
    expect((await harness.fail('createCharge', last)).nextRetryDelay).toBe(3_600_000);
  });

  test.each([
    ['in an hour and a half', 90 * MINUTE, 30 * MINUTE],
    ['in an hour and 10 s', 60 * MINUTE + 10_000, MINUTE],
    ['in half an hour', 30 * MINUTE, MINUTE],
    ['in 30 s', 30_000, MINUTE],
  ])(
    'a Retry-After puts nothing off whose hold ends %s: it is sent when an hour is left',
    async (_at, left, longest) => {
      const charge = await service.readyCharge();
      await service.plant(charge, { action: 'status', status: 429, retry_after_s: 3_600 });
      const call = { ...charge.call, urgentFrom: Date.now() + left - HOUR };
      const { nextRetryDelay } = await harness.fail('createCharge', call);
      expect(nextRetryDelay).toBeGreaterThan(longest - 10_000);
      expect(nextRetryDelay).toBeLessThanOrEqual(longest);
    },
  );

  test.each(ROWS)('%s (%j): the next attempt under the same key still moves the money once', async (_name, fault) => {
    const charge = await service.readyCharge();
    await service.plant(charge, fault);
    await harness.fail('createCharge', charge.call);
    const record = await harness.run('createCharge', charge.call, { attempt: 2 });
    expect(record.status).toBe('Succeed');
    expect(await service.ledger(charge)).toMatchObject([{ transaction_id: record.transactionId }]);
  });

  test.each(ROWS)('%s (%j) of a payment leaves as %s too', async (_name, fault, type, retryable) => {
    const call = paymentCall();
    await service.sandbox.control.addFault({ ...fault, method: 'POST', path: '/payments', times: 1 });
    expect(await harness.fail('createPayment', call)).toMatchObject({ type, retryable });
    const again = await harness.run('createPayment', call, { attempt: 2 });
    expect(again).toMatchObject({ amount: 1095, currency: 'USD', status: 'Initialized' });
  });

  test('a service that can not be reached leaves as ProviderUnavailable, and provably nothing left', async () => {
    const unreachable = new Harness({ baseUrl: `http://127.0.0.1:${await unusedPort()}` });
    const failed = await unreachable.fail('createPayment', paymentCall());
    expect(failed).toMatchObject({ type: 'ProviderUnavailable', retryable: true, details: { mayHaveLeft: false } });
    expect(unreachable.heartbeats).toEqual([{ refusedThrough: 1 }]);
    await unreachable.close();
  });

  test('a charge on a payment that does not exist is NotFound, by the service itself', async () => {
    const charge = await service.readyCharge();
    const failed = await harness.fail('createCharge', { ...charge.call, paymentId: randomUUID() });
    expect(failed).toMatchObject({
      type: 'NotFound',
      retryable: false,
      details: { httpStatus: 404, category: 'api_request_error', moreInfo: 'Payment resource does not exists' },
    });
  });

  test('a second charge under another key is StateConflict, by the service itself', async () => {
    const charge = await service.readyCharge();
    await harness.run('createCharge', charge.call);
    const { token } = await service.sandbox.control.tokenize('4111111111111111');
    const other = {
      ...charge.call,
      key: 'another-key',
      charge: { paymentMethod: { type: 'tokenized' as const, token } },
    };
    expect(await harness.fail('createCharge', other)).toMatchObject({
      type: 'StateConflict',
      details: { httpStatus: 409, description: 'There was conflict with payment resource current state.' },
    });
    expect(await service.ledger(charge)).toHaveLength(1);
  });

  test('a token that does not exist is InvalidInput, by the service itself', async () => {
    const charge = await service.readyCharge({
      charge: { paymentMethod: { type: 'tokenized', token: randomUUID() } },
    });
    expect(await harness.fail('createCharge', charge.call)).toMatchObject({
      type: 'InvalidInput',
      retryable: false,
      details: { httpStatus: 400, moreInfo: 'Token does not exist.' },
    });
  });

  test('a key that the service would refuse is InvalidInput, and nothing is sent', async () => {
    const charge = await service.readyCharge({ key: 'k'.repeat(79) });
    const failed = await harness.fail('createCharge', charge.call);
    expect(failed).toMatchObject({ type: 'InvalidInput', retryable: false, details: { mayHaveLeft: false } });
    expect(harness.requests).toEqual([]);
  });
});

describe('a read', () => {
  test('of payment, charge and list answers what the service holds', async () => {
    const charge = await service.readyCharge();
    const { paymentId } = charge;
    const record = await harness.run('createCharge', charge.call);
    const where = { businessUnit: 'default', paymentId, currency: 'USD' };
    expect(await harness.run('getPayment', where)).toMatchObject({ paymentId, status: 'Captured', amount: 1095 });
    const read = await harness.run('getCharge', { ...where, transactionId: record.transactionId });
    expect(read).toMatchObject({ transactionId: record.transactionId, status: 'Succeed' });
    expect(await harness.run('listCharges', where)).toMatchObject([{ transactionId: record.transactionId }]);
  });

  test('of a payment and all that belongs to it reads the payment before its lists', async () => {
    const charge = await service.readyCharge();
    const { paymentId } = charge;
    const { transactionId } = await harness.run('createCharge', charge.call);
    const sent = harness.requests.length;
    const all = { businessUnit: 'default', paymentId, currency: 'USD', without: ['void'] } as const;
    expect(await harness.run('getPaymentAndTransactions', all)).toEqual({
      payment: expect.objectContaining({ paymentId, status: 'Captured' }),
      lists: { authorization: [], charge: [expect.objectContaining({ transactionId })], capture: [], refund: [] },
    });
    const [first, ...others] = harness.requests.slice(sent);
    expect(first).toBe(`GET /payments/${paymentId}`);
    const lists = ['authorizations', 'charges', 'captures', 'refunds'];
    expect(others.toSorted()).toEqual(lists.map((name) => `GET /payments/${paymentId}/${name}`).toSorted());
  });

  test.each([503, 404, 401])('of all that belongs to a payment leaves out a list answered with %i', async (status) => {
    const { paymentId } = await service.readyCharge();
    const fault = { action: 'status', status, method: 'GET', path: `/payments/${paymentId}/refunds` } as const;
    await service.sandbox.control.addFault(fault);
    const all = { businessUnit: 'default', paymentId, currency: 'USD', without: [] } as const;
    const { lists } = await harness.run('getPaymentAndTransactions', all);
    expect(lists).toEqual({ authorization: [], charge: [], capture: [], void: [] });
  });

  test('of all that belongs to a payment fails where the payment can not be read, and asks for no list', async () => {
    const paymentId = randomUUID();
    const all = { businessUnit: 'default', paymentId, currency: 'USD', without: [] } as const;
    expect(await harness.fail('getPaymentAndTransactions', all)).toMatchObject({ type: 'NotFound', retryable: false });
    expect(harness.requests).toEqual([`GET /payments/${paymentId}`]);
  });

  test('of an empty list is an answer', async () => {
    const { paymentId } = await service.readyCharge();
    expect(await harness.run('listCharges', { businessUnit: 'default', paymentId, currency: 'USD' })).toEqual([]);
  });

  test.each(ROWS.filter(([, fault]) => fault.after !== true))(
    '%s (%j) leaves as %s, believed at any attempt',
    async (_name, fault, type, retryable) => {
      const { paymentId } = await service.readyCharge();
      await service.sandbox.control.addFault({ ...fault, method: 'GET', path: `/payments/${paymentId}*` });
      const where = { businessUnit: 'default', paymentId, currency: 'USD' };
      for (const attempt of [1, 2]) {
        expect(await harness.fail('getPayment', where, { attempt })).toMatchObject({ type, retryable });
        expect(await harness.fail('listCharges', where, { attempt })).toMatchObject({ type, retryable });
        const one = { ...where, transactionId: randomUUID() };
        expect(await harness.fail('getCharge', one, { attempt })).toMatchObject({ type, retryable });
      }
    },
  );

  test('of a charge that does not exist is NotFound', async () => {
    const { paymentId } = await service.readyCharge();
    const one = { businessUnit: 'default', paymentId, currency: 'USD', transactionId: randomUUID() };
    expect(await harness.fail('getCharge', one)).toMatchObject({ type: 'NotFound', retryable: false });
  });

  test('for a business unit that this worker does not know is CredentialsRejected, and nothing is sent', async () => {
    const failed = await harness.fail('getPayment', { businessUnit: 'shop', paymentId: randomUUID() });
    expect(failed).toMatchObject({ type: 'CredentialsRejected', retryable: false, details: { mayHaveLeft: false } });
    expect(failed.message).toContain('"shop"');
    expect(harness.requests).toEqual([]);
  });
});

describe('the search for an earlier run', () => {
  test('asks the engine about this workflow id and this run, and sends nothing', async () => {
    const asked: string[][] = [];
    const asking = new Harness({
      baseUrl: service.sandbox.url,
      engine: {
        earlierRun: async (workflowId, runId) => {
          asked.push([workflowId, runId]);
          return 'run-0';
        },
      },
    });
    const info = { workflowId: 'payment-order-7', runId: 'run-1' };
    expect(await asking.run('findEarlierRun', undefined, info)).toBe('run-0');
    expect(asked).toEqual([['payment-order-7', 'run-1']]);
    expect(asking.requests).toEqual([]);
    await asking.close();
  });
});
