import { describe, expect, test } from 'vitest';
import { tellOfDispute } from '../../../src/client/start-actions.js';
import { MEMO_KEYS, paymentActionsWorkflowId } from '../../../src/contract/names.js';
import { beginActions, beginHeld } from '../../support/virtual-flows.js';
import { answers, DAY, failsWith, HOUR, lostReply, MINUTE, OPERATOR, SECOND, sharedTime } from './context.js';
import { flowOf, GRACE, limitedUnit } from './limited-unit.js';
import { beginWeekly } from './weekly.js';

const time = sharedTime({ billing: true });
const { charged, newDay, pass } = limitedUnit(time);

const inputOf = (paymentId: string, currency = 'USD') => ({ paymentId, businessUnit: 'default', currency });

test('the word of a statement that comes during a read because of an event is kept, though the service shows nothing', async () => {
  const { paymentId, actions } = await charged();
  const read = time.hold('getPayment');
  await tellOfDispute(time.client, inputOf(paymentId), 'event');
  await read.reached;
  await tellOfDispute(time.client, inputOf(paymentId), 'statement');
  read.release();
  await pass(2 * HOUR);
  expect(await time.holdfast.status(flowOf(actions.workflowId))).toMatchObject({ disputed: { knownBy: 'statement' } });
});

test('a chargeback that could not be looked into for a day is told all the same', async () => {
  const { paymentId, actions } = await charged();
  const unread = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
  await tellOfDispute(time.client, inputOf(paymentId), 'event');
  await pass(25 * HOUR);
  await time.sandbox.removeFault(unread.id);
  expect(await time.holdfast.status(flowOf(actions.workflowId))).toMatchObject({ disputed: { knownBy: 'event' } });
});

test('keys that were rejected as a chargeback was looked into, and work again, call for nobody any more', async () => {
  const { paymentId, actions } = await charged();
  const rejected = await time.sandbox.addFault(answers(401, 'GET', `/payments/${paymentId}`));
  await tellOfDispute(time.client, inputOf(paymentId), 'statement');
  await pass(MINUTE);
  expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: true });
  await time.sandbox.removeFault(rejected.id);
  await pass(2 * HOUR);
  expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: false });
  const { searchAttributes } = await time.client.workflow.getHandle(actions.workflowId).describe();
  expect(searchAttributes).toMatchObject({ NeedsOperator: [false] });
  expect(searchAttributes).not.toHaveProperty('DueAt');
});

test('a refund that has waited for approval is not sent once a dispute was seen, whatever reads show', async () => {
  await newDay();
  for (const seenBy of ['statement', 'event'] as const) {
    const { actions, paymentId, moved } = await charged();
    const { answer } = await actions.command('refund', { commandId: 'big', amount: 7_000, who: 'Ada' });
    await pass(MINUTE);
    await tellOfDispute(time.client, inputOf(paymentId), seenBy);
    await pass(MINUTE);
    await time.holdfast.approve(flowOf(actions.workflowId), { ...GRACE, commandId: 'big' });
    await expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'confirmDisputed'));
    expect(await moved()).toEqual(['charge Succeed 12000 USD']);
  }
});

test('a refund that the service does not take yet is not sent any more once a dispute was seen', async () => {
  await newDay();
  for (const seenBy of ['statement', 'event'] as const) {
    const { actions, paymentId, moved } = await charged();
    const fault = await time.sandbox.addFault(answers(503, 'POST', `/payments/${paymentId}/refunds`));
    const { answer } = await actions.command('refund', { commandId: 'later', amount: 3_000 });
    await pass(10 * MINUTE);
    await tellOfDispute(time.client, inputOf(paymentId), seenBy);
    await pass(MINUTE);
    await time.sandbox.removeFault(fault.id);
    await pass(2 * HOUR);
    expect(await moved()).toEqual(['charge Succeed 12000 USD']);
    expect(await answer).toMatchObject({
      status: 'notExecuted',
      reason: expect.stringContaining('give confirmDisputed, who and why, under a new commandId'),
    });
  }
});

test('a subscription is told of a dispute once it can be read whose payment it is', async () => {
  const weekly = await beginWeekly(time, { periods: 3 });
  await weekly.reach(1);
  const [bill] = await time.sandbox.ledger(`${weekly.flow.reference}.1.1`);
  const paymentId = bill?.payment_id ?? '';
  // Opened by the payment's id alone.
  await beginActions(time, { paymentId, currency: 'EUR' });
  const fault = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
  await tellOfDispute(time.client, inputOf(paymentId, 'EUR'), 'statement');
  await pass(HOUR);
  expect(await time.holdfast.status(flowOf(paymentActionsWorkflowId(paymentId)))).toMatchObject({
    disputed: { knownBy: 'statement' },
  });
  await time.sandbox.removeFault(fault.id);
  await pass(6 * HOUR);
  expect(await weekly.flow.status()).toMatchObject({ status: 'paused' });
  await weekly.flow.command('cancel', { when: 'now' });
});

