import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { beginActions, beginHeld, ledgerRows } from '../../support/virtual-flows.js';
import { failsWith, HOUR, lostReply, OPERATOR, sharedTime } from './context.js';

const time = sharedTime();

const echoes = async (echo_additional_details: boolean, echo_reconciliation_id: boolean) => {
  const profile = { echo_additional_details, echo_reconciliation_id };
  await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile });
};
afterEach(async () => await echoes(true, true));

const HELD = 'authorization Succeed 30000 USD';
const PART = 'capture Succeed 7000 USD';

/** 300.00 USD held, of which its own flow has captured 70.00 by command `one` when somebody terminates that flow. */
async function terminatedAfterItsCapture() {
  const hold = await beginHeld(time, { amount: 30_000 });
  const { paymentId = '' } = await hold.status();
  const lost = await time.sandbox.addFault(lostReply(`/payments/${paymentId}/captures`, 1_000));
  const unread = await time.sandbox.addFault({
    action: 'status',
    status: 503,
    method: 'GET',
    path: `/payments/${paymentId}/captures`,
  });
  const { answer } = await hold.command('capture', { commandId: 'one', amount: 7_000 });
  answer.catch(() => undefined);
  await time.passUntil((await time.now()) + 60_000);
  await time.client.workflow.getHandle(hold.workflowId).terminate('by mistake');
  for (const { id } of [lost, unread]) await time.sandbox.removeFault(id);
  expect(await ledgerRows(time, paymentId)).toEqual([HELD, PART]);
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: hold.reference });
  return { actions, onLedger: () => ledgerRows(time, paymentId) };
}

const SETTLE = 'settleManually';
const decide = async (workflowId: string, words: object): Promise<unknown> =>
  await time.client.workflow.getHandle(workflowId).executeUpdate(SETTLE, { args: [{ ...OPERATOR, ...words }] });

describe('after the flow that made a payment was terminated', () => {
  test.each([
    ['', true],
    [', also where the service echoes nothing', false],
  ])('a capture that it may have made already waits for a person, who says that it has%s', async (_where, isEchoed) => {
    await echoes(isEchoed, isEchoed);
    const { actions, onLedger } = await terminatedAfterItsCapture();
    const { answer } = await actions.command('capture', { commandId: 'one', amount: 7_000 });
    await time.passUntil((await time.now()) + HOUR);
    expect(await onLedger()).toEqual([HELD, PART]);
    expect(await actions.status()).toMatchObject({ status: 'unknown', waitingFor: 'operator', needsOperator: true });
    expect(await decide(actions.workflowId, { status: 'succeeded' })).toMatchObject({ status: 'succeeded' });
    const { who, why } = OPERATOR;
    expect(await answer).toMatchObject({ status: 'succeeded', amount: 7_000, evidence: { operator: { who, why } } });
    // From now on it is known whose that capture is.
    expect(await actions.ask('capture', { commandId: 'two', amount: 7_000 })).toMatchObject({ status: 'succeeded' });
    expect(await onLedger()).toEqual([HELD, PART, PART]);
  });

  test('a person may say that it was another command, and the next one is carried out', async () => {
    const { actions, onLedger } = await terminatedAfterItsCapture();
    const { answer } = await actions.command('capture', { commandId: 'new', amount: 7_000 });
    await time.passUntil((await time.now()) + HOUR);
    expect(await decide(actions.workflowId, { status: 'notExecuted' })).toMatchObject({ status: 'notExecuted' });
    expect(await answer).toMatchObject({ status: 'notExecuted' });
    expect(await actions.ask('capture', { commandId: 'newer', amount: 7_000 })).toMatchObject({ status: 'succeeded' });
    expect(await onLedger()).toEqual([HELD, PART, PART]);
  });

  test('a person who says that it has is asked which it was, where it may have made either of two', async () => {
    await echoes(false, false);
    const { actions, onLedger } = await terminatedAfterItsCapture();
    const { paymentId = '' } = await actions.status();
    const { data } = await time.provider.createCapture(paymentId, { amount: 7_000 }, { idempotencyKey: randomUUID() });
    const { answer } = await actions.command('capture', { commandId: 'one', amount: 7_000 });
    await time.passUntil((await time.now()) + HOUR);
    await expect(decide(actions.workflowId, { status: 'succeeded' })).rejects.toMatchObject(
      failsWith('StateConflict', 'name the transaction that the command has made'),
    );
    const named = { status: 'succeeded', transactionId: data.id, why: 'seen by its id' };
    expect(await decide(actions.workflowId, named)).toMatchObject({ status: 'succeeded' });
    expect(await answer).toMatchObject({ status: 'succeeded', transactionId: data.id });
    expect(await onLedger()).toEqual([HELD, PART, PART]);
  });

  test('of two words that come in one task the second decides no other command', async () => {
    await echoes(false, false);
    const { actions, onLedger } = await terminatedAfterItsCapture();
    const { paymentId = '' } = await actions.status();
    await time.provider.createCapture(paymentId, { amount: 5_000 }, { idempotencyKey: randomUUID() });
    const first = await actions.command('capture', { commandId: 'one', amount: 7_000 });
    const next = await actions.command('capture', { commandId: 'two', amount: 5_000 });
    await time.passUntil((await time.now()) + HOUR);
    await time.stopWorker();
    const word = decide(actions.workflowId, { status: 'succeeded' });
    const other = decide(actions.workflowId, { status: 'notExecuted', why: 'another word' });
    const refused = expect(other).rejects.toMatchObject(failsWith('StateConflict', 'another operation'));
    await time.startWorker();
    expect(await word).toMatchObject({ status: 'succeeded' });
    await refused;
    expect(await first.answer).toMatchObject({ status: 'succeeded', amount: 7_000 });
    await time.passUntil((await time.now()) + HOUR);
    expect(await actions.status()).toMatchObject({ status: 'unknown', waitingFor: 'operator', operationAmount: 5_000 });
    expect(await decide(actions.workflowId, { status: 'notExecuted' })).toMatchObject({ status: 'notExecuted' });
    expect(await next.answer).toMatchObject({ status: 'notExecuted' });
    expect(await onLedger()).toEqual([HELD, PART, 'capture Succeed 5000 USD']);
  });

  test('a capture that it can not have made, and a refund, are carried out at once', async () => {
    const { actions, onLedger } = await terminatedAfterItsCapture();
    const other = await actions.ask('capture', { commandId: 'other', amount: 6_000 });
    expect(other).toMatchObject({ status: 'succeeded' });
    const back = { commandId: 'back', captureId: other.transactionId };
    expect(await actions.ask('refund', back)).toMatchObject({ status: 'succeeded', amount: 6_000 });
    expect(await onLedger()).toEqual([HELD, PART, 'capture Succeed 6000 USD', 'refund Succeed 6000 USD']);
  });
});
