import { expect, test } from 'vitest';
import { storedInSkippedTime } from '../../support/cards.js';
import { beginHeld, ledgerRows } from '../../support/virtual-flows.js';
import { movements } from '../../support/payments.js';
import { answers, DAY, HOUR, sharedTime } from './context.js';

const time = sharedTime();

const HELD = 'authorization Succeed 6000 USD';
const RELEASED = 'void Succeed 6000 USD';

/** A hold that is being authorized again, while the old one can not be read. */
async function released(status: 404 | 503) {
  const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' } as const;
  const hold = await beginHeld(time, { ...(await storedInSkippedTime(time)), cardOnFile });
  const { paymentId = '' } = await hold.status();
  const unread = await time.sandbox.addFault(answers(status, 'GET', `/payments/${paymentId}`));
  await hold.command('reauthorize', { commandId: 'longer' });
  await time.passUntil(hold.startedAt + 7 * DAY);
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED]);
  return { hold, unread };
}

test('a hold whose payment can not be read for good is authorized again once its time is over', async () => {
  const { hold, unread } = await released(404);
  await time.passUntil(hold.startedAt + 7 * DAY + 3 * HOUR);
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD]);
  expect(await hold.status()).toMatchObject({ status: 'authorized' });
  await time.sandbox.removeFault(unread.id);
  await hold.ask('void');
});

test('one that is not answered is not authorized again, and a cancel ends that wait once its time is over', async () => {
  const { hold, unread } = await released(503);
  await time.passUntil(hold.startedAt + 9 * DAY);
  expect(await hold.status()).toMatchObject({ needsOperator: true });
  await hold.cancel();
  await time.passUntil(hold.startedAt + 9 * DAY + 2 * HOUR);
  expect(await hold.status()).toMatchObject({ status: 'voided' });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED]);
  await time.sandbox.removeFault(unread.id);
});

test('a hold past its end, whose payment can not be read and whose voids are refused, ends after a month', async () => {
  const hold = await beginHeld(time);
  const { paymentId = '' } = await hold.status();
  const faults = [
    await time.sandbox.addFault(answers(404, 'GET', `/payments/${paymentId}`)),
    await time.sandbox.addFault(answers(409, 'POST', `/payments/${paymentId}/voids`)),
  ];
  await time.passUntil(hold.startedAt + 30 * DAY);
  expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
  await time.passUntil(hold.startedAt + (7 + 31) * DAY);
  expect(await hold.outcome()).toMatchObject({ status: 'expired', confirmed: false });
  expect(await ledgerRows(time, paymentId)).toEqual([HELD]);
  for (const { id } of faults) await time.sandbox.removeFault(id);
});
