import { describe, expect, test } from 'vitest';
import { storedInSkippedTime } from '../../support/cards.js';
import { movements } from '../../support/payments.js';
import { resetTo, resetToFirstTask } from '../../support/resets.js';
import { beginHeld } from '../../support/virtual-flows.js';
import { answers, DAY, declined, failsWith, HOUR, MINUTE, sharedTime } from './context.js';

const time = sharedTime();

const HELD = 'authorization Succeed 6000 USD';
const LET_GO = 'void Succeed 6000 USD';
const REFUSED = 'capture Failed 6000 USD';
const TAKEN = 'capture Succeed 6000 USD';
const CARD_ON_FILE = { cardOnFile: { entryMode: 'cof_cardholder_initiated_transaction' } } as const;

/** Tasks that a reset may go back to: the one that handled the answer of a read, and the one woken before that read. */
const TASKS = { ofTheRead: -1, beforeTheRead: -2 } as const;
type Task = keyof typeof TASKS;

/** A hold whose deadline reauthorizes it, and which has been read a minute after it began. */
async function held(task: Task) {
  const card = await storedInSkippedTime(time);
  const hold = await beginHeld(time, { ...card, ...CARD_ON_FILE, onDeadline: 'reauthorize' });
  const { workflowId } = hold;
  await time.passUntil((await time.now()) + MINUTE);
  await time.holdfast.retryNow({ workflowId });
  await time.passUntil((await time.now()) + MINUTE);
  const { events } = await time.client.workflow.getHandle(workflowId).fetchHistory();
  const tasks = events?.filter((event) => event.workflowTaskCompletedEventAttributes);
  const { paymentId = '' } = await hold.status();
  const day = (number: number) => hold.startedAt + number * DAY;
  return {
    hold,
    paymentId,
    until: async (number: number) => await time.passUntil(day(number)),
    /** @param withoutSignals as with `--reapply-exclude Signal` */
    reset: async ({ withoutSignals = false, withoutUpdates = false } = {}) =>
      await resetTo(time.client, { workflowId }, tasks?.at(TASKS[task])?.eventId, [
        ...(withoutSignals ? [1] : []),
        ...(withoutUpdates ? [2] : []),
      ]),
    pass: async (ms = HOUR) => await time.passUntil((await time.now()) + ms),
  };
}

type Held = Awaited<ReturnType<typeof held>>;

async function declinedCapture({ hold, paymentId }: Held): Promise<void> {
  const fault = await time.sandbox.addFault(declined(`/payments/${paymentId}/captures`));
  expect(await hold.ask('capture', { commandId: 'a' })).toMatchObject({ status: 'declined' });
  await time.sandbox.removeFault(fault.id);
}

async function expectLetGo({ hold }: Held, moved: readonly string[] = [HELD, LET_GO]): Promise<void> {
  expect(await movements(time, hold.reference)).toEqual(moved);
  expect((await hold.status()).status).toMatch(/^(?:voided|expired)$/);
}

const EACH_TASK: Task[] = ['ofTheRead', 'beforeTheRead'];

test.each(EACH_TASK.flatMap((task) => [6.5, 7.5].map((day) => [task, day] as const)))(
  'a hold that a command has voided after a declined capture is not charged after a reset (to the task %s, on day %s)',
  async (task, day) => {
    const flow = await held(task);
    await declinedCapture(flow);
    await flow.until(1);
    expect(await flow.hold.ask('void', { commandId: 'keep' })).toMatchObject({ status: 'succeeded' });
    await flow.until(day);
    await flow.reset();
    await flow.pass();
    await expectLetGo(flow, [HELD, REFUSED, LET_GO]);
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
  await expectLetGo(flow, [HELD, REFUSED, LET_GO]);
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
    await expectLetGo(flow);
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
  await expectLetGo(flow);
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
    await expectLetGo(flow, [HELD, LET_GO, HELD, LET_GO]);
  },
);

test.each(EACH_TASK.flatMap((task) => [6.5, 7.5].map((day) => [task, day] as const)))(
  'a capture of the second hold is told as it was (to the task %s, on day %s)',
  async (task, day) => {
    const flow = await held(task);
    await flow.until(6.1);
    const said = await flow.hold.ask('capture', { commandId: 'ship' });
    expect(said).toMatchObject({ status: 'succeeded' });
    await flow.until(day);
    await flow.reset();
    await flow.pass(30 * HOUR);
    expect(await movements(time, flow.hold.reference)).toEqual([HELD, LET_GO, HELD, TAKEN]);
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
    expect(await movements(time, hold.reference)).toEqual([HELD, LET_GO, HELD, LET_GO, HELD, TAKEN]);
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
  expect(await movements(time, hold.reference)).toEqual([HELD, LET_GO, HELD]);
});

test('a cancel after the reset voids the second hold', async () => {
  const flow = await held('ofTheRead');
  await flow.until(6.5);
  expect(await movements(time, flow.hold.reference)).toEqual([HELD, LET_GO, HELD]);
  await flow.reset();
  await flow.hold.cancel();
  await flow.pass();
  await expectLetGo(flow, [HELD, LET_GO, HELD, LET_GO]);
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
