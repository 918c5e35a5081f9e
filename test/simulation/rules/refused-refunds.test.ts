import { describe, expect, test } from 'vitest';
import { resetTo } from '../../support/resets.js';
import { tellingOf } from '../../support/telling.js';
import { ledgerRows } from '../../support/virtual-flows.js';
import { answers, DAY, failsWith, HOUR, MINUTE, sharedTime } from './context.js';
import { flowOf, GRACE, limitedUnit } from './limited-unit.js';
import { restore, taken } from './restored.js';
import { listenToAll, MERCHANT, takenOf, type Told } from './told.js';

const time = sharedTime({}, { telling: tellingOf([{ url: `${MERCHANT}/all` }]) });
const { charged, newDay, pass } = limitedUnit(time);

/** What the merchant is told of the commands to a payment. */
const toldOf = (told: readonly Told[], workflowId: string) =>
  told.flatMap(({ notification }) => (notification.workflowId === workflowId ? [notification] : []));

const CHARGED = 'charge Succeed 12000 USD';

test('a refund that another person has approved, and the service then refuses, is told with the reason', async () => {
  const told = listenToAll(time);
  await newDay();
  const { actions, paymentId, moved } = await charged();
  await actions.command('refund', { commandId: 'big', amount: 7_000, who: 'Ada' });
  await pass(MINUTE);
  await time.sandbox.addFault({ ...answers(400, 'POST', `/payments/${paymentId}/refunds`), times: 1 });
  await time.holdfast.approve(flowOf(actions.workflowId), { ...GRACE, commandId: 'big' });
  await pass(MINUTE);
  expect(toldOf(told, actions.workflowId)).toMatchObject([
    { type: 'payment.needsAttention' },
    {
      type: 'refund.notExecuted',
      data: {
        command: 'refund',
        commandId: 'big',
        amount: 7_000,
        currency: 'USD',
        paymentId,
        status: 'notExecuted',
        reason: expect.stringContaining('400'),
      },
    },
  ]);
  expect(await time.holdfast.explain(flowOf(actions.workflowId))).toContain('nothing is under way');
  expect(await moved()).toEqual([CHARGED]);
});

test('a refund of a payment that could not be read for a day is told as refused, by a flow that has read nothing', async () => {
  const told = listenToAll(time);
  const { actions, paymentId, moved } = await charged();
  const fault = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
  const { answer } = await actions.command('refund', { commandId: 'late', amount: 500 });
  await pass(DAY + 2 * HOUR);
  await expect(answer).rejects.toMatchObject(failsWith('ProviderUnavailable', 'for 24 hours'));
  await time.sandbox.removeFault(fault.id);
  expect(takenOf(told, actions.workflowId).filter((type) => type.startsWith('refund'))).toEqual(['refund.notExecuted']);
  expect(await moved()).toEqual([CHARGED]);
});

test('a refund that was refused since its payment could not be read is made when it is given again, another behind it', async () => {
  const told = listenToAll(time);
  const { actions, paymentId, reference, moved } = await charged();
  const fault = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
  const late = { commandId: 'late', amount: 5_500 };
  const ask = async () => await time.holdfast.refund({ payment: reference, ...late }, { waitFor: '1 minute' });
  expect(await ask()).toMatchObject({ status: 'unknown' });
  const { answer: behind } = await actions.command('refund', { commandId: 'behind', amount: 2_000 });
  await pass(DAY + 2 * HOUR);
  expect(takenOf(told, actions.workflowId).filter((type) => type.startsWith('refund'))).toEqual(['refund.notExecuted']);
  await time.sandbox.removeFault(fault.id);
  await pass(HOUR);
  expect(await behind).toMatchObject({ status: 'succeeded', amount: 2_000 });
  expect(await ask()).toMatchObject({ status: 'succeeded', amount: 5_500 });
  expect(await ask()).toMatchObject({ status: 'succeeded', amount: 5_500 });
  await pass(MINUTE);
  expect(await moved()).toEqual([CHARGED, 'refund Succeed 2000 USD', 'refund Succeed 5500 USD']);
});

test('a void that was refused since nothing could be read, while a refund waits for a person, is looked at again', async () => {
  await newDay();
  const { actions, paymentId, reference } = await charged();
  const { answer: waiting } = await actions.command('refund', { commandId: 'big', amount: 7_000, who: 'Ada' });
  await pass(MINUTE);
  const fault = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
  const early = await time.holdfast.void(reference, { commandId: 'back' }, { waitFor: '1 minute' });
  expect(early).toMatchObject({ status: 'unknown' });
  await pass(DAY + 2 * HOUR);
  await time.sandbox.removeFault(fault.id);
  const again = time.holdfast.void(reference, { commandId: 'back' });
  await expect(again).rejects.toMatchObject({ type: 'StateConflict' });
  expect(await actions.status()).toMatchObject({ waitingFor: 'approval' });
  await time.holdfast.reject(flowOf(actions.workflowId), { ...GRACE, commandId: 'big' });
  expect(await waiting).toMatchObject({ status: 'notExecuted' });
});

