import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { beginHeld, beginHold } from '../../support/virtual-flows.js';
import { answers, declined, failsWith, HOUR, MINUTE, sharedTime } from './context.js';

const time = sharedTime();

type Held = Awaited<ReturnType<typeof beginHeld>>;

async function captureOfAnother(hold: Held): Promise<string> {
  const { paymentId = '', currency } = await hold.status();
  const taken = { reconciliationId: 'of-a-person' };
  await time.provider.createCapture(paymentId, taken, { idempotencyKey: randomUUID(), currency });
  return paymentId;
}

/** Gives the command to capture while the flow, woken by an operator, reads. */
async function captureDuring(read: string, hold: Held) {
  const slow = time.hold(read);
  await time.holdfast.retryNow({ workflowId: hold.workflowId });
  await slow.reached;
  const { answer } = await hold.command('capture', { commandId: 'ship' });
  return { answer, release: () => slow.release() };
}

describe('a command that came during a read looks for itself', () => {
  test('so that a capture is not sent where the read shows one of somebody else, seconds after another look', async () => {
    const hold = await beginHeld(time);
    const paymentId = await captureOfAnother(hold);
    const { answer, release } = await captureDuring('getPayment', hold);
    release();
    await expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'the hold is gone'));
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
    expect(time.requests.operations(paymentId, 'captures')).toEqual([]);
  });

  test('and sends nothing where the service, which showed that capture, answers no more reads', async () => {
    const hold = await beginHeld(time);
    const paymentId = await captureOfAnother(hold);
    const { answer, release } = await captureDuring('listCaptures', hold);
    const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'nothing was sent'));
    const away = await time.sandbox.addFault(answers(404, 'GET', `/payments/${paymentId}`));
    release();
    await time.passUntil((await time.now()) + HOUR);
    await refused;
    expect(time.requests.operations(paymentId, 'captures')).toEqual([]);
    await time.sandbox.removeFault(away.id);
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
  });

  test('so that a capture is not sent where the read shows the hold as voided', async () => {
    const hold = await beginHeld(time);
    const { paymentId = '' } = await hold.status();
    await time.passUntil(hold.startedAt + 2 * MINUTE);
    const another = { additionalDetails: { holdfast_key: 'payment-another:void:1' } };
    await time.provider.createVoid(paymentId, another, { idempotencyKey: randomUUID() });
    const { answer, release } = await captureDuring('getPayment', hold);
    release();
    await expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'the hold is gone'));
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'elsewhere' });
    expect(time.requests.operations(paymentId, 'captures')).toEqual([]);
  });
});

test('a capture that follows a declined one is not refused because the hold is read between them', async () => {
  const pending = { action: 'result', status: 'Pending', path: '*/authorizations' } as const;
  const hold = await beginHold(time, {}, { faults: [pending, declined('*/captures')] });
  await time.passUntil(hold.startedAt + 2 * MINUTE);
  await time.sandbox.complete((await hold.status()).transactionId ?? '', { status: 'Succeed' });
  const reads = time.fail('getPayment');
  await time.passUntil(hold.startedAt + 8 * MINUTE);
  reads();
  const sent = time.hold('createCapture');
  const first = await hold.command('capture', { commandId: 'first' });
  await sent.reached;
  const read = time.hold('getPayment');
  sent.release();
  expect(await first.answer).toMatchObject({ status: 'declined' });
  await read.reached;
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
  const second = await hold.command('capture', { commandId: 'second' });
  read.release();
  expect(await second.answer).toMatchObject({ status: 'succeeded' });
  expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
});
