import { describe, expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { resetTo, resetToFirstTask } from '../../support/resets.js';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { answers, DAY, declined, failsWith, HOUR, keysOf, MINUTE, sharedTime } from './context.js';
import {
  declinedCapture,
  expectReleased,
  held as heldIn,
  HELD,
  type Held,
  RELEASED,
  REFUSED,
  TAKEN,
} from './held-and-reset.js';

const time = sharedTime();
const held = async (input = {}) => await heldIn(time, 'ofTheRead', input);

async function lastTask(workflowId: string) {
  const { events } = await time.client.workflow.getHandle(workflowId).fetchHistory();
  return events?.findLast((event) => event.workflowTaskCompletedEventAttributes)?.eventId;
}

/** Voids the hold at its deadline, and holds up the reads that are to prove it gone. Returns how to go back to them. */
async function amidTheProof({ hold, paymentId, until, pass }: Held) {
  const slow = time.hold('createVoid');
  await until(6);
  await slow.reached;
  const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
  slow.release();
  await pass(10 * MINUTE);
  const task = await lastTask(hold.workflowId);
  await time.sandbox.removeFault(away.id);
  return { reset: async () => await resetTo(time.client, { workflowId: hold.workflowId }, task, []) };
}

/** The task that went on after the last answer before `activity` was called for the `nth` time. */
async function taskBefore(workflowId: string, activity: string, nth: number) {
  const { events = [] } = await time.client.workflow.getHandle(workflowId).fetchHistory();
  const calls = events?.filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === activity);
  return calls?.at(nth - 1)?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId;
}

describe('after a reset into the reads that prove a hold gone', () => {
  test('a cancel from before it is kept: nothing is held again', async () => {
    const flow = await held();
    const proof = await amidTheProof(flow);
    await flow.hold.cancel();
    await flow.hold.outcome();
    await proof.reset();
    await flow.pass(10 * HOUR);
    await expectReleased(flow);
    expect(keysOf(time, flow.hold.reference)).not.toContain('createPayment:2');
  });

  test.each(['createPayment', 'createAuthorization'] as const)(
    'a cancel from before it is kept where the reset goes to the task that called %s',
    async (activity) => {
      const flow = await held();
      const { hold } = flow;
      const slow = time.hold('createPayment');
      await flow.until(6);
      await slow.reached;
      if (activity === 'createAuthorization') await hold.cancel();
      slow.release();
      if (activity === 'createPayment') {
        await flow.pass(MINUTE);
        await hold.cancel();
      }
      await hold.outcome();
      await flow.pass();
      const moved = await movements(time, hold.reference);
      await resetTo(
        time.client,
        { workflowId: hold.workflowId },
        await taskBefore(hold.workflowId, 'createPayment', 1),
      );
      await flow.pass(10 * HOUR);
      await expectReleased(flow, moved);
    },
  );

  test('a cancel from before it voids the second hold, which the run before has made, also where lists do not show that', async () => {
    const flow = await held();
    const { hold } = flow;
    await flow.until(6.5);
    const { paymentId = '' } = await hold.status();
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD]);
    const away = await time.sandbox.addFault(answers(503, 'POST', `/payments/${paymentId}/voids`));
    await hold.cancel();
    await flow.pass(MINUTE);
    const lag = async (list_lag_ms: number) =>
      await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { list_lag_ms } });
    await lag(DAY);
    await resetTo(time.client, { workflowId: hold.workflowId }, await taskBefore(hold.workflowId, 'createPayment', 1));
    await time.sandbox.removeFault(away.id);
    await flow.pass(HOUR);
    await lag(0);
    await flow.pass(10 * HOUR);
    await expectReleased(flow, [HELD, RELEASED, HELD, RELEASED]);
  });

  test('a capture that the second hold declined is not executed on the third', async () => {
    const flow = await held();
    const { hold } = flow;
    const proof = await amidTheProof(flow);
    await flow.pass();
    await declinedCapture({ ...flow, paymentId: (await hold.status()).paymentId ?? '' });
    expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
    const { paymentId } = await hold.status();
    await flow.until(8);
    await proof.reset();
    await flow.pass(10 * HOUR);
    expect(await hold.status()).toMatchObject({ status: 'authorized', paymentId });
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, REFUSED, RELEASED, HELD]);
  });
});

test('a cancel whose void was not made before the reset voids the hold, and a deadline does not capture it', async () => {
  const flow = await held({ onDeadline: 'capture' });
  const fault = await time.sandbox.addFault(answers(503, 'POST', `/payments/${flow.paymentId}/voids`));
  await flow.hold.cancel();
  await flow.pass();
  await flow.reset();
  await time.sandbox.removeFault(fault.id);
  await flow.until(7);
  await expectReleased(flow);
});

