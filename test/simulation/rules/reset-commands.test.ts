import { describe, expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginHeld } from '../../support/virtual-flows.js';
import { answers, declined, failsWith, HOUR, keysOf, MINUTE, sharedTime } from './context.js';
import {
  declinedCapture,
  EACH_TASK,
  expectReleased,
  held as heldIn,
  HELD,
  RELEASED,
  REFUSED,
  type Task,
  TAKEN,
} from './held-and-reset.js';

const time = sharedTime();
const held = async (task: Task, input = {}) => await heldIn(time, task, input);

describe('a command that was answered before the reset', () => {
  test.each(EACH_TASK)(
    'a declined capture is not executed on the hold that replaced its own (to the task %s)',
    async (task) => {
      const flow = await held(task);
      const { hold } = flow;
      await flow.until(1);
      await declinedCapture(flow);
      await flow.until(1.1);
      expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
      const { paymentId } = await hold.status();
      await flow.until(3);
      await flow.reset();
      await flow.pass(10 * HOUR);
      expect(await hold.status()).toMatchObject({ status: 'authorized', paymentId });
      expect(await movements(time, hold.reference)).toEqual([HELD, REFUSED, RELEASED, HELD]);
    },
  );

  test('nor on one that only the run after the reset makes, once the first has lapsed', async () => {
    const flow = await held('ofTheRead');
    const { hold } = flow;
    await flow.until(1);
    await declinedCapture(flow);
    await time.stopWorker();
    await flow.until(7.5);
    await flow.reset();
    await time.startWorker();
    await flow.pass(10 * HOUR);
    expect(await movements(time, hold.reference)).not.toContain(TAKEN);
  });

  test.each(EACH_TASK)(
    'a void that was refused does not take the void of the deadline for its own (to the task %s)',
    async (task) => {
      const flow = await held(task);
      const { hold, paymentId } = flow;
      await flow.until(1);
      await time.sandbox.addFault({ ...answers(409, 'POST', `/payments/${paymentId}/voids`), times: 1 });
      await expect(hold.ask('void', { commandId: 'keep' })).rejects.toMatchObject(failsWith('StateConflict'));
      await flow.until(6.5);
      const second = (await hold.status()).paymentId;
      await flow.reset();
      await flow.pass(10 * HOUR);
      expect(await hold.status()).toMatchObject({ status: 'authorized', paymentId: second });
      expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD]);
    },
  );

  test.each(['void', 'capture', 'reauthorize'] as const)(
    'one reauthorization whose void took long is one, at a deadline that is to %s',
    async (onDeadline) => {
      const flow = await held('ofTheRead', { onDeadline });
      const { hold, paymentId } = flow;
      await flow.until(5.95);
      const fault = await time.sandbox.addFault(declined(`/payments/${paymentId}/voids`));
      const { answer } = await hold.command('reauthorize', { commandId: 'longer' });
      await flow.pass(80 * MINUTE);
      await time.sandbox.removeFault(fault.id);
      await flow.pass(4 * HOUR);
      expect(await answer).toMatchObject({ status: 'succeeded' });
      const second = (await hold.status()).paymentId;
      const moved = await movements(time, hold.reference);
      await flow.until(6.5);
      await flow.reset();
      await flow.pass(10 * HOUR);
      expect(await hold.status()).toMatchObject({ status: 'authorized', paymentId: second });
      expect(await movements(time, hold.reference)).toEqual(moved);
    },
  );

  test.each(EACH_TASK)(
    'a capture of the second hold is told, though one was refused on the first (to the task %s)',
    async (task) => {
      const flow = await held(task);
      const { hold, paymentId } = flow;
      await flow.until(1);
      await time.sandbox.addFault({ ...answers(409, 'POST', `/payments/${paymentId}/captures`), times: 1 });
      await expect(hold.ask('capture', { commandId: 'a' })).rejects.toMatchObject(failsWith('StateConflict'));
      await flow.until(6.1);
      const said = await hold.ask('capture', { commandId: 'b' });
      await flow.until(6.5);
      await flow.reset();
      await flow.pass(30 * HOUR);
      const { outcome } = await hold.status();
      expect(outcome).toMatchObject({ status: 'captured', transactionId: said.transactionId });
      expect(outcome).toMatchObject({ actions: [{ commandId: 'b', outcome: { status: 'succeeded' } }] });
      expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, TAKEN]);
    },
  );

  test('a new capture takes a key that no earlier one has used', async () => {
    const flow = await held('ofTheRead');
    const { hold } = flow;
    await flow.until(1);
    await declinedCapture(flow);
    await hold.ask('reauthorize', { commandId: 'longer' });
    await flow.until(3);
    await flow.reset({ withoutUpdates: true });
    await time.holdfast.retryNow({ workflowId: hold.workflowId });
    await flow.pass();
    expect(await hold.ask('capture', { commandId: 'ship' })).toMatchObject({ status: 'succeeded' });
    expect(keysOf(time, hold.reference).filter((key) => key.startsWith('capture'))).toEqual(['capture:1', 'capture:2']);
  });
});

