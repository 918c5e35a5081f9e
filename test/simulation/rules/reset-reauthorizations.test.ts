import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { storedInSkippedTime } from '../../support/cards.js';
import { movements } from '../../support/payments.js';
import { resetTo, resetToFirstTask } from '../../support/resets.js';
import { beginHeld, beginHold } from '../../support/virtual-flows.js';
import { answers, DAY, declined, failsWith, HOUR, keysOf, MINUTE, SECOND, sharedTime } from './context.js';

const time = sharedTime();

const HELD = 'authorization Succeed 6000 USD';
const RELEASED = 'void Succeed 6000 USD';
const TAKEN = 'capture Succeed 6000 USD';
const CARD_ON_FILE = { cardOnFile: { entryMode: 'cof_cardholder_initiated_transaction' } } as const;

/** A hold that is being read, since an operator asked, while its flow takes a task for a second such message. */
async function readWithSecondMessage(input: object = {}, { passMs = MINUTE } = {}) {
  const card = await storedInSkippedTime(time);
  const hold = await beginHeld(time, { ...card, ...CARD_ON_FILE, ...input });
  const { workflowId } = hold;
  const slow = time.hold('getPayment');
  await time.holdfast.retryNow({ workflowId });
  await slow.reached;
  await time.holdfast.retryNow({ workflowId });
  await hold.status();
  const { events } = await time.client.workflow.getHandle(workflowId).fetchHistory();
  const task = events?.filter((event) => event.workflowTaskCompletedEventAttributes).at(-1)?.eventId;
  slow.release();
  await time.passUntil((await time.now()) + passMs);
  return { hold, resetToRead: () => resetTo(time.client, { workflowId }, task) };
}

/** The flow follows the second hold: it is captured, and nothing else has moved. */
async function expectSecondHold(hold: Awaited<ReturnType<typeof beginHeld>>): Promise<void> {
  expect(await hold.status()).toMatchObject({ status: 'authorized' });
  expect(await hold.ask('capture', { commandId: 'ship' })).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, TAKEN]);
}

test('a reset to a read of a hold that was reauthorized since follows the second hold', async () => {
  const { hold, resetToRead } = await readWithSecondMessage();
  expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD]);
  await resetToRead();
  await time.passUntil((await time.now()) + MINUTE);
  await expectSecondHold(hold);
});

test('a void that the service refused before it keeps its key for itself, and then voids the second hold', async () => {
  const { hold, resetToRead } = await readWithSecondMessage();
  const { paymentId = '' } = await hold.status();
  await time.sandbox.addFault({ ...answers(409, 'POST', `/payments/${paymentId}/voids`), times: 1 });
  await expect(hold.ask('void', { commandId: 'too early' })).rejects.toMatchObject(failsWith('StateConflict'));
  expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
  await resetToRead();
  // The engine gives the refused void again as well.
  expect(await time.client.workflow.getHandle(hold.workflowId).result()).toMatchObject({ status: 'voided' });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, RELEASED]);
  const sent = keysOf(time, hold.reference).filter((key) => key.startsWith('void'));
  expect(sent).toEqual(['void:1', 'void:2', 'void:3']);
});

test('a void of somebody else ends a hold that is reset although a command waits that was refused', async () => {
  const { hold, resetToRead } = await readWithSecondMessage();
  const { paymentId = '' } = await hold.status();
  const another = { additionalDetails: { holdfast_key: 'payment-another:void:1' } };
  await time.provider.createVoid(paymentId, another, { idempotencyKey: 'of-a-person' });
  await time.passUntil((await time.now()) + MINUTE);
  await expect(hold.ask('reauthorize', { commandId: 'longer' })).rejects.toMatchObject(
    failsWith('StateConflict', 'not reauthorized'),
  );
  await resetToRead();
  const outcome = await time.client.workflow.getHandle(hold.workflowId).result();
  expect(outcome).toMatchObject({ status: 'voided', reason: expect.stringContaining('elsewhere') });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED]);
});

test('a reset right after that follows the second hold, too', async () => {
  const { hold, resetToRead } = await readWithSecondMessage({}, { passMs: SECOND });
  const { paymentId = '' } = await hold.status();
  await time.sandbox.addFault({ ...answers(409, 'POST', `/payments/${paymentId}/voids`), times: 1 });
  await expect(hold.ask('void', { commandId: 'too early' })).rejects.toMatchObject(failsWith('StateConflict'));
  expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
  await resetToRead();
  await hold.outcome();
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, RELEASED]);
  expect(await hold.status()).toMatchObject({ status: 'voided', needsOperator: false });
});

test('a capture that the service refused before it is not told as the end of what the run before voided', async () => {
  const { hold, resetToRead } = await readWithSecondMessage();
  const { paymentId = '' } = await hold.status();
  await time.sandbox.addFault({ ...answers(409, 'POST', `/payments/${paymentId}/captures`), times: 1 });
  await expect(hold.ask('capture', { commandId: 'ship' })).rejects.toMatchObject(failsWith('StateConflict'));
  expect(await hold.ask('void', { commandId: 'keep' })).toMatchObject({ status: 'succeeded' });
  await resetToRead();
  expect(await time.client.workflow.getHandle(hold.workflowId).result()).toMatchObject({
    status: 'voided',
    reason: 'command',
  });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED]);
});

