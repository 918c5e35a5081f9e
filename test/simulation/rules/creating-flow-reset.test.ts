import { expect, test } from 'vitest';
import { resetTo, resetToFirstTask } from '../../support/resets.js';
import { beginActions, beginHeld, ledgerRows } from '../../support/virtual-flows.js';
import { answers, failsWith, HOUR, MINUTE, scheduledOf, SECOND, sharedTime } from './context.js';

const time = sharedTime();

/** RESET_REAPPLY_EXCLUDE_TYPE_UPDATE. */
const UPDATES = 2;
const HELD = ['authorization Succeed 20000 USD', 'capture Succeed 7000 USD'];
const BACK = 'refund Succeed 6000 USD';
const STILL_OPEN = failsWith('StateConflict', 'still open');

/** A hold of which a part was captured, and the flow of its commands, opened with this input. */
async function captured() {
  const hold = await beginHeld(time, { amount: 20_000 });
  await hold.ask('capture', { commandId: 'one', amount: 7_000 });
  const { paymentId = '' } = await hold.outcome();
  const rows = () => ledgerRows(time, paymentId);
  return { hold, paymentId, rows, input: { paymentId, currency: 'USD', paymentReference: hold.reference } };
}

/** The creating flow runs again, and is held at its first read. */
async function reopened({ workflowId }: { workflowId: string }): Promise<{ release(): void }> {
  const slow = time.hold('getPayment');
  await resetToFirstTask(time.client, workflowId, [UPDATES]);
  await slow.reached;
  return slow;
}

test('what was found as a run was opened is not believed later', async () => {
  const { hold, input, rows } = await captured();
  const actions = await beginActions(time, input);
  await actions.ask('refund', { commandId: 'back', amount: 6_000 });
  await time.stopWorker();
  await resetToFirstTask(time.client, actions.workflowId, [UPDATES]);
  const handle = time.client.workflow.getHandle(actions.workflowId);
  const decision = { decision: 'approve', who: 'ann', why: 'looks good' };
  // A run that a reset has made accepts this, and the creating flow is looked up for it.
  const decided = handle.executeUpdate('decideReview', { args: [decision], updateId: 'decided' });
  const refused = expect(decided).rejects.toMatchObject(failsWith('StateConflict', 'no review is open'));
  await time.passUnserved((await time.now()) + SECOND);
  await time.startWorker();
  await refused;
  await time.passUntil((await time.now()) + MINUTE);
  const slow = await reopened(hold);
  const refund = { commandId: 'again', amount: 6_000 };
  const again = handle.executeUpdate('refund', { args: [refund], updateId: 'again' });
  await expect(again).rejects.toMatchObject(STILL_OPEN);
  slow.release();
  expect(await rows()).toEqual([...HELD, BACK]);
});

test.each([
  ['findActionsBefore', []],
  ['findCreator', ['findActionsBefore']],
] as const)('nor by a run that is reset to just after %s, where another look is made', async (look, before) => {
  const { hold, paymentId, rows, input } = await captured();
  const begun = look === 'findCreator' ? await beginActions(time, input) : undefined;
  if (begun !== undefined) await time.passUntil((await time.now()) + MINUTE);
  await time.holdfast.refund({ payment: hold.reference, commandId: 'back', amount: 6_000 });
  const workflowId = `payment-actions-${paymentId}`;
  const { events } = await time.client.workflow.getHandle(workflowId).fetchHistory();
  const asked = events?.find((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === look);
  const answered = events?.find(
    (event) => String(event.activityTaskCompletedEventAttributes?.scheduledEventId) === String(asked?.eventId),
  );
  const task = events?.find(
    (event) => event.workflowTaskCompletedEventAttributes && Number(event.eventId) > Number(answered?.eventId),
  );
  await time.passUntil((await time.now()) + HOUR);
  const slow = await reopened(hold);
  await resetTo(time.client, { workflowId }, task?.eventId, [UPDATES]);
  const handle = time.client.workflow.getHandle(workflowId);
  await time.passUntil((await time.now()) + MINUTE);
  const looks = (await scheduledOf(time, workflowId)).filter((name) => name.startsWith('find'));
  expect(looks).toEqual([...before, look, 'findCreator']);
  // It has refused what it was given before, and makes room for a run that looks again.
  expect((await handle.describe()).status.name).toBe('COMPLETED');
  const next = await beginActions(time, input);
  await expect(next.ask('refund', { commandId: 'again', amount: 6_000 })).rejects.toMatchObject(STILL_OPEN);
  slow.release();
  expect(await rows()).toEqual([...HELD, BACK]);
});

test('a command whose payment could not be read for hours looks again before it is sent', async () => {
  const { hold, paymentId, rows, input } = await captured();
  const actions = await beginActions(time, input);
  const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
  const { answer } = await actions.command('refund', { commandId: 'back', amount: 6_000 });
  const refused = expect(answer).rejects.toMatchObject(STILL_OPEN);
  await time.passUntil((await time.now()) + 2 * HOUR);
  const slow = await reopened(hold);
  await time.sandbox.removeFault(away.id);
  await time.passUntil((await time.now()) + HOUR);
  await refused;
  slow.release();
  expect(await rows()).toEqual(HELD);
});

test('a list that is to be asked for later is, and the command is sent after that', async () => {
  const { paymentId, input, rows } = await captured();
  const actions = await beginActions(time, input);
  const path = `/payments/${paymentId}/refunds`;
  await time.sandbox.addFault({ ...answers(429, 'GET', path), retry_after_s: 9, times: 1 });
  expect(await actions.ask('refund', { commandId: 'back', amount: 6_000 })).toMatchObject({ status: 'succeeded' });
  const [first, second] = time.requests.reads(paymentId).filter((read) => read.path.endsWith('/refunds'));
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(9 * SECOND);
  expect(await rows()).toEqual([...HELD, BACK]);
});
