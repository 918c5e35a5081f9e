import { describe, expect, test } from 'vitest';
import { resetToEachTask, resetToFirstTask } from '../../support/resets.js';
import type { TestStack } from '../../support/stack.js';
import { ledgerRows } from '../../support/virtual-flows.js';
import {
  beginFlow,
  DAY,
  declined,
  failsWith,
  HOUR,
  inputOf,
  MINUTE,
  provideVoidsOfPending,
  sharedTime,
} from './context.js';
import { counterOf, flowOf, GRACE, limitedUnit, UPDATES } from './limited-unit.js';

const time = sharedTime();
const { charged, newDay, pass } = limitedUnit(time);

describe('a refund', () => {
  test('above the sum of a call waits until another person approves it, and says who has', async () => {
    await newDay();
    const { actions, moved } = await charged();
    const { answer } = await actions.command('refund', { commandId: 'big', amount: 6_001, who: 'Ada' });
    await pass(MINUTE);
    expect(await actions.status()).toMatchObject({
      waitingFor: 'approval',
      needsOperator: true,
      operatorReason: expect.stringContaining('refund of 60.01 USD, command "big" asked for by Ada'),
      approval: { commandId: 'big', why: expect.stringContaining('more than the 60.00 USD'), askedBy: 'Ada' },
    });
    expect(await time.holdfast.explain(flowOf(actions.workflowId))).toContain('`approve` or `reject` it');
    const flow = flowOf(actions.workflowId);
    const approve = (who: string, commandId = 'big') => time.holdfast.approve(flow, { ...GRACE, who, commandId });
    await expect(approve(' ADA ')).rejects.toMatchObject({ message: expect.stringContaining('another person') });
    await expect(approve('Grace', 'other')).rejects.toMatchObject({
      message: expect.stringContaining('"big", not "other"'),
    });
    expect(await moved()).toHaveLength(1);
    const approved = await approve('Grace');
    expect(approved).toMatchObject({ decision: 'approved', who: 'Grace', commandId: 'big' });
    expect(await answer).toMatchObject({
      status: 'succeeded',
      amount: 6_001,
      evidence: { approved: { who: 'Grace', why: 'case 17' } },
    });
    // Twice is once; and nobody else decides what is decided.
    expect(await approve('Grace')).toEqual(approved);
    await expect(approve('Linus')).rejects.toMatchObject({
      message: expect.stringContaining('already approved by Grace'),
    });
    await expect(actions.ask('refund', { commandId: 'big', amount: 500 })).rejects.toMatchObject(
      failsWith('ReferenceConflict'),
    );
    expect(await moved()).toEqual(['charge Succeed 12000 USD', 'refund Succeed 6001 USD']);
  });

  test('that is rejected, or that nobody decides on in time, was not executed', async () => {
    await newDay();
    const { actions, moved } = await charged();
    const flow = flowOf(actions.workflowId);
    const first = await actions.command('refund', { commandId: 'no', amount: 7_000, who: 'Ada' });
    await pass(MINUTE);
    await time.holdfast.reject(flow, { ...GRACE, commandId: 'no' });
    expect(await first.answer).toMatchObject({
      status: 'notExecuted',
      reason: 'rejected by Grace: case 17',
      evidence: { operator: GRACE },
    });
    const second = await actions.command('refund', { commandId: 'late', amount: 7_000, who: 'Ada' });
    await pass(2 * DAY + MINUTE);
    expect(await second.answer).toMatchObject({
      status: 'notExecuted',
      reason: expect.stringContaining('nobody has approved it by'),
    });
    await expect(time.holdfast.approve(flow, { ...GRACE, commandId: 'late' })).rejects.toMatchObject({
      message: expect.stringContaining('nothing waits for a decision'),
    });
    expect(await actions.ask('refund', { commandId: 'late', amount: 7_000, who: 'Ada' })).toMatchObject({
      status: 'notExecuted',
    });
    expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: false });
    expect(await moved()).toEqual(['charge Succeed 12000 USD']);
  });
});

test('a refund that was approved and sent is found by a reset, which counts and sends nothing again', async () => {
  const at = await newDay();
  const { actions, moved } = await charged();
  const { answer } = await actions.command('refund', { commandId: 'big', amount: 7_000, who: 'Ada' });
  await pass(MINUTE);
  await time.holdfast.approve(flowOf(actions.workflowId), { ...GRACE, commandId: 'big' });
  await answer;
  for (const without of [[], [UPDATES]]) {
    await resetToFirstTask(time.client, actions.workflowId, without);
    await pass(HOUR);
    expect(await actions.status()).toMatchObject({ waitingFor: 'command' });
  }
  expect(await moved()).toEqual(['charge Succeed 12000 USD', 'refund Succeed 7000 USD']);
  expect(await time.holdfast.explain(counterOf(at))).toContain('1 credits and refunds, 70.00 USD');
});