test('a void for the second hold reaches it where the first was found again a moment ago', async () => {
  const flow = await held({ risk: { when: 'before' }, captureDeadline: '3h' });
  const { hold } = flow;
  await flow.until(0.15);
  const { paymentId = '' } = await hold.status();
  await time.sandbox.addFault({ ...answers(409, 'POST', `/payments/${paymentId}/voids`), times: 1 });
  await expect(hold.ask('void', { commandId: 'keep' })).rejects.toMatchObject(failsWith('StateConflict'));
  await flow.until(0.2);
  await resetToFirstTask(time.client, hold.workflowId);
  await flow.pass(2 * HOUR);
  await expectReleased(flow, [HELD, RELEASED, HELD, RELEASED]);
});

test('a hold that was replaced is waited for no longer where the service offers no list of voids', async () => {
  const flow = await held();
  const { hold } = flow;
  await flow.until(6.5);
  const { paymentId } = await hold.status();
  await time.sandbox.addFault(answers(404, 'GET', `/payments/${flow.paymentId}/voids`));
  await flow.reset();
  await flow.pass(10 * HOUR);
  expect(await hold.status()).toMatchObject({ status: 'authorized', paymentId });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD]);
});

test('two reauthorizations that a reset gives again are told as they were', async () => {
  const flow = await held();
  const { hold } = flow;
  for (const [day, commandId] of [
    [2, 'first'],
    [3, 'second'],
  ] as const) {
    await flow.until(day);
    expect(await hold.ask('reauthorize', { commandId })).toMatchObject({ status: 'succeeded' });
  }
  const { paymentId } = await hold.status();
  await flow.until(4);
  await flow.reset();
  await flow.pass(10 * HOUR);
  expect(await hold.status()).toMatchObject({ status: 'authorized', paymentId });
  for (const commandId of ['first', 'second'])
    expect(await hold.ask('reauthorize', { commandId })).toMatchObject({ status: 'succeeded' });
  expect(await hold.ask('capture', { commandId: 'ship' })).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, RELEASED, HELD, TAKEN]);
});

test('an operator who asks to look, after the reset, at a hold that is gone does not end the flow instead of its reauthorization', async () => {
  const flow = await held();
  const { hold, paymentId } = flow;
  await flow.until(5.95);
  const fault = await time.sandbox.addFault(declined(`/payments/${paymentId}/voids`));
  await flow.until(6.01);
  const task = await lastTask(hold.workflowId);
  const slow = time.hold('createPayment');
  await time.sandbox.removeFault(fault.id);
  await flow.until(6.2);
  await slow.reached;
  expect(await movements(time, hold.reference)).toContain(RELEASED);
  await resetTo(time.client, { workflowId: hold.workflowId }, task);
  await time.holdfast.retryNow({ workflowId: hold.workflowId });
  slow.release();
  await flow.pass(10 * HOUR);
  expect(await hold.status()).toMatchObject({ status: 'authorized' });
});

test('a second hold that is found after the reset lasts as long as before: nobody else is said to have voided it', async () => {
  const flow = await held();
  const { hold } = flow;
  await flow.until(8);
  const { paymentId, dueAt } = await hold.status();
  await flow.reset();
  await flow.pass(HOUR);
  const found = await hold.status();
  expect(found).toMatchObject({ status: 'authorized', paymentId });
  expect(Math.abs(Date.parse(found.dueAt ?? '') - Date.parse(dueAt ?? ''))).toBeLessThan(MINUTE);
  await time.sandbox.addFault(declined(`/payments/${paymentId}/voids`));
  await flow.until(14.5);
  expect(await hold.outcome()).toMatchObject({ status: 'expired' });
});

describe('a cancel from before the reset', () => {
  test('does not make a capture untold that was executed', async () => {
    const flow = await held();
    const { hold } = flow;
    await flow.until(1);
    const slow = time.hold('createCapture');
    const { answer } = await hold.command('capture', { commandId: 'ship' });
    await slow.reached;
    await hold.cancel();
    slow.release();
    expect(await answer).toMatchObject({ status: 'succeeded' });
    await hold.outcome();
    await flow.until(2);
    await flow.reset();
    await flow.pass(10 * HOUR);
    expect(await hold.outcome()).toMatchObject({
      status: 'captured',
      actions: [{ commandId: 'ship', outcome: { status: 'succeeded' } }],
    });
    expect(await movements(time, hold.reference)).toEqual([HELD, TAKEN]);
  });

  test('releases the hold as soon as it is found again', async () => {
    const flow = await held();
    const { hold } = flow;
    const fault = await time.sandbox.addFault(answers(503, 'POST', `/payments/${flow.paymentId}/voids`));
    await hold.cancel();
    await flow.pass();
    await time.sandbox.removeFault(fault.id);
    await resetToFirstTask(time.client, hold.workflowId);
    await flow.pass(5 * MINUTE);
    await expectReleased(flow);
  });
});
