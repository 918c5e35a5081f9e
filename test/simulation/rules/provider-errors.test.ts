import { afterEach, describe, expect, test } from 'vitest';
import { plant, signalEvent } from '../../time/checks.js';
import { answers, HOUR, MINUTE, OPERATOR, SECOND, sharedTime } from './context.js';

const time = sharedTime();

afterEach(async () => {
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

/** A charge whose reply says that the provider has failed. */
async function failed() {
  const input = await time.input();
  await plant(time, input, { action: 'result', status: 'Failed', category: 'provider_error', path: '*/charges' });
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + SECOND);
  const { paymentId = '', transactionId = '' } = await charge.status();
  return { input, charge, paymentId, transactionId };
}

describe('a reply that says that the provider has failed', () => {
  test('is not believed against a signed event that comes before it was read once more', async () => {
    const { charge, paymentId, transactionId } = await failed();
    await signalEvent(time, charge, { paymentId, transactionId });
    expect(await charge.outcome()).toMatchObject({
      status: 'succeeded',
      transactionId,
      evidence: { knownBy: 'webhook' },
    });
  });

  test('is not believed because that read has failed', async () => {
    const unreadable = await time.sandbox.addFault(answers(503, 'GET', '*/charges/*'));
    const { charge } = await failed();
    await time.passUntil(charge.startedAt + 20 * MINUTE);
    expect(await charge.status()).toMatchObject({ status: 'unknown' });
    await time.sandbox.removeFault(unreadable.id);
    expect(await charge.outcome()).toMatchObject({ status: 'declined', confirmed: true, category: 'provider_error' });
  });

  test.each(['declined', 'succeeded'] as const)('waits for no read where a person says %s', async (status) => {
    await time.sandbox.addFault(answers(503, 'GET', '*/charges/*'));
    const { charge } = await failed();
    await time.passUntil(charge.startedAt + 10 * MINUTE);
    const said = await time.holdfast.settleManually(charge.input.reference, { ...OPERATOR, status });
    expect(said).toMatchObject({ status });
    expect(await charge.outcome()).toMatchObject({ status, evidence: { knownBy: 'operator' } });
  });

  test('counts as an unconfirmed decline where no read is answered for an hour', async () => {
    await time.sandbox.addFault(answers(503, 'GET', '*/charges/*'));
    const { charge } = await failed();
    expect(await charge.outcome()).toMatchObject({ status: 'declined', confirmed: false, retryable: 'nobody' });
    expect(await time.now()).toBeGreaterThanOrEqual(charge.startedAt + HOUR);
  });
});

test('the reply to a repeat that says so is read once more as well, whatever was read before', async () => {
  const input = await time.input();
  const failing = { action: 'result', status: 'Failed', path: '*/charges', times: 1 } as const;
  await plant(time, input, { ...failing, category: 'provider_network_error' });
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + SECOND);
  const { paymentId = '', transactionId = '' } = await charge.status();
  // The flow reads at once.
  await signalEvent(time, charge, { eventType: 'payment.payment.update', paymentId, transactionId });
  await time.passUntil(charge.startedAt + 3 * SECOND);
  await plant(time, input, { ...failing, category: 'provider_error' });
  await time.sandbox.addFault(answers(503, 'GET', '*/charges/*'));
  await time.passUntil(charge.startedAt + 20 * MINUTE);
  expect(await charge.status()).toMatchObject({ status: 'unknown' });
  expect(await charge.outcome()).toMatchObject({ status: 'declined', confirmed: false });
});

test('a signed event of another charge on the payment that comes while ours is sent calls a person at the end', async () => {
  const input = await time.input();
  // The first try is made in the task, which takes no event.
  await plant(time, input, { action: 'status', status: 503, method: 'POST', path: '*/charges', times: 1 });
  await plant(time, input, { action: 'delay', method: 'POST', path: '*/charges', delay_ms: 8 * SECOND });
  await plant(time, input, { action: 'status', status: 503, method: 'GET', path: '*/charges*' });
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + 6 * SECOND);
  const { paymentId = '' } = await charge.status();
  await signalEvent(time, charge, { paymentId, transactionId: 'second' });
  expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
  expect(await charge.status()).toMatchObject({
    needsOperator: true,
    operatorReason: expect.stringContaining('second Succeed, and the outcome does not'),
  });
});