describe('a cancel before the reset', () => {
  test.each<[string, Task]>([
    ['while the void of a reauthorization is under way', 'ofTheRead'],
    ['while the void of a reauthorization is under way', 'beforeTheRead'],
  ])('%s is kept: nothing is held again (to the task %s)', async (_when, task) => {
    const flow = await held(task);
    const { hold } = flow;
    await flow.until(1);
    const slow = time.hold('createVoid');
    const { answer } = await hold.command('reauthorize', { commandId: 'longer' });
    const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict'));
    await slow.reached;
    await hold.cancel();
    slow.release();
    await refused;
    await hold.outcome();
    await flow.until(2);
    await flow.reset();
    await flow.pass(10 * HOUR);
    await expectReleased(flow);
  });

  test('while the payment of the next hold is made is kept', async () => {
    const flow = await held('ofTheRead');
    const { hold } = flow;
    const slow = time.hold('createPayment');
    await flow.until(6);
    await slow.reached;
    await hold.cancel();
    slow.release();
    await hold.outcome();
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED]);
    await flow.until(6.5);
    await flow.reset();
    await flow.pass(10 * HOUR);
    await expectReleased(flow);
  });
});

test('a deadline that voided the hold, and could not prove it gone before the reset, goes on to the next hold', async () => {
  const flow = await held('ofTheRead');
  const { hold } = flow;
  const slow = time.hold('createPayment');
  await flow.until(6.2);
  await slow.reached;
  await flow.reset();
  slow.release();
  await flow.pass(10 * HOUR);
  expect(await hold.status()).toMatchObject({ status: 'authorized' });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD]);
});

describe('a capture that was accepted before a reset waits for the hold also behind an analysis of its risk', () => {
  test.each(['before', 'after'] as const)(
    'which is made %s the hold: it is sent, and answered as it was',
    async (when) => {
      for (const isAway of [true, false]) {
        const hold = await beginHeld(time, { captureDeadline: '2 days', risk: { when } });
        const { paymentId } = await hold.status();
        const away = answers(503, 'POST', `/payments/${paymentId}/captures`);
        const fault = isAway ? await time.sandbox.addFault(away) : undefined;
        await hold.command('capture', { amount: 4_000, commandId: 'c1' });
        await time.passUntil((await time.now()) + MINUTE);
        await resetToFirstTask(time.client, hold.workflowId);
        if (fault !== undefined) await time.sandbox.removeFault(fault.id);
        const ended = await time.client.workflow.getHandle(hold.workflowId).result();
        expect(ended).toMatchObject({ status: 'captured', capturedAmount: 4_000, actions: [{ commandId: 'c1' }] });
        const again = await time.holdfast.capture(hold.reference, { amount: 4_000, commandId: 'c1' });
        expect(again).toMatchObject({ status: 'succeeded' });
        const moved = await movements(time, hold.reference);
        expect(moved.filter((row) => row.startsWith('capture'))).toEqual(['capture Succeed 4000 USD']);
      }
    },
  );
});
