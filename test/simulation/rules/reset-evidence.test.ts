import { describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { WIRE_DETAILS } from '../../../src/contract/names.js';
import { half } from '../../support/counts.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { answers, declined, failsWith, HOUR, OPERATOR, sharedTime } from './context.js';
import {
  declinedCapture,
  EACH_TASK,
  expectReleased,
  held as heldIn,
  HELD,
  type Held,
  RELEASED,
  REFUSED,
  type Task,
  TAKEN,
} from './held-and-reset.js';

/** A short run takes each task and each day once. */
const EACH_TASK_AND_DAY = half([
  ['ofTheRead', 6.5],
  ['ofTheRead', 7.5],
  ['beforeTheRead', 7.5],
  ['beforeTheRead', 6.5],
] as const);

const time = sharedTime();
const held = async (task: Task) => await heldIn(time, task);

test.each(EACH_TASK_AND_DAY)(
  'a hold that a command has voided after a declined capture is not charged after a reset (to the task %s, on day %s)',
  async (task, day) => {
    const flow = await held(task);
    await declinedCapture(flow);
    await flow.until(1);
    expect(await flow.hold.ask('void', { commandId: 'keep' })).toMatchObject({ status: 'succeeded' });
    await flow.until(day);
    await flow.reset();
    await flow.pass();
    await expectReleased(flow, [HELD, REFUSED, RELEASED]);
  },
);

test('nor while the service does not list its voids', async () => {
  const flow = await held('beforeTheRead');
  await declinedCapture(flow);
  await flow.until(1);
  await flow.hold.ask('void', { commandId: 'keep' });
  await flow.until(6.5);
  await time.sandbox.addFault({ ...answers(503, 'GET', `/payments/${flow.paymentId}/voids`), times: 6 });
  await flow.reset();
  await flow.pass(30 * HOUR);
  await expectReleased(flow, [HELD, REFUSED, RELEASED]);
});

test.each(EACH_TASK)(
  'a hold that a cancel has voided is not held again after a reset (to the task %s)',
  async (task) => {
    const flow = await held(task);
    await flow.until(1);
    await flow.hold.cancel();
    await flow.hold.outcome();
    await flow.until(6.5);
    await flow.reset();
    await flow.pass();
    await expectReleased(flow);
  },
);

test.each([
  ['a cancel, before the deadline', 2, async ({ hold }: Held) => await hold.cancel()],
  ['a command that is left out', 6.5, async ({ hold }: Held) => await hold.ask('void', { commandId: 'keep' })],
])('a hold that was voided by %s, is not held again at its deadline', async (_by, day, end) => {
  const flow = await held('ofTheRead');
  await flow.until(1);
  await end(flow);
  await flow.hold.outcome();
  await flow.until(day);
  await flow.reset({ withoutSignals: true, withoutUpdates: true });
  await flow.until(6.6);
  await flow.pass(30 * HOUR);
  await expectReleased(flow);
});

describe('a hold with which its flow has ended, which would have lapsed since', () => {
  async function voidedElsewhere(task: Task, onDeadline: 'reauthorize' | 'void' = 'reauthorize') {
    const flow = await heldIn(time, task, { onDeadline });
    await flow.until(1);
    const additionalDetails = { [WIRE_DETAILS.key]: 'of-another-flow' };
    await time.provider.createVoid(
      flow.paymentId,
      { additionalDetails },
      { idempotencyKey: `elsewhere-${flow.paymentId}` },
    );
    await time.holdfast.retryNow({ workflowId: flow.hold.workflowId });
    expect(await flow.hold.outcome()).toMatchObject({ status: 'voided', reason: 'elsewhere' });
    await flow.until(7.5);
    return flow;
  }

  test.each(EACH_TASK)('is not held again by the run of a reset (to the task %s)', async (task) => {
    const flow = await voidedElsewhere(task);
    await flow.reset();
    await flow.pass(30 * HOUR);
    await expectReleased(flow);
  });

  async function expectNotAsked(flow: Held): Promise<void> {
    const looking = time.hold('getPayment');
    await flow.reset({ withoutSignals: true, withoutUpdates: true });
    await looking.reached;
    const { answer } = await flow.hold.command('reauthorize', { commandId: 'longer' });
    looking.release();
    await flow.pass(30 * HOUR);
    const reason = expect.stringContaining('has told that it took nothing');
    expect(await answer).toMatchObject({ status: 'notExecuted', reason });
  }

  test('nor by a command that comes with the reset', async () => {
    const flow = await voidedElsewhere('ofTheRead', 'void');
    await expectNotAsked(flow);
    expect(await movements(time, flow.hold.reference)).toEqual([HELD, RELEASED]);
  });

  test('nor where a person has said that nothing was held any more, and is not said to have said otherwise', async () => {
    const flow = await heldIn(time, 'ofTheRead', { onDeadline: 'void' });
    const { hold, paymentId } = flow;
    await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { offers: 'interface' } });
    await time.sandbox.addFault({ ...declined(`/payments/${paymentId}/voids`), times: 1 });
    const { transactionId = '' } = await hold.ask('void', { commandId: 'one' });
    await hold.event({ eventType: 'payment.void.update', status: 'Succeed', amount: 6_000, transactionId });
    await expect(hold.ask('void', { commandId: 'off' })).rejects.toMatchObject(failsWith('StateConflict'));
    await time.holdfast.settleManually(hold.reference, { ...OPERATOR, status: 'notExecuted' });
    expect(await hold.outcome()).toMatchObject({ status: 'voided', evidence: { knownBy: 'operator' } });
    await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { offers: 'all' } });
    await flow.until(7.5);
    await expectNotAsked(flow);
    expect(await movements(time, hold.reference)).toEqual([HELD, 'void Failed 6000 USD']);
  });
});