test.each(['void', 'capture'])(
  'a reset after the deadline of the first hold, which was to %s, follows the second one',
  async (onDeadline) => {
    const { hold, resetToRead } = await readWithSecondMessage({ onDeadline });
    await time.passUntil(hold.startedAt + 5 * DAY);
    expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
    await time.passUntil(hold.startedAt + 6.5 * DAY);
    await resetToRead();
    await time.passUntil((await time.now()) + MINUTE);
    await expectSecondHold(hold);
  },
);

test('a hold that was reauthorized at its deadline is followed after a reset to before it', async () => {
  const { hold, resetToRead } = await readWithSecondMessage({ onDeadline: 'reauthorize' });
  await time.passUntil(hold.startedAt + 6.5 * DAY);
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD]);
  await resetToRead();
  await time.passUntil((await time.now()) + MINUTE);
  await expectSecondHold(hold);
});

test.each([
  ['once it is asked again by itself', 7 * HOUR, async () => undefined],
  ['when an operator asks', MINUTE, async (workflowId: string) => await time.holdfast.retryNow({ workflowId })],
])('a hold that could not be read after that reset is followed %s', async (_when, passMs, wake) => {
  const { hold, resetToRead } = await readWithSecondMessage({ onDeadline: 'reauthorize' });
  const { paymentId = '' } = await hold.status();
  await time.passUntil(hold.startedAt + 6.5 * DAY);
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD]);
  const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
  await resetToRead();
  await time.passUntil((await time.now()) + 4 * HOUR);
  await time.sandbox.removeFault(away.id);
  await wake(hold.workflowId);
  await time.passUntil((await time.now()) + passMs);
  await expectSecondHold(hold);
});

test('a capture that followed a refused one at once is found by the run after the reset, which ends', async () => {
  const faults = [{ ...answers(409, 'POST', '*/captures'), times: 1 }];
  const hold = await beginHold(time, { captureMode: 'auto' }, { faults });
  await time.passUntil(hold.startedAt + MINUTE);
  expect(await hold.ask('capture', { commandId: 'ship' })).toMatchObject({ status: 'succeeded' });
  await hold.outcome();
  await resetToFirstTask(time.client, hold.workflowId);
  const handle = time.client.workflow.getHandle(hold.workflowId);
  expect(await handle.result()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
  expect(await movements(time, hold.reference)).toEqual([HELD, TAKEN]);
  const { events } = await handle.fetchHistory();
  expect(events?.length).toBeLessThan(300);
});

test('a void that failed before it is not taken for the one that released the hold', async () => {
  const { hold, resetToRead } = await readWithSecondMessage();
  const { paymentId = '' } = await hold.status();
  const voids = `/payments/${paymentId}/voids`;
  await time.sandbox.addFault({ ...answers(409, 'POST', voids), times: 1 });
  await expect(hold.ask('void', { commandId: 'too early' })).rejects.toMatchObject(failsWith('StateConflict'));
  // Of the cancel, which the engine does not give again, the first try fails.
  await time.sandbox.addFault({ ...declined(voids), times: 1 });
  await hold.cancel();
  expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'cancel' });
  await resetToRead();
  await time.passUntil((await time.now()) + HOUR);
  expect(await hold.status()).toMatchObject({ status: 'voided', outcome: { reason: 'command' } });
  expect(await movements(time, hold.reference)).toEqual([HELD, 'void Failed 6000 USD', RELEASED]);
});

test('a hold that somebody captures while its void fails ends as captured at the next look, and is not reauthorized', async () => {
  const card = await storedInSkippedTime(time);
  const hold = await beginHeld(time, { ...card, ...CARD_ON_FILE });
  const { paymentId = '', currency } = await hold.status();
  const fails = await time.sandbox.addFault(declined(`/payments/${paymentId}/voids`));
  const { answer } = await hold.command('reauthorize', { commandId: 'longer' });
  const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'not reauthorized'));
  await time.passUntil((await time.now()) + 10 * SECOND);
  const sent = time.requests.operations(paymentId, 'voids').length;
  expect(sent).toBeGreaterThan(0);
  await time.provider.createCapture(paymentId, {}, { idempotencyKey: randomUUID(), currency });
  await time.holdfast.retryNow({ workflowId: hold.workflowId });
  await time.passUntil((await time.now()) + 10 * SECOND);
  await refused;
  expect(await hold.status()).toMatchObject({ status: 'captured' });
  expect(time.requests.operations(paymentId, 'voids')).toHaveLength(sent);
  await time.sandbox.removeFault(fails.id);
});

