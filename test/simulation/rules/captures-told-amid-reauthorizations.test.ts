import { describe, expect, test } from 'vitest';
import { storedInSkippedTime } from '../../support/cards.js';
import { movements } from '../../support/payments.js';
import { beginHeld } from '../../support/virtual-flows.js';
import { failsWith, HOUR, SECOND, sharedTime } from './context.js';
import { EACH_TASK, HELD, held as heldIn, RELEASED } from './held-and-reset.js';

const time = sharedTime();

const pass = async (ms: number): Promise<void> => await time.passUntil((await time.now()) + ms);

const CAPTURE = { eventType: 'payment.capture.create', status: 'Succeed', amount: 5_000 } as const;

const called = (transactionId: string) => ({
  needsOperator: true,
  operatorReason: expect.stringContaining(`${transactionId} Succeed`),
});

const reauthorizable = async () =>
  await beginHeld(time, {
    ...(await storedInSkippedTime(time)),
    cardOnFile: { entryMode: 'cof_cardholder_initiated_transaction' },
  });

/** A capture by somebody else of the hold that is being replaced is told during this call. */
async function toldDuring(
  call: 'createVoid' | 'getPayment' | 'createPayment' | 'createAuthorization',
  { trusted = true } = {},
) {
  const hold = await reauthorizable();
  const { paymentId = '' } = await hold.status();
  const calling = time.hold(call);
  const { answer } = await hold.command('reauthorize', { commandId: 'longer' });
  await calling.reached;
  await hold.event({ ...CAPTURE, transactionId: 'others', paymentId, trusted });
  await pass(SECOND);
  calling.release();
  await pass(HOUR);
  return { hold, answer };
}

describe('a capture by somebody else of a hold that is being replaced', () => {
  test.each([
    ['the hold is voided', 'createVoid', 1],
    ['it is read as gone', 'getPayment', 1],
    ['the next payment is created', 'createPayment', 2],
  ] as const)('is not authorized again if it is told while %s: a person is called', async (_when, call, payments) => {
    const { hold, answer } = await toldDuring(call);
    const reason = 'not reauthorized: an event calls a capture of it Succeed';
    await expect(answer).rejects.toMatchObject(failsWith('StateConflict', reason));
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED]);
    expect(time.requests.paymentPosts(hold.reference)).toHaveLength(payments);
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: expect.stringContaining(reason) });
    expect(await hold.status()).toMatchObject(called('others'));
  });

  test('says nothing if nobody has signed it', async () => {
    const { hold, answer } = await toldDuring('createPayment', { trusted: false });
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
  });

  test('calls a person before the next hold is captured, if that was sent already', async () => {
    const { hold, answer } = await toldDuring('createAuthorization');
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(await hold.status()).toMatchObject({ status: 'authorized', ...called('others') });
  });
});

test('a capture by somebody else of a hold before calls a person, however many holds have followed', async () => {
  const hold = await reauthorizable();
  const { paymentId = '' } = await hold.status();
  for (const number of ['second', 'third']) {
    expect(await hold.ask('reauthorize', { commandId: number })).toMatchObject({ status: 'succeeded' });
    await hold.event({ ...CAPTURE, transactionId: `before-${number}`, paymentId });
    await pass(SECOND);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
    expect((await hold.status()).operatorReason).toContain(`capture before-${number} Succeed, of payment ${paymentId}`);
  }
  expect(await time.holdfast.explain(hold.reference)).toContain('what was captured before you `capture`');
});

test('a capture of a payment that this flow has never held on says nothing of its hold', async () => {
  const hold = await reauthorizable();
  await hold.ask('reauthorize', { commandId: 'longer' });
  await hold.event({ ...CAPTURE, transactionId: 'of-another-order', paymentId: 'of-another-order' });
  await pass(SECOND);
  expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
});

test.each(EACH_TASK)(
  'the hold that has replaced one which others have captured is followed after a reset, and calls a person (to the task %s)',
  async (task) => {
    const { hold, until, reset, paymentId } = await heldIn(time, task);
    await until(6.5);
    const { paymentId: next } = await hold.status();
    await hold.event({ ...CAPTURE, transactionId: 'others', paymentId });
    await pass(SECOND);
    await reset();
    await pass(HOUR);
    expect(await hold.status()).toMatchObject({ status: 'authorized', paymentId: next, ...called('others') });
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD]);
  },
);
