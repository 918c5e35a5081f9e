import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import type { EnginePort } from '../../src/contract/engine-port.js';
import { fakeService, type FakeService, PAYMENT_BODY, PAYMENT_ID } from '../provider/support/fake-service.js';
import { Harness } from './support.js';

let service: FakeService | undefined;
let harness: Harness | undefined;
afterEach(async () => {
  await harness?.close();
  await service?.close();
});

const records = (many: number) =>
  Array.from({ length: many }, () => ({
    id: randomUUID(),
    amount: 100,
    result: { status: 'Succeed', description: 'ordinary words '.repeat(30) },
  }));

const all = { businessUnit: 'default', paymentId: PAYMENT_ID, currency: 'USD', without: [] } as const;

test('of lists that together are too long for one result the longest are left out, to be asked for alone', async () => {
  const lists: Record<string, object[]> = { refunds: records(2_500), captures: records(1_200), charges: records(2) };
  service = await fakeService((response, { url }) => {
    const [, , , name] = url.split('?')[0]?.split('/') ?? [];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(name === undefined ? PAYMENT_BODY : (lists[name] ?? [])));
  });
  harness = new Harness({ baseUrl: service.url });
  const answer = await harness.run('getPaymentAndTransactions', all);
  expect(answer.lists.charge).toHaveLength(2);
  expect(answer.lists.capture).toHaveLength(1_200);
  expect(answer.lists).not.toHaveProperty('refund');
  expect(await harness.run('listRefunds', all)).toHaveLength(2_500);
});

test.each([429, 503])(
  'a list answered with %i and Retry-After is left out, and says how long to wait',
  async (status) => {
    service = await fakeService((response, { url }) => {
      const isWaiting = url.includes('/refunds') || url.includes('/voids');
      response.setHeader('content-type', 'application/json');
      response.statusCode = isWaiting ? status : 200;
      if (isWaiting) response.setHeader('retry-after', url.includes('/refunds') ? '7' : '3');
      response.end(JSON.stringify(url.endsWith(PAYMENT_ID) ? PAYMENT_BODY : []));
    });
    harness = new Harness({ baseUrl: service.url });
    const { lists, retryAfterMs } = await harness.run('getPaymentAndTransactions', all);
    expect({ lists, retryAfterMs }).toEqual({
      lists: { authorization: [], charge: [], capture: [] },
      retryAfterMs: 7_000,
    });
  },
);

/** An engine with an earlier result of so many bytes, and a creating flow with another. */
function engineWith(bytes: number, creator: EnginePort['latestResult']): Partial<EnginePort> {
  const result = { status: 'idle', paymentId: PAYMENT_ID, actions: [], text: 'x'.repeat(bytes) };
  return {
    isOpen: () => Promise.resolve(false),
    latestResult: (workflowId, ...run) =>
      workflowId === CREATOR ? creator(workflowId, ...run) : Promise.resolve({ result, ofLatestRun: true }),
  };
}

const CREATOR = 'payment-order-1';
const ended: EnginePort['latestResult'] = () =>
  Promise.resolve({ result: { paymentId: PAYMENT_ID, actions: [] }, workflowType: 'charge', ofLatestRun: true });

test.each([
  { what: 'fit together', bytes: 100, creator: ended, has: true },
  { what: 'are too long together', bytes: 1_000_000, creator: ended, has: false },
  { what: 'can not both be found', bytes: 100, creator: () => Promise.reject(new Error('no key')), has: false },
])('what was done before and the creating flow: they $what', async ({ bytes, creator, has }) => {
  harness = new Harness({ baseUrl: 'http://127.0.0.1:1', engine: engineWith(bytes, creator) });
  const info = { workflowId: `payment-actions-${PAYMENT_ID}` };
  const before = await harness.run('findActionsBefore', CREATOR as never, info);
  expect(before.result).toMatchObject({ paymentId: PAYMENT_ID });
  expect(before.creator?.open).toBe(has ? false : undefined);
});