describe('after a reset to before its deadline, a hold that was reauthorized there', () => {
  test('leaves a void to the next hold, which that void was refused for', async () => {
    const { hold, resetToRead } = await readWithSecondMessage({ onDeadline: 'reauthorize' });
    await time.passUntil(hold.startedAt + 6.1 * DAY);
    const { paymentId = '' } = await hold.status();
    await time.sandbox.addFault({ ...answers(409, 'POST', `/payments/${paymentId}/voids`), times: 1 });
    await expect(hold.ask('void', { commandId: 'keep' })).rejects.toMatchObject(failsWith('StateConflict'));
    await time.passUntil(hold.startedAt + 6.5 * DAY);
    await resetToRead();
    const outcome = await time.client.workflow.getHandle(hold.workflowId).result();
    expect(outcome).toMatchObject({ status: 'voided', reason: 'command' });
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, RELEASED]);
    expect(outcome.actions).toMatchObject([{ commandId: 'keep', outcome: { status: 'succeeded' } }]);
  });

  test.each([
    ['while the first hold would last', 6.5],
    ['once the first hold would have lapsed', 7.5],
  ])('tells a capture of the next hold as succeeded again, %s', async (_when, day) => {
    const { hold, resetToRead } = await readWithSecondMessage({ onDeadline: 'reauthorize' });
    await time.passUntil(hold.startedAt + 6.1 * DAY);
    const said = await hold.ask('capture', { commandId: 'ship' });
    expect(said).toMatchObject({ status: 'succeeded' });
    await time.passUntil(hold.startedAt + day * DAY);
    await resetToRead();
    const outcome = await time.client.workflow.getHandle(hold.workflowId).result();
    expect(outcome).toMatchObject({ status: 'captured', transactionId: said.transactionId });
    expect(outcome.actions).toMatchObject([{ commandId: 'ship', outcome: { transactionId: said.transactionId } }]);
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, TAKEN]);
  });
});

test('a hold that was reauthorized by command, and would have lapsed, is so once after the reset, as the command is answered', async () => {
  const { hold, resetToRead } = await readWithSecondMessage({ onDeadline: 'reauthorize' });
  await time.passUntil(hold.startedAt + 5 * DAY);
  expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
  await time.passUntil(hold.startedAt + 7.5 * DAY);
  await resetToRead();
  await time.passUntil((await time.now()) + HOUR);
  await expectSecondHold(hold);
  const { actions } = await time.client.workflow.getHandle(hold.workflowId).result();
  const succeeded = { outcome: { status: 'succeeded' } };
  expect(actions).toMatchObject([
    { commandId: 'longer', ...succeeded },
    { commandId: 'ship', ...succeeded },
  ]);
});

test('a hold that was voided by command before its deadline is not reauthorized by the run after the reset', async () => {
  const { hold, resetToRead } = await readWithSecondMessage({ onDeadline: 'reauthorize' });
  await time.passUntil(hold.startedAt + DAY);
  expect(await hold.ask('void', { commandId: 'keep' })).toMatchObject({ status: 'succeeded' });
  await time.passUntil(hold.startedAt + 6.5 * DAY);
  await resetToRead();
  const outcome = await time.client.workflow.getHandle(hold.workflowId).result();
  expect(outcome).toMatchObject({ status: 'voided', reason: 'command' });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED]);
});

test('a capture of the next hold waits for it after a reset, also while the first one is released with retries', async () => {
  const { hold, resetToRead } = await readWithSecondMessage({ onDeadline: 'capture' });
  await time.passUntil(hold.startedAt + 5 * DAY);
  expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
  const said = await hold.ask('capture', { commandId: 'ship' });
  expect(said).toMatchObject({ status: 'succeeded' });
  await time.passUntil(hold.startedAt + 6.5 * DAY);
  await resetToRead();
  const outcome = await time.client.workflow.getHandle(hold.workflowId).result();
  expect(outcome).toMatchObject({ status: 'captured', transactionId: said.transactionId });
  expect(outcome.actions).toMatchObject([
    { commandId: 'longer', outcome: { status: 'succeeded' } },
    { commandId: 'ship', outcome: { transactionId: said.transactionId } },
  ]);
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, TAKEN]);
});

test('a hold that is found after a reset lasts since it was authorized, and is captured at its own deadline', async () => {
  const { hold, resetToRead } = await readWithSecondMessage({ onDeadline: 'capture' });
  await time.passUntil(hold.startedAt + 3 * DAY);
  expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
  await time.passUntil(hold.startedAt + 8 * DAY);
  await resetToRead();
  await time.passUntil((await time.now()) + 10 * MINUTE);
  expect(await hold.status()).toMatchObject({ status: 'authorized' });
  await time.passUntil(hold.startedAt + 9.5 * DAY);
  expect(await hold.status()).toMatchObject({ status: 'captured' });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, TAKEN]);
});

test('a hold that is found after a reset, and was captured since by a command that is not given again, says so', async () => {
  const { hold, resetToRead } = await readWithSecondMessage();
  expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
  const { paymentId = '', currency } = await hold.status();
  await time.passUntil((await time.now()) + HOUR);
  await resetToRead();
  // As by the run before, whose command was not given again.
  await time.provider.createCapture(paymentId, {}, { idempotencyKey: randomUUID(), currency });
  await time.passUntil((await time.now()) + 10 * MINUTE);
  expect(await hold.status()).toMatchObject({ status: 'captured' });
  expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, TAKEN]);
});
