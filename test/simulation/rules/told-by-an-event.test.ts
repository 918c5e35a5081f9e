import { afterEach, describe, expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { plant, signalEvent } from '../../time/checks.js';
import { braking } from './braking.js';
import { answers, DAY, MINUTE, OPERATOR, SECOND, sharedTime } from './context.js';

const time = sharedTime();
const { brake } = braking(time);

afterEach(async () => {
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

describe('a charge of which only an event tells', () => {
  async function told() {
    const input = await time.input();
    await plant(time, input, { action: 'drop_reply', method: 'POST', path: '*/charges' });
    await plant(time, input, { action: 'status', status: 503, method: 'GET', path: '*/charges*' });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + MINUTE);
    const { paymentId = '' } = await charge.status();
    const [made] = await time.sandbox.ledger(input.reference);
    const transactionId = made?.transaction_id ?? '';
    await signalEvent(time, charge, { paymentId, transactionId });
    await time.passUntil(charge.startedAt + DAY);
    expect(await charge.status()).toMatchObject({ operatorReason: expect.stringContaining(transactionId) });
    return { input, charge, transactionId };
  }

  test('is that one where a person says that it has succeeded, who is not called again', async () => {
    const { input, charge, transactionId } = await told();
    await time.holdfast.settleManually(input.reference, { ...OPERATOR, status: 'succeeded' });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', transactionId });
    expect(await charge.status()).toMatchObject({ needsOperator: false });
  });

  test('stays for a person where one says that it was declined, in whatever words', async () => {
    const { input, charge, transactionId } = await told();
    const why = `${transactionId} is not in the back office`;
    await time.holdfast.settleManually(input.reference, { who: 'Ada', why, status: 'declined' });
    expect(await charge.outcome()).toMatchObject({ status: 'declined' });
    expect(await charge.status()).toMatchObject({ needsOperator: true });
  });
});

test('a charge of which an event tells before a brake stops the first request is not called unsent', async () => {
  const input = await time.input();
  await plant(time, input, { action: 'delay', method: 'POST', path: '/payments', delay_ms: 4 * SECOND, times: 1 });
  const held = time.hold('createCharge');
  const charge = await time.start(input);
  await held.reached;
  const { paymentId = '' } = await charge.status();
  const unread = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}/charges*`));
  const { paymentMethod, reference: reconciliationId } = input;
  const key = { idempotencyKey: `elsewhere-${paymentId}` };
  const { data } = await time.provider.createCharge(paymentId, { paymentMethod, reconciliationId }, key);
  await signalEvent(time, charge, { paymentId, transactionId: data.id });
  await brake();
  held.release();
  await time.passUntil((await time.now()) + MINUTE);
  await time.sandbox.removeFault(unread.id);
  expect(await charge.outcome()).toMatchObject({ status: 'succeeded', transactionId: data.id });
  expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
});
