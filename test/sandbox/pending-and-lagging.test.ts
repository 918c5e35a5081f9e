import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Profile } from '../../sandbox/records.js';
import { PENDING_THEN_SUCCEED, startTestSandbox, unitWith, type Api, type TestSandbox } from './support/sandbox.js';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

async function held(profile: Partial<Profile>): Promise<{ api: Api; path: string }> {
  const { api, tokenize } = await unitWith(sandbox, profile);
  const path = `/payments/${(await api.createPayment({ amount: 9_000 })).body.id}`;
  await api.post(`${path}/authorizations`, { payment_method: { type: 'tokenized', token: await tokenize() } });
  return { api, path };
}

test('where reads lag neither a payment nor a list nor a transaction by its id shows what is younger', async () => {
  const { api, path } = await held({ reads_lag_ms: 30_000 });
  await sandbox.control.advanceClock(30_000);
  const pending = await api.post(`${path}/captures`, { amount: 2_500 });
  expect(pending.body.result.status).toBe('Pending');
  const shown = async () => {
    const { body } = await api.get(`${path}?expand=captures`);
    const related = (body['related_resources'] as { captures?: { result: { status: string } }[] }).captures ?? [];
    const listed = JSON.parse((await api.get(`${path}/captures`)).text) as { result: { status: string } }[];
    const byId = (await api.get(`${path}/captures/${pending.body.id}`)).status;
    return [body.status, ...[related, listed].map((all) => all.map(({ result }) => result.status)), byId];
  };
  expect(await shown()).toEqual(['Authorized', [], [], 404]);
  await sandbox.control.advanceClock(30_000);
  // It has succeeded after 10 s, and pended as these reads show it.
  expect(await shown()).toEqual(['Pending', ['Pending'], ['Pending'], 200]);
  await sandbox.control.advanceClock(30_000);
  expect(await shown()).toEqual(['Captured', ['Succeed'], ['Succeed'], 200]);
});

describe('another refund beside one that pends', () => {
  test.each([
    ['refused', 409, ['Pending']],
    ['allowed', 201, ['Pending', 'Pending']],
  ] as const)('is %s where the unit is set so', async (beside_pending, status, pending) => {
    const { api, path } = await held({ beside_pending });
    await api.post(`${path}/captures`, {});
    const refund = async () => await api.post(`${path}/refunds`, { amount: 2_500 });
    expect((await refund()).body.result.status).toBe('Pending');
    expect((await refund()).status).toBe(status);
    const refunds = async () =>
      (await sandbox.control.ledgerOf({ paymentId: path.slice('/payments/'.length) })).filter(
        ({ kind }) => kind === 'refund',
      );
    expect((await refunds()).map((one) => one.status)).toEqual(pending);
    for (const { transaction_id: id } of await refunds()) await sandbox.control.complete(id, { status: 'Failed' });
    // What has failed must not leave its payment pending for good.
    expect((await api.get(path)).body.status).toBe('Captured');
  });
});

test('a credit that pends can be voided, and a void of one that succeeds meanwhile fails', async () => {
  const { api, tokenize } = await unitWith(sandbox, { pending_void: 'allowed' });
  const { id } = (await api.createPayment({ amount: 2_500 })).body;
  const payment_method = { type: 'tokenized', token: await tokenize(PENDING_THEN_SUCCEED) };
  const credit = await api.post(`/payments/${id}/credits`, { payment_method });
  expect((await api.post(`/payments/${id}/voids`, {})).body.result.status).toBe('Pending');
  await sandbox.control.complete(credit.body.id, { status: 'Succeed' });
  await sandbox.control.advanceClock(60_000);
  const statuses = (await sandbox.control.ledgerOf({ paymentId: id })).map(({ kind, status }) => [kind, status]);
  expect(Object.fromEntries(statuses)).toEqual({ credit: 'Succeed', void: 'Failed' });
});
