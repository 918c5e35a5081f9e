import { beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { resetTo } from '../../support/resets.js';
import { storedInSkippedTime } from '../../support/cards.js';
import { beginHeld } from '../../support/virtual-flows.js';
import { answers, DAY, declined, failsWith, HOUR, MINUTE, OPERATOR, sharedTime } from './context.js';

const time = sharedTime();
const offer = async (offers: 'all' | 'interface') =>
  await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { offers } });
beforeAll(async () => {
  await offer('interface');
});

describe('a hold that nothing can be read of, whose capture failed without confirmation', () => {
  async function doubted() {
    const away = { action: 'result', status: 'Failed', category: 'provider_network_error' } as const;
    const hold = await beginHeld(time);
    const { paymentId = '' } = await hold.status();
    const fault = await time.sandbox.addFault({ ...away, path: `/payments/${paymentId}/captures` });
    const { answer } = await hold.command('capture', { commandId: 'one' });
    await time.passUntil((await time.now()) + 2 * HOUR);
    expect(await answer).toMatchObject({ status: 'declined', confirmed: false });
    await time.sandbox.removeFault(fault.id);
    const { transactionId = '' } = await answer;
    return { hold, transactionId };
  }

  async function refused({ hold }: Pick<Awaited<ReturnType<typeof doubted>>, 'hold'>) {
    const off = hold.ask('void', { commandId: 'off' });
    await expect(off).rejects.toMatchObject(failsWith('StateConflict', 'settleManually says how it stands'));
    expect((await hold.status()).operatorReason).toContain('say by settleManually succeeded');
    return async (what: object) =>
      await time.holdfast.settleManually(hold.reference, { ...OPERATOR, ...what } as never);
  }

  test('ends captured by the word of a person', async () => {
    const { hold, transactionId } = await doubted();
    const say = await refused({ hold });
    await say({ status: 'succeeded', transactionId, amount: 6_000 });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId, capturedAmount: 6_000 });
  });

  test('is held on where a person finds that it took nothing, and can be voided then', async () => {
    const { hold } = await doubted();
    const say = await refused({ hold });
    await say({ status: 'notExecuted' });
    expect(await hold.ask('void', { commandId: 'again' })).toMatchObject({ status: 'succeeded' });
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'command' });
  });

  test('is asked about no more once reads tell how it stands', async () => {
    const { hold } = await doubted();
    await refused({ hold });
    await offer('all');
    await time.holdfast.retryNow(hold.reference);
    await time.passUntil((await time.now()) + MINUTE);
    await offer('interface');
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
  });

  test('is never called expired before a person has said what became of it', async () => {
    const { hold, transactionId } = await doubted();
    await time.passUntil(hold.startedAt + 60 * DAY);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
    const what = { status: 'succeeded', transactionId, amount: 6_000 };
    await time.holdfast.settleManually(hold.reference, { ...OPERATOR, ...what } as never);
    expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId });
  });

  test('takes the word that its capture took nothing also after a reset, once it must have ended', async () => {
    const { hold } = await doubted();
    const { events } = await time.client.workflow.getHandle(hold.workflowId).fetchHistory();
    const tasks = events?.filter((event) => event.workflowTaskCompletedEventAttributes);
    await resetTo(time.client, hold, tasks?.at(-1)?.eventId);
    await time.passUntil(hold.startedAt + 60 * DAY);
    const { operatorReason = '' } = await hold.status();
    expect(operatorReason).toContain('failed without confirmation, and may have taken the money');
    await time.holdfast.settleManually(hold.reference, { ...OPERATOR, status: 'notExecuted' });
    expect(await time.holdfast.status(hold.reference)).toMatchObject({ status: 'expired' });
  });
});

test('a hold that could not be read before a capture is asked about no more once it is', async () => {
  await offer('all');
  const hold = await beginHeld(time);
  await time.passUntil(hold.startedAt + HOUR);
  const { paymentId = '' } = await hold.status();
  const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
  const { answer } = await hold.command('capture', { commandId: 'one' });
  const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'does not say whether'));
  await time.passUntil((await time.now()) + 30 * MINUTE);
  await refused;
  expect(await hold.status()).toMatchObject({ needsOperator: true });
  await time.sandbox.removeFault(away.id);
  await time.holdfast.retryNow(hold.reference);
  await time.passUntil((await time.now()) + MINUTE);
  await offer('interface');
  expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
});

test('a hold that nothing can be read of, where an event calls its declined void Succeed, waits for a person', async () => {
  const hold = await beginHeld(time);
  const { paymentId = '' } = await hold.status();
  await time.sandbox.addFault({ ...declined(`/payments/${paymentId}/voids`), times: 1 });
  const { status, transactionId = '' } = await hold.ask('void', { commandId: 'one' });
  expect(status).toBe('declined');
  await hold.event({ eventType: 'payment.void.update', status: 'Succeed', amount: 6_000, transactionId });
  const off = hold.ask('void', { commandId: 'off' });
  await expect(off).rejects.toMatchObject(failsWith('StateConflict', 'settleManually says how it stands'));
  expect((await hold.status()).operatorReason).toContain('notExecuted once nothing is held any more');
  await time.holdfast.settleManually(hold.reference, { ...OPERATOR, status: 'notExecuted' });
  expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'elsewhere' });
});

test('a hold that is shown as captured is not called voided over a read that is not answered', async () => {
  await offer('all');
  const hold = await beginHeld(time);
  const { paymentId = '' } = await hold.status();
  const unlisted = await time.sandbox.addFault(answers(404, 'GET', `/payments/${paymentId}/captures`));
  const key = { idempotencyKey: `elsewhere-${paymentId}` };
  const { data } = await time.provider.createCapture(paymentId, { amount: 5_500 }, key);
  await time.passUntil(hold.startedAt + HOUR);
  const { answer } = await hold.command('void');
  await time.passUntil(hold.startedAt + 2 * HOUR);
  await expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'it may have been captured'));
  const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
  const said = time.holdfast.settleManually(hold.reference, { ...OPERATOR, status: 'notExecuted' });
  await expect(said).rejects.toThrow('the service could not be read just now: say it again');
  expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
  for (const { id } of [unlisted, away]) await time.sandbox.removeFault(id);
  await hold.event({ eventType: 'payment.payment.update' });
  expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId: data.id, capturedAmount: 5_500 });
  await offer('interface');
});

test('a hold that is voided for the next one, and that no read shows as gone, is told of after a day as what it is', async () => {
  await offer('all');
  const card = await storedInSkippedTime(time);
  const hold = await beginHeld(time, { ...card, cardOnFile: { entryMode: 'cof_cardholder_initiated_transaction' } });
  await offer('interface');
  const { answer } = await hold.command('reauthorize', { commandId: 'longer' });
  await time.passUntil((await time.now()) + 25 * HOUR);
  const { operatorReason } = await hold.status();
  expect(operatorReason).toMatch(/^the hold before was voided, and for 24 hours no read has shown that it is gone: /);
  await time.passUntil(hold.startedAt + 8 * DAY);
  expect(await answer).toMatchObject({ status: 'succeeded' });
  expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
});
