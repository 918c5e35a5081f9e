import { afterEach, describe, expect, test } from 'vitest';
import { storedInSkippedTime } from '../../support/cards.js';
import { movements } from '../../support/payments.js';
import { beginHeld } from '../../support/virtual-flows.js';
import { answers, DAY, declined, failsWith, HOUR, MINUTE, sharedTime } from './context.js';

const time = sharedTime();

afterEach(async () => {
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

describe('a signed event that calls a capture Succeed which was answered as declined', () => {
  async function contradicted(trusted: boolean) {
    const hold = await beginHeld(time, { onDeadline: 'capture', captureDeadline: '4 hours' });
    const { paymentId } = await hold.status();
    await time.sandbox.addFault({ ...declined(`/payments/${paymentId}/captures`), times: 1 });
    const { status, transactionId = '' } = await hold.ask('capture', { commandId: 'one' });
    expect(status).toBe('declined');
    await hold.event({ eventType: 'payment.capture.update', transactionId, status: 'Succeed', amount: 6_000, trusted });
    return { hold, transactionId };
  }

  test('calls a person, and nothing captures again: not a command, nor the deadline', async () => {
    const { hold, transactionId } = await contradicted(true);
    const again = hold.ask('capture', { commandId: 'two' });
    await expect(again).rejects.toMatchObject(failsWith('StateConflict', 'could take the money twice'));
    expect(await hold.status()).toMatchObject({
      status: 'authorized',
      needsOperator: true,
      operatorReason: `an event calls capture ${transactionId} Succeed, and it was answered otherwise`,
    });
    await time.passUntil(hold.startedAt + 5 * HOUR);
    const moved = await movements(time, hold.reference);
    expect(moved.filter((row) => row.startsWith('capture'))).toEqual(['capture Failed 6000 USD']);
  });

  test('does nothing if nobody has signed it', async () => {
    const { hold } = await contradicted(false);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
    expect(await hold.ask('capture', { commandId: 'two' })).toMatchObject({ status: 'succeeded' });
  });
});

test('a late event of the authorization before says nothing of the one that replaces it', async () => {
  const stored = await storedInSkippedTime(time);
  const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' } as const;
  const hold = await beginHeld(time, { ...stored, cardOnFile, onDeadline: 'void' });
  const { transactionId = '' } = await hold.status();
  const creating = time.hold('createPayment');
  await time.sandbox.addFault({ ...answers(503, 'POST', '*/authorizations'), reconciliation_id: hold.reference });
  const { answer } = await hold.command('reauthorize', { commandId: 'longer' });
  await creating.reached;
  await hold.event({ eventType: 'payment.authorization.update', transactionId, status: 'Succeed', amount: 6_000 });
  await time.passUntil((await time.now()) + 1_000);
  creating.release();
  await time.passUntil((await time.now()) + 2 * DAY + MINUTE);
  expect(await answer).toMatchObject({ status: 'notExecuted' });
  expect(await hold.status()).toMatchObject({ status: 'notExecuted', needsOperator: false });
  expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
});