test('a refund under an id that every object has waits for approval like any other', async () => {
  await newDay();
  const { actions, moved } = await charged();
  const { answer } = await actions.command('refund', { commandId: 'constructor', who: 'Ada' });
  await pass(MINUTE);
  expect(await actions.status()).toMatchObject({ waitingFor: 'approval' });
  await time.holdfast.approve(flowOf(actions.workflowId), { ...GRACE, commandId: 'constructor' });
  expect(await answer).toMatchObject({ status: 'succeeded', amount: 12_000 });
  expect(await moved()).toEqual(['charge Succeed 12000 USD', 'refund Succeed 12000 USD']);
});

describe('without the name of who asks for it', () => {
  const asks = (what: string) =>
    failsWith('InvalidInput', `who: is required, since this ${what} is more than the 60.00 USD`);

  test('a refund above a limit is refused, and one below is sent', async () => {
    await newDay();
    const { actions, moved } = await charged();
    await expect(actions.ask('refund', { commandId: 'big', amount: 7_000 })).rejects.toMatchObject(asks('refund'));
    expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: false });
    expect(await actions.ask('refund', { commandId: 'small', amount: 5_000 })).toMatchObject({ status: 'succeeded' });
    expect(await moved()).toEqual(['charge Succeed 12000 USD', 'refund Succeed 5000 USD']);
  });

  test('a credit above a limit fails, and after a reset is only looked for', async () => {
    await newDay();
    const flow = await beginFlow(time, 'credit', await inputOf(time, 'credit', { amount: 7_000 }));
    await expect(flow.outcome()).rejects.toMatchObject(asks('credit'));
    expect(time.requests.posts(flow.reference).map(({ path }) => path)).toEqual(['/payments']);
    await resetToFirstTask(time.client, flow.workflowId);
    const again = time.client.workflow.getHandle(flow.workflowId).result();
    await pass(DAY);
    expect(await again).toMatchObject({ status: 'notExecuted' });
  });
});

describe('a credit', () => {
  const credited = async (amount: number) =>
    await beginFlow(time, 'credit', await inputOf(time, 'credit', { amount, who: 'Ada' }));

  test('above the sum of a call is sent once it is approved, and a reset sends and counts it no second time', async () => {
    const at = await newDay();
    const flow = await credited(7_000);
    await pass(3 * HOUR);
    expect(await flow.status()).toMatchObject({ waitingFor: 'approval', status: 'started' });
    await time.holdfast.approve(flow.reference, { ...GRACE, commandId: flow.reference });
    const { paymentId } = await flow.status();
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded', evidence: { approved: GRACE } });
    await resetToFirstTask(time.client, flow.workflowId);
    await pass(HOUR);
    const handle = time.client.workflow.getHandle(flow.workflowId);
    expect(await handle.result()).toMatchObject({ status: 'succeeded', evidence: { approved: GRACE } });
    expect(await ledgerRows(time, paymentId)).toEqual(['credit Succeed 7000 USD']);
    expect(await time.holdfast.explain(counterOf(at))).toContain('1 credits and refunds, 70.00 USD');
  });

  test('whose void was declined while it was pending still says who has approved it', async () => {
    await newDay();
    await provideVoidsOfPending(time, 'allowed');
    const input = await inputOf(time, 'credit', { amount: 7_000, who: 'Ada' });
    const pends = { action: 'result', status: 'Pending', path: '*/credits' } as const;
    const flow = await beginFlow(time, 'credit', input, [pends]);
    await pass(MINUTE);
    await time.holdfast.approve(flow.reference, { ...GRACE, commandId: flow.reference });
    await pass(2_000);
    const { paymentId, transactionId = '' } = await flow.status();
    const fault = await time.sandbox.addFault({ ...declined(`/payments/${paymentId}/voids`), times: 1 });
    expect(await flow.ask('void', { commandId: 'released' })).toMatchObject({ status: 'declined' });
    await time.sandbox.removeFault(fault.id);
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded', evidence: { approved: GRACE } });
    await provideVoidsOfPending(time, 'refused');
  });

  test('that was sent before a reset is found, though nobody approves it again', async () => {
    await newDay();
    const flow = await credited(7_000);
    await pass(MINUTE);
    await time.holdfast.approve(flow.reference, { ...GRACE, commandId: flow.reference });
    const { paymentId } = await flow.outcome();
    // Without the updates: its approval is lost.
    await resetToFirstTask(time.client, flow.workflowId, [UPDATES]);
    await pass(2 * DAY + HOUR);
    expect(await time.client.workflow.getHandle(flow.workflowId).result()).toMatchObject({ status: 'succeeded' });
    expect(await ledgerRows(time, paymentId)).toEqual(['credit Succeed 7000 USD']);
  });

  test('that is rejected or cancelled while it waits was never sent', async () => {
    await newDay();
    const rejected = await credited(7_000);
    const cancelled = await credited(7_000);
    await pass(MINUTE);
    await time.holdfast.reject(rejected.reference, { ...GRACE, commandId: rejected.reference });
    await cancelled.cancel();
    expect(await rejected.outcome()).toMatchObject({ status: 'notExecuted', reason: 'rejected by Grace: case 17' });
    await expect(cancelled.outcome()).rejects.toMatchObject({ cause: { message: expect.stringContaining('ancel') } });
    const ledger = await time.sandbox.ledger();
    const sent = [rejected, cancelled].map(({ reference }) => reference);
    expect(ledger.filter(({ reconciliation_id: id }) => sent.includes(id ?? ''))).toEqual([]);
  });
});