test('a subscription is told of a dispute at once where its payment is named, though no read answers', async () => {
  const weekly = await beginWeekly(time, { periods: 3 });
  await weekly.reach(1);
  const paymentReference = `${weekly.flow.reference}.1.1`;
  const [bill] = await time.sandbox.ledger(paymentReference);
  const paymentId = bill?.payment_id ?? '';
  const fault = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
  await tellOfDispute(time.client, { ...inputOf(paymentId, 'EUR'), paymentReference }, 'statement');
  await pass(MINUTE);
  expect(await weekly.flow.status()).toMatchObject({ status: 'paused' });
  await time.sandbox.removeFault(fault.id);
  await weekly.flow.command('cancel', { when: 'now' });
});

test('the run that the word of a dispute opens takes over what the one before it has done, though that closed meanwhile', async () => {
  const { paymentId, actions, reference } = await charged();
  await actions.ask('refund', { commandId: 'part', amount: 500 });
  const { client } = time;
  const workflow = Object.create(client.workflow) as typeof client.workflow;
  // It was described as open, and ends before the signal arrives.
  workflow.signalWithStart = async (...given) => {
    await pass(31 * DAY);
    return await client.workflow.signalWithStart(...given);
  };
  const slow = Object.create(client, { workflow: { value: workflow } }) as typeof client;
  await tellOfDispute(slow, { ...inputOf(paymentId), paymentReference: reference }, 'statement');
  const { memo } = await client.workflow.getHandle(actions.workflowId).describe();
  expect(memo?.[MEMO_KEYS.takesOver]).not.toBe('none');
  await pass(HOUR);
  const status = await time.holdfast.status(flowOf(actions.workflowId));
  expect(status).toMatchObject({ disputed: { knownBy: 'statement' } });
});

describe('a chargeback is looked into at once while', () => {
  const ofDispute = { disputed: { knownBy: 'statement' } };

  test('a refund is sought whose reply was lost', async () => {
    const { actions, paymentId } = await charged();
    const path = `/payments/${paymentId}/refunds`;
    await time.sandbox.addFault(lostReply(path));
    await time.sandbox.addFault(answers(401, 'POST', path));
    const begun = await time.now();
    const { answer } = await actions.command('refund', { commandId: 'lost', amount: 5_500 });
    await pass(MINUTE);
    const hidden = await time.sandbox.addFault(answers(503, 'GET', path));
    await time.passUntil(begun + 22 * HOUR);
    expect(await actions.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof' });
    const reads = () => time.requests.reads(paymentId).length;
    const before = reads();
    await tellOfDispute(time.client, inputOf(paymentId), 'statement');
    await pass(10 * SECOND);
    expect(await actions.status()).toMatchObject({ ...ofDispute, waitingFor: 'proof' });
    expect(reads()).toBe(before);
    await time.sandbox.removeFault(hidden.id);
    await pass(2 * HOUR);
    expect(await answer).toMatchObject({ status: 'succeeded' });
  });

  test('a person has to say which capture a command has made', async () => {
    const hold = await beginHeld(time, { amount: 20_000 });
    const { paymentId = '' } = await hold.status();
    const pends = { action: 'result', status: 'Pending', path: `/payments/${paymentId}/captures`, times: 1 } as const;
    await time.sandbox.addFault(pends);
    await hold.command('capture', { commandId: 'part', amount: 6_000 });
    await pass(MINUTE);
    const { transactionId = '' } = await hold.status();
    await time.client.workflow.getHandle(hold.workflowId).terminate();
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: hold.reference });
    const { answer } = await actions.command('capture', { commandId: 'part', amount: 6_000 });
    await pass(MINUTE);
    expect(await actions.status()).toMatchObject({ status: 'unknown', waitingFor: 'operator' });
    // What an event says is read until that is answered.
    const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    await tellOfDispute(time.client, inputOf(paymentId), 'event', 'seen');
    await pass(HOUR);
    await time.sandbox.dispute(transactionId);
    await time.sandbox.removeFault(away.id);
    await pass(2 * HOUR);
    expect(await actions.status()).toMatchObject({ disputed: { knownBy: 'event' }, waitingFor: 'operator' });
    await time.holdfast.settleManually(flowOf(actions.workflowId), { ...OPERATOR, status: 'succeeded' });
    expect(await answer).toMatchObject({ status: 'succeeded', transactionId });
  });

  test('the payment can not be read', async () => {
    const { actions, paymentId, moved } = await charged();
    const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}/refunds`));
    const { answer } = await actions.command('refund', { commandId: 'r', amount: 5_500 });
    await pass(MINUTE);
    await tellOfDispute(time.client, inputOf(paymentId), 'statement');
    await pass(HOUR);
    expect(await actions.status()).toMatchObject({ ...ofDispute, status: 'refunding' });
    await time.sandbox.removeFault(away.id);
    await pass(2 * HOUR);
    await expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'confirmDisputed'));
    expect(await moved()).toEqual(['charge Succeed 12000 USD']);
  });
});
