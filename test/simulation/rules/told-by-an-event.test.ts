import { afterEach, describe, expect, test } from 'vitest';
import { plant, signalEvent } from '../../time/checks.js';
import { DAY, MINUTE, OPERATOR, sharedTime } from './context.js';

const time = sharedTime();

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