test('an approval is of the sum that is sent: what others refund meanwhile asks for another one', async () => {
  await newDay();
  const { actions, paymentId, moved } = await charged();
  const { answer } = await actions.command('refund', { commandId: 'rest', who: 'Ada' });
  await pass(MINUTE);
  const back = { amount: 5_000, reconciliationId: 'by-hand' };
  await time.provider.createRefund(paymentId, back, { idempotencyKey: 'by-hand' });
  const approve = async (who: string) =>
    await time.holdfast.approve(flowOf(actions.workflowId), { commandId: 'rest', who, why: 'case 17' });
  await approve('Grace');
  await pass(MINUTE);
  expect(await actions.status()).toMatchObject({
    waitingFor: 'approval',
    operatorReason: expect.stringContaining('refund of 70.00 USD'),
  });
  await approve('Linus');
  expect(await answer).toMatchObject({ status: 'succeeded', amount: 7_000, evidence: { approved: { who: 'Linus' } } });
  expect(await moved()).toEqual(['charge Succeed 12000 USD', 'refund Succeed 5000 USD', 'refund Succeed 7000 USD']);
});

test('nobody approves what they have asked for by spelling their name otherwise', async () => {
  await newDay();
  const { actions } = await charged();
  await actions.command('refund', { commandId: 'big', amount: 7_000, who: 'Ada Lovelace' });
  const input = await inputOf(time, 'credit', { amount: 7_000, who: 'Ada Lovelace' });
  const credit = await beginFlow(time, 'credit', input);
  await pass(MINUTE);
  for (const who of ['ada  lovelace', 'Ａda Lovelace', 'Ada\u00a0Lovelace', 'Ada\u200b Lovelace', 'AdaLovelace'])
    for (const [flow, commandId] of [
      [flowOf(actions.workflowId), 'big'],
      [credit.reference, credit.reference],
    ] as const)
      await expect(time.holdfast.approve(flow, { commandId, who, why: 'x' }), who).rejects.toMatchObject({
        message: expect.stringContaining('another person'),
      });
});

test('a credit that was rejected ends once more after a reset to any of its tasks', async () => {
  await newDay();
  const credit = await beginFlow(time, 'credit', await inputOf(time, 'credit', { amount: 7_000, who: 'Ada' }));
  await pass(MINUTE);
  await time.holdfast.reject(credit.reference, { ...GRACE, commandId: credit.reference });
  expect(await credit.outcome()).toMatchObject({ status: 'notExecuted' });
  await resetToEachTask({ temporal: time.client } as TestStack, credit.workflowId, async () => {
    await pass(3 * DAY);
    expect(await time.client.workflow.getHandle(credit.workflowId).result()).toMatchObject({ status: 'notExecuted' });
  });
});

test('what who asks says before it waits, in a run that a reset has made, keeps nobody else from deciding', async () => {
  await newDay();
  const credit = await beginFlow(time, 'credit', await inputOf(time, 'credit', { amount: 7_000, who: 'Ada' }));
  await pass(MINUTE);
  await resetToFirstTask(time.client, credit.workflowId);
  const say = async (who: string) =>
    await time.holdfast.approve(credit.reference, { who, why: 'case 17', commandId: credit.reference });
  await say('Ada');
  await pass(MINUTE);
  expect(await credit.status()).toMatchObject({ waitingFor: 'approval' });
  await expect(say('Ada')).rejects.toMatchObject({ message: expect.stringContaining('another person') });
  await say('Grace');
  await pass(HOUR);
  const handle = time.client.workflow.getHandle(credit.workflowId);
  expect(await handle.result()).toMatchObject({ status: 'succeeded', evidence: { approved: { who: 'Grace' } } });
});
