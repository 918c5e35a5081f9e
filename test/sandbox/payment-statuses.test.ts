import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SandboxControl } from '../../sandbox/control.js';
import type { Transaction } from '../../sandbox/records.js';
import { createSandbox } from '../../sandbox/server.js';
import { MemoryStorage, type RowChange } from '../../sandbox/storage.js';
import {
  type Api,
  PENDING_THEN_FAILED,
  PENDING_THEN_SUCCEED,
  startTestSandbox,
  type TestSandbox,
  unitWith,
} from './support/sandbox.js';

const DAY_MS = 86_400_000;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const newPayment = async (api: Api, amount: number) => `/payments/${(await api.createPayment({ amount })).body.id}`;
const method = (token: string) => ({ payment_method: { type: 'tokenized', token } });
const statusesOf = async (path: string) =>
  (await sandbox.control.ledgerOf({ paymentId: path.slice('/payments/'.length) })).map(
    ({ kind, status }) => `${kind} ${status}`,
  );

describe('the status of a payment is that of what has moved', () => {
  test('once a void has ended a capture that pended beside one that had succeeded', async () => {
    const { api, tokenize } = await unitWith(sandbox, { pending_void: 'allowed' });
    const path = await newPayment(api, 12_000);
    await api.post(`${path}/authorizations`, method(await tokenize()));
    await api.post(`${path}/captures`, { amount: 6_000 });
    await api.post(`${path}/captures`, { amount: 2_500 });
    expect((await api.get(path)).body.status).toBe('Pending');
    await api.post(`${path}/voids`, {});
    expect(await statusesOf(path)).toEqual([
      'authorization Succeed',
      'capture Succeed',
      'capture Failed',
      'void Succeed',
    ]);
    expect((await api.get(path)).body.status).toBe('Captured');
    expect((await api.post(`${path}/refunds`, { amount: 6_000 })).status).toBe(201);
  });

  test.each([
    ['pended before another one has succeeded', PENDING_THEN_FAILED, undefined, ['charge Failed', 'charge Succeed']],
    ['pended beside one that succeeds', PENDING_THEN_SUCCEED, PENDING_THEN_FAILED, ['charge Succeed', 'charge Failed']],
  ] as const)('once a charge has failed that %s', async (_how, first, second, ends) => {
    const { api, tokenize } = await unitWith(sandbox, { second_charge: 'allowed' });
    const path = await newPayment(api, 9_000);
    for (const card of [first, second]) await api.post(`${path}/charges`, method(await tokenize(card)));
    await sandbox.control.advanceClock(60_000);
    expect(await statusesOf(path)).toEqual(ends);
    expect((await api.get(path)).body.status).toBe('Captured');
    expect((await api.post(`${path}/refunds`, { amount: 9_000 })).status).toBe(201);
  });

  test('of which a part pends still while another one fails', async () => {
    const { api, tokenize } = await unitWith(sandbox, { second_charge: 'allowed' });
    const path = await newPayment(api, 9_000);
    const charge = async (card: string) => (await api.post(`${path}/charges`, method(await tokenize(card)))).body.id;
    await charge(PENDING_THEN_SUCCEED);
    await sandbox.control.complete(await charge(PENDING_THEN_SUCCEED), { status: 'Failed' });
    expect((await api.get(path)).body.status).toBe('Pending');
  });

  test('and not that of a hold whose time is over, once another one has failed', async () => {
    const { api, tokenize } = await unitWith(sandbox, { reauthorization: 'allowed' });
    const path = await newPayment(api, 9_000);
    await api.post(`${path}/authorizations`, method(await tokenize()));
    await sandbox.control.advanceClock(8 * DAY_MS);
    await api.post(`${path}/authorizations`, method(await tokenize(PENDING_THEN_FAILED)));
    await sandbox.control.advanceClock(60_000);
    expect(await statusesOf(path)).toEqual(['authorization Succeed', 'authorization Failed']);
    expect((await api.get(path)).body.status).toBe('Voided');
  });
});

/** Notes of each write what transactions it makes or changes. */
class NotingStorage extends MemoryStorage {
  readonly written: string[][] = [];

  override write(changes: readonly RowChange[]): void {
    super.write(changes);
    const rows = changes.filter(({ kind }) => kind === 'transaction').map(({ value }) => value as Transaction);
    this.written.push(rows.map(({ kind, result }) => `${kind} ${result.status}`).toSorted());
  }
}

test('a void is stored together with the end of what it voids: no crash in between leaves both', async () => {
  const storage = new NotingStorage();
  const own = createSandbox({ storage });
  const url = await own.app.listen({ port: 0 });
  own.resume(url);
  const { api, tokenize } = await unitWith({ control: new SandboxControl(url), url }, { pending_void: 'allowed' });
  const path = await newPayment(api, 9_000);
  await api.post(`${path}/charges`, method(await tokenize(PENDING_THEN_SUCCEED)));
  await api.post(`${path}/voids`, {});
  expect(storage.written.filter((rows) => rows.length > 0)).toEqual([
    ['charge Pending'],
    ['charge Failed', 'void Succeed'],
  ]);
  await own.close();
});