test.each(EACH_TASK)(
  'a void meant for the second hold, and refused there, voids that (to the task %s)',
  async (task) => {
    const flow = await held(task);
    const { hold } = flow;
    await flow.until(6.1);
    const { paymentId = '' } = await hold.status();
    await time.sandbox.addFault({ ...answers(409, 'POST', `/payments/${paymentId}/voids`), times: 1 });
    await expect(hold.ask('void', { commandId: 'keep' })).rejects.toMatchObject(failsWith('StateConflict'));
    await flow.until(6.5);
    await flow.reset();
    await flow.pass();
    await expectReleased(flow, [HELD, RELEASED, HELD, RELEASED]);
  },
);

test.each(EACH_TASK_AND_DAY)(
  'a capture of the second hold is told as it was (to the task %s, on day %s)',
  async (task, day) => {
    const flow = await held(task);
    await flow.until(6.1);
    const said = await flow.hold.ask('capture', { commandId: 'ship' });
    expect(said).toMatchObject({ status: 'succeeded' });
    await flow.until(day);
    await flow.reset();
    await flow.pass(30 * HOUR);
    expect(await movements(time, flow.hold.reference)).toEqual([HELD, RELEASED, HELD, TAKEN]);
    const { outcome } = await flow.hold.status();
    expect(outcome).toMatchObject({ status: 'captured', transactionId: said.transactionId });
    expect(outcome).toMatchObject({ actions: [{ commandId: 'ship', outcome: { status: 'succeeded' } }] });
  },
);

test.each(EACH_TASK)(
  'a third hold, made by command after the deadline made the second, is followed (to the task %s)',
  async (task) => {
    const flow = await held(task);
    const { hold } = flow;
    await flow.until(6.5);
    expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
    const { paymentId } = await hold.status();
    await flow.until(8);
    await flow.reset();
    await flow.pass();
    expect(await hold.status()).toMatchObject({ status: 'authorized', paymentId });
    expect(await hold.ask('capture', { commandId: 'ship' })).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, RELEASED, HELD, TAKEN]);
  },
);

test('a second hold made by a command that is left out after the reset is followed', async () => {
  const flow = await held('beforeTheRead');
  const { hold } = flow;
  await flow.until(3);
  expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
  const { paymentId } = await hold.status();
  await flow.until(4);
  await flow.reset({ withoutUpdates: true });
  await time.holdfast.retryNow({ workflowId: hold.workflowId });
  await flow.pass();
  expect(await hold.status()).toMatchObject({ status: 'authorized', paymentId });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD]);
});

test('a cancel after the reset voids the second hold', async () => {
  const flow = await held('ofTheRead');
  await flow.until(6.5);
  expect(await movements(time, flow.hold.reference)).toEqual([HELD, RELEASED, HELD]);
  await flow.reset();
  await flow.hold.cancel();
  await flow.pass();
  await expectReleased(flow, [HELD, RELEASED, HELD, RELEASED]);
});

describe('after a reset to before the first authorization', () => {
  test.each([
    ['by its deadline', 6.5, false, async () => undefined],
    ['by command', 3, false, async ({ hold }: Held) => void (await hold.ask('reauthorize', { commandId: 'longer' }))],
    [
      'by a command that is left out',
      3,
      true,
      async ({ hold }: Held) => void (await hold.ask('reauthorize', { commandId: 'longer' })),
    ],
    [
      'by its deadline, and once more by command',
      6.5,
      false,
      async ({ hold }: Held) => void (await hold.ask('reauthorize', { commandId: 'longer' })),
    ],
  ])('the hold that replaced it %s is followed', async (_how, day, withoutUpdates, replace) => {
    const flow = await held('ofTheRead');
    const { hold } = flow;
    await flow.until(day);
    await replace(flow);
    const { paymentId } = await hold.status();
    const moved = await movements(time, hold.reference);
    await flow.until(day + 0.5);
    await resetToFirstTask(time.client, hold.workflowId, withoutUpdates ? [2] : []);
    await flow.pass(10 * HOUR);
    expect(await hold.status()).toMatchObject({ status: 'authorized', paymentId });
    expect(await movements(time, hold.reference)).toEqual(moved);
  });
});
