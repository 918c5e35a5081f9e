import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { resolveWorkflowId } from '../../../src/contract/names.js';
import { CARDS } from '../../support/charges.js';
import { answers, DAY, failsWith, HOUR, MINUTE, OPERATOR, sharedTime } from './scene.js';

const time = sharedTime();
const keyed = () => ({ idempotencyKey: randomUUID() });

/** A charge over 10.95 USD that somebody else has made and that pends, and the flow that follows it. */
async function resolving(ids: { transactionId?: string } = {}) {
  const { token } = await time.sandbox.tokenize(CARDS.pendsThenSucceeds);
  const { data: payment } = await time.provider.createPayment({ amount: 1095, currency: 'USD' }, keyed());
  const paymentMethod = { type: 'tokenized', token } as const;
  const { data: charge } = await time.provider.createCharge(payment.id, { paymentMethod }, keyed());
  const { transactionId = charge.id } = ids;
  await time.holdfast.resolvePending({
    paymentId: payment.id,
    transactionId,
    kind: 'charge',
    amount: 1095,
    currency: 'USD',
  });
  const handle = time.client.workflow.getHandle(resolveWorkflowId(transactionId));
  return { transactionId, handle, status: () => time.holdfast.status({ transactionId }) };
}

test('a charge that can not be read yet is unknown, and never said to pend', async () => {
  const away = await time.sandbox.addFault(answers(503, 'GET', '*/charges/*'));
  const { handle, status } = await resolving();
  const begun = await time.now();
  await time.passUntil(begun + HOUR);
  expect(await status()).toMatchObject({ status: 'unknown', needsOperator: false });
  await time.sandbox.removeFault(away.id);
  expect(await handle.result()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
});

test('a charge that the service does not know fails as not found, and not at the first answer that says so', async () => {
  const transactionId = '11111111-1111-4111-8111-111111111111';
  const { handle, status } = await resolving({ transactionId });
  const begun = await time.now();
  await time.passUntil(begun + 10 * MINUTE);
  expect(await status()).toMatchObject({ status: 'unknown' });
  await expect(handle.result()).rejects.toMatchObject(failsWith('NotFound', `knows no charge ${transactionId}`));
});

test('an operator can end what can not be read', async () => {
  const away = await time.sandbox.addFault(answers(503, 'GET', '*/charges/*'));
  const { handle, status, transactionId } = await resolving();
  await time.passUntil((await time.now()) + DAY + HOUR);
  expect(await status()).toMatchObject({ status: 'unknown', needsOperator: true });
  await time.holdfast.settleManually({ transactionId }, { ...OPERATOR, status: 'notExecuted' });
  expect(await handle.result()).toMatchObject({ status: 'notExecuted', evidence: { knownBy: 'operator' } });
  await time.sandbox.removeFault(away.id);
});
