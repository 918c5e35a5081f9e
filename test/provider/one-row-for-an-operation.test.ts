import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { Caller } from '../../src/provider/http/caller.js';
import { list, type Operation, post, read } from '../../src/provider/http/operation.js';
import { transactionSchema } from '../../src/provider/resources/transactions.js';
import {
  CHARGE_BODY,
  CHARGE_ID,
  type FakeService,
  failureOf,
  fakeService,
  json,
  PAYMENT_ID,
  PRIVATE_KEY,
} from './support/fake-service.js';

/** All that is written for a resource that there is none of. */
const DONATIONS = {
  createDonation: post('/payments/{paymentId}/donations', {
    request: () => z.strictObject({ cause: z.string(), reconciliationId: z.string() }),
    response: transactionSchema,
  }),
  getDonation: read('/payments/{paymentId}/donations/{donationId}', 'donationId', transactionSchema),
  listDonations: list('/payments/{paymentId}/donations', transactionSchema),
};

let answer = json(201, CHARGE_BODY);
let service: FakeService;
let caller: Caller;
beforeEach(async () => {
  answer = json(201, CHARGE_BODY);
  service = await fakeService((...given) => answer(...given));
  const unit = { appId: 'app.test', privateKey: PRIVATE_KEY, apiVersion: '1.3.0' } as const;
  caller = new Caller({ baseUrl: service.url, environment: 'test', unit });
});
afterEach(async () => {
  await caller.close();
  await service.close();
});

const call = (name: keyof typeof DONATIONS, ...given: unknown[]) =>
  caller.call(name, DONATIONS[name] as unknown as Operation<string, never, unknown>, given);
const DONATION = { cause: 'trees', reconciliationId: 'order-1001' };

test('its POST goes to its path, under the key, with its fields as the wire names them', async () => {
  const { data } = await call('createDonation', PAYMENT_ID, DONATION, { idempotencyKey: 'key-1' });
  expect(data).toMatchObject({ id: CHARGE_ID, status: 'Succeed', amount: 1095 });
  expect(service.requests).toMatchObject([
    {
      method: 'POST',
      url: `/payments/${PAYMENT_ID}/donations`,
      headers: { 'idempotency-key': 'key-1', 'app-id': 'app.test' },
    },
  ]);
  expect(JSON.parse(service.requests[0]?.body ?? '')).toEqual({ cause: 'trees', reconciliation_id: 'order-1001' });
});

test('a POST with a wrong id and an unknown field is refused with both faults, and not sent', async () => {
  const { message } = await failureOf(call('createDonation', 'no id', { ...DONATION, more: true }));
  for (const fault of ['paymentId', 'more']) expect(message).toContain(fault);
  expect(service.requests).toEqual([]);
});

test('reads of it believe only what is about it', async () => {
  expect(await call('getDonation', PAYMENT_ID, CHARGE_ID)).toMatchObject({ data: { id: CHARGE_ID } });
  expect(await failureOf(call('getDonation', PAYMENT_ID, PAYMENT_ID))).toMatchObject({ mayHaveLeft: true });
  answer = json(200, [CHARGE_BODY]);
  expect(await call('listDonations', PAYMENT_ID)).toMatchObject({ data: [{ id: CHARGE_ID }] });
  answer = json(200, [{ amount: 1095 }]);
  await failureOf(call('listDonations', PAYMENT_ID));
});

test('its refusals have the meaning of every other POST', async () => {
  answer = json(409, {});
  const failure = await failureOf(call('createDonation', PAYMENT_ID, DONATION, { idempotencyKey: 'key-1' }));
  expect(failure).toMatchObject({ operation: 'createDonation', httpStatus: 409, failureType: 'StateConflict' });
});
