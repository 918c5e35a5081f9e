import { expect, test } from 'vitest';
import { resolveWorkflowId } from '../../../src/contract/names.js';
import {
  answers,
  DAY,
  failsWith,
  followPending,
  HOUR,
  MINUTE,
  OPERATOR,
  pendingElsewhere,
  sharedTime,
} from './context.js';

const time = sharedTime();

/** A charge that somebody else has made and that pends, and the flow that follows it. */
async function resolving(ids: { transactionId?: string } = {}) {
  const transactionId = await followPending(time, 'charge', ids);
  const handle = time.client.workflow.getHandle(resolveWorkflowId(transactionId));
  return { transactionId, handle, status: () => time.holdfast.status({ transactionId }) };
}

/** The same, where the service has not answered for a day. */
async function unreadForADay() {
  const away = await time.sandbox.addFault(answers(503, 'GET', '*/charges/*'));
  const flow = await resolving();
  await time.passUntil((await time.now()) + DAY + HOUR);
  return { ...flow, comesBack: async () => await time.sandbox.removeFault(away.id) };
}

test('a charge that can not be read yet is unknown, and never said to pend', async () => {
  const away = await time.sandbox.addFault(answers(503, 'GET', '*/charges/*'));
  const { handle, status } = await resolving();
  const begun = await time.now();
  await time.passUntil(begun + HOUR);
  expect(await status()).toMatchObject({ status: 'unknown', needsOperator: false });
  await time.sandbox.removeFault(away.id);
  expect(await handle.result()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
});

test('a charge that the service does not know fails as not found, and not at the first answer that says so', async () => {
  const transactionId = '11111111-1111-4111-8111-111111111111';
  const { handle, status } = await resolving({ transactionId });
  const begun = await time.now();
  await time.passUntil(begun + 10 * MINUTE);
  expect(await status()).toMatchObject({ status: 'unknown' });
  await expect(handle.result()).rejects.toMatchObject(failsWith('NotFound', `knows no charge ${transactionId}`));
});

test('what the service says by now wins over a person who has seen what it said before', async () => {
  const { handle, transactionId, comesBack } = await unreadForADay();
  await comesBack();
  const settled = time.holdfast.settleManually({ transactionId }, { ...OPERATOR, status: 'notExecuted' });
  await expect(settled).rejects.toMatchObject({ type: 'StateConflict', message: expect.stringContaining('Succeed') });
  expect(await handle.result()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
});

test('a person who agrees with it is answered with what it says', async () => {
  const { handle, transactionId, comesBack } = await unreadForADay();
  await comesBack();
  const settled = time.holdfast.settleManually({ transactionId }, { ...OPERATOR, status: 'succeeded' });
  expect(await settled).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
  expect(await handle.result()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
});

test('nobody settles another transaction than the one that is followed', async () => {
  const { handle, transactionId, comesBack } = await unreadForADay();
  const other = { ...OPERATOR, status: 'succeeded', transactionId: '22222222-2222-4222-8222-222222222222' } as const;
  await expect(time.holdfast.settleManually({ transactionId }, other)).rejects.toMatchObject({
    message: expect.stringContaining(`the charge that is followed is transaction ${transactionId}`),
  });
  await comesBack();
  expect(await handle.result()).toMatchObject({ status: 'succeeded' });
});

test('an operator can end what can not be read', async () => {
  const { handle, status, transactionId, comesBack } = await unreadForADay();
  expect(await status()).toMatchObject({ status: 'unknown', needsOperator: true });
  await time.holdfast.settleManually({ transactionId }, { ...OPERATOR, status: 'notExecuted' });
  expect(await handle.result()).toMatchObject({ status: 'notExecuted', evidence: { knownBy: 'operator' } });
  await comesBack();
});

test('a flow that has found nothing is no answer to who asks again: another one follows what is there', async () => {
  const right = await pendingElsewhere(time, 'charge');
  const handle = time.client.workflow.getHandle(resolveWorkflowId(right.transactionId));
  await time.holdfast.resolvePending({ ...right, kind: 'credit' });
  await expect(handle.result()).rejects.toMatchObject(failsWith('NotFound', 'knows no credit'));
  await time.holdfast.resolvePending(right);
  expect(await handle.result()).toMatchObject({ status: 'succeeded' });
  await time.holdfast.resolvePending(right);
  expect(time.simulation.engine.runsOf(handle.workflowId)).toBe(2);
});

test('whoever names another payment or kind than the flow that follows it is told so, and not that it is followed', async () => {
  const followed = await pendingElsewhere(time, 'charge');
  await time.holdfast.resolvePending(followed);
  await time.holdfast.resolvePending(followed);
  for (const other of [{ kind: 'credit' }, { paymentId: '11111111-1111-4111-8111-111111111111' }] as const)
    await expect(time.holdfast.resolvePending({ ...followed, ...other })).rejects.toMatchObject({
      type: 'ReferenceConflict',
      message: expect.stringContaining('already followed with another input'),
    });
  const handle = time.client.workflow.getHandle(resolveWorkflowId(followed.transactionId));
  expect(await handle.result()).toMatchObject({ status: 'succeeded' });
});