test('of a command id that was given for another refund nothing is told, nor of what a run before may have sent', async () => {
  const told = listenToAll(time);
  await newDay();
  const { actions, paymentId, reference } = await charged();
  await actions.ask('refund', { commandId: 'part', amount: 5_500 });
  await expect(actions.ask('refund', { commandId: 'part', amount: 1_600 })).rejects.toMatchObject(
    failsWith('ReferenceConflict'),
  );
  await expect(actions.ask('refund', { commandId: 'much', amount: 50_000 })).rejects.toMatchObject(
    failsWith('InvalidInput'),
  );
  const ofPayment = (): string[] => takenOf(told, actions.workflowId);
  await pass(MINUTE);
  expect(ofPayment()).toEqual(['refund.succeeded', 'refund.notExecuted']);
  // The flow knows what the runs before it have done, and not what this one has done since.
  const { events } = await time.client.workflow.getHandle(actions.workflowId).fetchHistory();
  const tasks = events?.filter((event) => event.workflowTaskCompletedEventAttributes);
  await resetTo(time.client, { workflowId: actions.workflowId }, tasks?.at(-1)?.eventId);
  const other = time.holdfast.refund({ payment: reference, amount: 60_000, commandId: 'more' });
  await expect(other).rejects.toMatchObject({ type: 'InvalidInput' });
  await pass(MINUTE);
  expect(ofPayment()).toEqual(['refund.succeeded', 'refund.notExecuted']);
  expect(await ledgerRows(time, paymentId)).toEqual([CHARGED, 'refund Succeed 5500 USD']);
});

describe('nor is it told that a refund was refused which may have been sent', () => {
  const tooMuch = async (reference: string): Promise<void> => {
    const asked = time.holdfast.refund({ payment: reference, amount: 60_000, commandId: 'more' });
    await expect(asked).rejects.toMatchObject({ type: 'InvalidInput' });
    await pass(MINUTE);
  };

  test('by a run of the commands that somebody has terminated', async () => {
    const told = listenToAll(time);
    await newDay();
    const { actions, reference } = await charged();
    await actions.ask('refund', { commandId: 'part', amount: 5_500 });
    await time.client.workflow.getHandle(actions.workflowId).terminate('by mistake');
    await tooMuch(reference);
    expect(takenOf(told, actions.workflowId)).toEqual(['refund.succeeded']);
  });

  test('in the time that a restore has lost', async () => {
    const told = listenToAll(time);
    await newDay();
    const { actions, reference } = await charged();
    const state = taken(time);
    await actions.ask('refund', { commandId: 'part', amount: 5_500 });
    await restore(time, state, { downFor: HOUR });
    await tooMuch(reference);
    expect(takenOf(told, actions.workflowId)).not.toContain('refund.notExecuted');
  });

  test('in the time that a restore has lost, by the run that has taken it then, however late it is refused', async () => {
    const told = listenToAll(time);
    const { actions, paymentId, reference } = await charged();
    await restore(time, taken(time), { downFor: HOUR });
    await tooMuch(reference);
    const fault = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    const { answer } = await actions.command('refund', { commandId: 'early', amount: 500 });
    await pass(DAY + 2 * HOUR);
    await expect(answer).rejects.toMatchObject(failsWith('ProviderUnavailable', 'for 24 hours'));
    await time.sandbox.removeFault(fault.id);
    expect(takenOf(told, actions.workflowId)).not.toContain('refund.notExecuted');
  });

  test('and what such a run has taken since the doubt was over is told', async () => {
    const told = listenToAll(time);
    const { actions, reference } = await charged();
    await restore(time, taken(time), { downFor: HOUR });
    await tooMuch(reference);
    await pass(2 * DAY);
    const later = time.holdfast.refund({ payment: reference, amount: 60_000, commandId: 'later' });
    await expect(later).rejects.toMatchObject({ type: 'InvalidInput' });
    await pass(MINUTE);
    const refused = toldOf(told, actions.workflowId).filter(({ type }) => type === 'refund.notExecuted');
    expect(refused).toMatchObject([{ data: { commandId: 'later' } }]);
  });
});
