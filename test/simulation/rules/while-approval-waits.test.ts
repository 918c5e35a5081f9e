import { afterEach, expect, test } from 'vitest';
import { createReconcilePort } from '../../../src/client/reconcile-port.js';
import { tellOfDispute } from '../../../src/client/start-actions.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginActions, ledgerRows } from '../../support/virtual-flows.js';
import { DAY, failsWith, heldElsewhere, HOUR, MINUTE, runLengths, sharedTime } from './context.js';
import { flowOf, GRACE, limitedUnit } from './limited-unit.js';

/** From then on there is a border between runs at almost any wait. */
let isShort = false;
const time = sharedTime({}, { suggestRunAfter: () => (isShort ? 12 : 4_000) });
afterEach(() => {
  isShort = false;
});
const { newDay, pass } = limitedUnit(time);

/** 120.00 USD held by somebody else, 70.00 of it captured, and 65.00 of that about to be refunded. */
async function waiting() {
  await newDay();
  const paymentId = await heldElsewhere(time, 12_000);
  const actions = await beginActions(time, { paymentId, currency: 'USD' });
  const { transactionId: captureId } = await actions.ask('capture', { commandId: 'first', amount: 7_000 });
  const refund = { commandId: 'back', captureId, amount: 6_500, who: 'Ada' };
  const { answer } = await actions.command('refund', refund);
  await pass(MINUTE);
  const waits = { status: 'refunding', waitingFor: 'approval', approval: { commandId: 'back' }, needsOperator: true };
  expect(await actions.status()).toMatchObject(waits);
  return {
    paymentId,
    actions,
    refund,
    answer,
    waits,
    approve: () => time.holdfast.approve(flowOf(actions.workflowId), { ...GRACE, commandId: 'back' }),
    moved: () => ledgerRows(time, paymentId),
  };
}

const BEFORE = ['authorization Succeed 12000 USD', 'capture Succeed 7000 USD'];
const REST = 'capture Succeed 5000 USD';
const BACK = 'refund Succeed 6500 USD';

test('a capture does not wait behind a refund that another person has to approve', async () => {
  const { actions, answer, waits, approve, moved } = await waiting();
  const rest = { commandId: 'rest', amount: 5_000 };
  expect(await actions.ask('capture', rest)).toMatchObject({ status: 'succeeded', amount: 5_000 });
  expect(await actions.status()).toMatchObject(waits);
  await pass(HOUR);
  await approve();
  expect(await answer).toMatchObject({ status: 'succeeded', amount: 6_500, evidence: { approved: GRACE } });
  expect(await actions.ask('capture', rest)).toMatchObject({ status: 'succeeded' });
  expect(await moved()).toEqual([...BEFORE, REST, BACK]);
});

test('a reconciliation sees that nothing is under way', async () => {
  const { actions, approve } = await waiting();
  const [facts] = await createReconcilePort(time.client).flowsById([actions.workflowId]);
  expect(facts).toMatchObject({ state: 'open', status: 'refunding', waitingFor: 'approval' });
  await approve();
});

test('the refund that waits is not said to be the capture that pends meanwhile', async () => {
  const { actions, paymentId, refund, approve } = await waiting();
  await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `*/${paymentId}/captures`, times: 1 });
  await actions.command('capture', { commandId: 'rest', amount: 5_000 });
  await pass(MINUTE);
  expect(await actions.status()).toMatchObject({ status: 'pending', operation: 'capture' });
  const payment = { payment: paymentId, currency: 'USD' };
  const answer = await time.holdfast.refund({ payment, ...refund }, { waitFor: '2 seconds' });
  expect(answer).toMatchObject({ status: 'unknown', amount: 6_500 });
  expect(answer).not.toHaveProperty('transactionId');
  await approve();
});

test('a chargeback is looked into at once, and the refund that waits is refused then', async () => {
  const { actions, paymentId, refund, answer, waits, approve, moved } = await waiting();
  await time.sandbox.dispute(refund.captureId ?? '');
  await tellOfDispute(time.client, { paymentId, businessUnit: 'default', currency: 'USD' }, 'event');
  await pass(MINUTE);
  expect(await actions.status()).toMatchObject({ ...waits, disputed: { knownBy: 'event' } });
  await approve();
  await expect(answer).rejects.toMatchObject({
    cause: { message: expect.stringContaining('the payment is disputed') as string },
  });
  expect(await moved()).toEqual(BEFORE);
});

test('one that pends for days is followed, and what is approved meanwhile is sent after it', async () => {
  const { actions, paymentId, refund, approve, moved } = await waiting();
  await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `*/${paymentId}/captures`, times: 1 });
  const rest = { commandId: 'rest', amount: 5_000 };
  await actions.command('capture', rest);
  isShort = true;
  await pass(DAY);
  expect(runLengths(time, actions.workflowId).length).toBeGreaterThan(3);
  await approve();
  const { transactionId = '' } = await actions.status();
  await pass(HOUR);
  expect(await moved()).toEqual([...BEFORE, 'capture Pending 5000 USD']);
  await time.sandbox.complete(transactionId, { status: 'Succeed' });
  await pass(DAY);
  // Who waited in an earlier run asks again.
  const payment = { payment: paymentId, currency: 'USD' };
  const captured = await time.holdfast.capture(payment, rest);
  expect(captured).toMatchObject({ status: 'succeeded', amount: 5_000, transactionId });
  const refunded = await time.holdfast.refund({ payment, ...refund });
  expect(refunded).toMatchObject({ status: 'succeeded', amount: 6_500, evidence: { approved: GRACE } });
  expect(await moved()).toEqual([...BEFORE, REST, BACK]);
  expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: false });
});

test('a void is answered, and one that nobody approves in time is not executed all the same', async () => {
  const { actions, refund, waits, moved } = await waiting();
  await expect(actions.ask('void', { commandId: 'release' })).rejects.toMatchObject(
    failsWith('StateConflict', '70.00 USD may have been captured; refund it instead'),
  );
  expect(await actions.status()).toMatchObject(waits);
  await pass(2 * DAY);
  expect(await actions.ask('refund', refund)).toMatchObject({
    status: 'notExecuted',
    reason: expect.stringContaining('nobody has approved it'),
  });
  expect(await moved()).not.toContain(BACK);
});

test('an approval that a reset gives again is not of what was captured meanwhile', async () => {
  const { actions, paymentId, refund } = await waiting();
  await time.holdfast.reject(flowOf(actions.workflowId), { ...GRACE, commandId: 'back' });
  await actions.ask('refund', refund);
  await actions.command('refund', { commandId: 'whole', who: 'Ada' });
  await pass(MINUTE);
  expect(await actions.status()).toMatchObject({ operatorReason: expect.stringContaining('refund of 70.00 USD') });
  await actions.ask('capture', { commandId: 'rest', amount: 5_000 });
  await time.holdfast.approve(flowOf(actions.workflowId), { ...GRACE, commandId: 'whole' });
  await pass(MINUTE);
  const asks = { waitingFor: 'approval', operatorReason: expect.stringContaining('refund of 120.00 USD') };
  expect(await actions.status()).toMatchObject(asks);
  await resetToFirstTask(time.client, actions.workflowId);
  await pass(HOUR);
  expect(time.requests.operations(paymentId, 'refunds')).toEqual([]);
  expect(await actions.status()).toMatchObject(asks);
});
