import { expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { storedInSkippedTime } from '../../support/cards.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginHeld } from '../../support/virtual-flows.js';
import { answers, DAY, HOUR, MINUTE, OPERATOR, sharedTime } from './context.js';
import { restore, type Taken, taken } from './restored.js';

/** Restores after which the service has forgotten the keys of the lost time: restored-flows has those before. */
const time = sharedTime();

const HELD = 'authorization Succeed 6000 USD';
const RELEASED = 'void Succeed 6000 USD';
const CAPTURED = 'capture Succeed 6000 USD';
const DEADLINE = 6 * DAY;

/** Its deadline replaces it. */
async function beginReplaced() {
  const card = await storedInSkippedTime(time);
  const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' as const };
  return await beginHeld(time, { ...card, cardOnFile, onDeadline: 'reauthorize', captureDeadline: '6 days' });
}

type Hold = Awaited<ReturnType<typeof beginReplaced>>;

/** The lost time ends with the capture of the second hold, and nothing more is sent until a person has looked. */
async function expectCapturedOnce(hold: Hold, state: Taken): Promise<void> {
  await time.passUntil(hold.startedAt + DEADLINE + MINUTE);
  expect(await hold.ask('capture', { commandId: 'shipment' })).toMatchObject({ status: 'succeeded' });
  const moved = [HELD, RELEASED, HELD, CAPTURED];
  expect(await movements(time, hold.reference)).toEqual(moved);
  const sent = time.requests.posts(hold.reference).length;
  await restore(time, state, { downFor: 26 * HOUR });
  const capture = hold.ask('capture', { commandId: 'shipment' });
  await Promise.all([
    expect(capture).rejects.toMatchObject({ cause: { type: 'StateConflict' } }),
    time.passUntil(Date.now() + 3 * HOUR).then(async () => {
      expect(await hold.status()).toMatchObject({ status: 'unknown', waitingFor: 'operator', needsOperator: true });
      expect(await time.holdfast.explain(hold.reference)).toContain('may have authorized it again');
      await time.holdfast.settleManually(hold.reference, { ...OPERATOR, status: 'declined' });
    }),
  ]);
  expect(time.requests.posts(hold.reference)).toHaveLength(sent);
  expect(await movements(time, hold.reference)).toEqual(moved);
}

test('a hold that was replaced and captured is not authorized again once the old one has lapsed', async () => {
  const hold = await beginReplaced();
  await time.passUntil(hold.startedAt + DEADLINE - MINUTE);
  await expectCapturedOnce(hold, taken(time));
});

test('nor is one whose next payment was being made at the moment of the backup, nor is it called not executed', async () => {
  const hold = await beginReplaced();
  const making = time.hold('createPayment');
  await time.passUntil(hold.startedAt + DEADLINE);
  await making.reached;
  const state = taken(time);
  making.release();
  await expectCapturedOnce(hold, state);
});

test('nor is one whose payment shows no status: nothing has shown it as held since the restore', async () => {
  const unit = async (offers: 'all' | 'interface') =>
    await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { offers } });
  const hold = await beginReplaced();
  await time.passUntil(hold.startedAt + DEADLINE - MINUTE);
  const state = taken(time);
  await time.passUntil(hold.startedAt + DEADLINE + MINUTE);
  await unit('interface');
  expect(await hold.ask('capture', { commandId: 'shipment' })).toMatchObject({ status: 'succeeded' });
  const moved = await movements(time, hold.reference);
  await restore(time, state, { downFor: 26 * HOUR });
  for (const [commandId, status] of [
    ['first', 'notExecuted'],
    ['second', 'succeeded'],
  ] as const) {
    await time.passUntil(Date.now() + 2 * DAY);
    expect(await hold.status()).toMatchObject({ status: 'unknown', operation: 'void' });
    await time.holdfast.settleManually(hold.reference, { ...OPERATOR, status, commandId });
  }
  await time.passUntil(Date.now() + DAY);
  await unit('all');
  expect(await movements(time, hold.reference)).toEqual(moved);
  expect(await time.holdfast.explain(hold.reference)).toContain('may have authorized it again');
});

test('a hold that was seen held since the restore is replaced at its deadline', async () => {
  const hold = await beginReplaced();
  const state = taken(time);
  await restore(time, state, { downFor: 26 * HOUR });
  await time.passUntil(hold.startedAt + DEADLINE + MINUTE);
  expect(await hold.ask('capture', { commandId: 'shipment' })).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, CAPTURED]);
});

/** Its next payment can't be made for as long as it may be sent. */
async function withoutNextPayment(hold: Hold): Promise<void> {
  const making = time.hold('createPayment');
  await time.passUntil(hold.startedAt + DEADLINE);
  await making.reached;
  const fault = await time.sandbox.addFault(answers(503, 'POST', '/payments'));
  making.release();
  await time.passUntil(hold.startedAt + DEADLINE + 2 * DAY);
  await time.sandbox.removeFault(fault.id);
}

test('where the next payment can not be made, one that was seen held since is not called authorized again', async () => {
  const hold = await beginReplaced();
  await restore(time, taken(time), { downFor: 26 * HOUR, statement: true });
  await withoutNextPayment(hold);
  expect(await hold.status()).toMatchObject({ status: 'notExecuted', needsOperator: false });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED]);
});

test('nor is one of a run that a reset has made called that of a restore', async () => {
  const hold = await beginReplaced();
  await resetToFirstTask(time.client, hold.workflowId);
  await withoutNextPayment(hold);
  const { needsOperator, operatorReason } = await hold.status();
  expect(needsOperator).toBe(true);
  expect(operatorReason).toContain('the run before the reset may have authorized it again');
});
