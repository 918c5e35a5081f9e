import { afterAll, beforeAll, expect, test } from 'vitest';
import { GOOD_CARD, startTestSandbox, type TestSandbox } from './support/sandbox.js';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

test('a ledger as a whole has risk analyses too, and a chargeback over all that was taken', async () => {
  const { token } = await sandbox.control.tokenize(GOOD_CARD);
  const details = { additional_details: { holdfast_workflow_id: 'payment-l-whole' } };
  const { id } = (await sandbox.api.createPayment({ amount: 9_000, ...details })).body;
  await sandbox.api.post(`/payments/${id}/risk-analyses`, {});
  await sandbox.api.post(`/payments/${id}/authorizations`, { payment_method: { type: 'tokenized', token } });
  await sandbox.api.post(`/payments/${id}/captures`, { amount: 4_000 });
  const { body } = await sandbox.api.post(`/payments/${id}/captures`, { amount: 4_500 });
  await sandbox.control.dispute(body.id);
  const rows = (await sandbox.control.wholeLedger()).map(({ kind, amount }) => [kind, amount]);
  const moved = [
    ['authorization', 9_000],
    ['capture', 4_000],
    ['capture', 4_500],
  ];
  expect(rows).toEqual([['risk-analysis', 9_000], ...moved, ['chargeback', 8_500]]);
  expect((await sandbox.control.wholeLedger())[0]).toMatchObject({ reconciliation_id: 'l-whole' });
  expect((await sandbox.control.ledger()).map(({ kind, amount }) => [kind, amount])).toEqual(moved);
});
