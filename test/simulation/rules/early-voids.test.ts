import { WorkflowUpdateStage } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { idempotencyKey, type KeyedOperation } from '../../../src/contract/idempotency.js';
import { storedInSkippedTime } from '../../support/cards.js';
import { CARDS } from '../../support/charges.js';
import { loseTask } from '../../support/lost-task.js';
import { authorizeInput, movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { begin, beginHeld, beginHold, reviewedInput, SPECS } from '../../support/virtual-flows.js';
import { DAY, failsWith, HOUR, inputOf, keysOf, MINUTE, SECOND, sharedTime, startRaw } from './context.js';

const time = sharedTime();

const HELD = 'authorization Succeed 6000 USD';
const VOIDED = 'void Succeed 6000 USD';
const RELEASE = { commandId: 'released' };
/** Every reply to the POST of an authorization is lost. */
const LOST = { action: 'drop_reply', method: 'POST', path: '*/authorizations' } as const;
const AWAY = { action: 'status', status: 503, method: 'POST', path: '*/authorizations' } as const;

const sends = (reference: string): number =>
  time.requests.posts(reference).filter(({ path }) => path.endsWith('/authorizations')).length;
describe('a void that comes while the authorization pends', () => {
  test('is kept, and done as soon as the money is held: before the capture that was to follow at once', async () => {
    const hold = await beginHold(time, { captureMode: 'auto' }, { card: CARDS.pendsThenSucceeds });
    await time.passUntil(hold.startedAt + 2_000);
    expect(await hold.status()).toMatchObject({ status: 'pending' });
    const { answer } = await hold.command('void', RELEASE);
    await expect(hold.ask('capture')).rejects.toMatchObject(failsWith('StateConflict', 'a void has been asked for'));
    await expect(hold.ask('void', { commandId: 'other' })).rejects.toMatchObject(failsWith('StateConflict'));
    const again = await hold.command('void', RELEASE);
    expect(await time.holdfast.explain(hold.reference)).toContain('A void was asked for');
    expect(await movements(time, hold.reference)).toEqual(['authorization Pending 6000 USD']);
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'command' });
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(await again.answer).toEqual(await answer);
    expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
  });

  test('is answered "unknown" until then, whatever pends meanwhile', async () => {
    const hold = await beginHold(time, {}, { card: CARDS.pendsThenSucceeds });
    await time.passUntil(hold.startedAt + 1_000);
    const early = await time.holdfast.void(hold.reference, RELEASE, { waitFor: '1 second' });
    expect(early).toMatchObject({ status: 'unknown' });
    expect(await hold.outcome()).toMatchObject({ status: 'voided' });
    expect(await time.holdfast.void(hold.reference, RELEASE)).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
  });

  test('is done before the capture of a deadline that has passed when the money is held at last', async () => {
    await time.sandbox.settings({ pendingMs: 7 * DAY - HOUR });
    const hold = await beginHold(time, { onDeadline: 'capture' }, { card: CARDS.pendsThenSucceeds });
    await time.passUntil(hold.startedAt + DAY);
    const { answer } = await hold.command('void', RELEASE);
    expect(await hold.outcome()).toMatchObject({ status: 'voided' });
    expect(await answer).toMatchObject({ status: 'succeeded' });
    await time.sandbox.settings({ pendingMs: 10_000 });
    expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
  });

  test('finds nothing to void where the card is declined, and says so, also after the end', async () => {
    const hold = await beginHold(time, {}, { card: CARDS.pendsThenFails });
    await time.passUntil(hold.startedAt + 1_000);
    const { answer } = await hold.command('void', RELEASE);
    const outcome = await hold.outcome();
    expect(outcome).toMatchObject({ status: 'declined' });
    const { transactionId } = outcome;
    expect(await answer).toMatchObject({ status: 'declined', transactionId, nothingHeld: true });
    expect(await time.holdfast.void(hold.reference, RELEASE)).toEqual(await answer);
    expect(await movements(time, hold.reference)).toEqual(['authorization Failed 6000 USD']);
  });

  test('does not say that nothing is held where nobody has confirmed that the authorization failed', async () => {
    const hold = await beginHold(time, {}, { card: CARDS.pendsThenSucceeds });
    await time.passUntil(hold.startedAt + 1_000);
    const { transactionId = '' } = await hold.status();
    const { answer } = await hold.command('void', RELEASE);
    const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'nobody has confirmed'));
    await time.sandbox.complete(transactionId, { status: 'Failed', category: 'provider_network_error' });
    expect(await hold.outcome()).toMatchObject({ status: 'declined', confirmed: false });
    await refused;
    expect(await hold.status()).toMatchObject({ needsOperator: true });
  });

  test('and was declined itself leaves the hold to its deadline: nothing is captured at once', async () => {
    const faults = [
      { action: 'result', status: 'Failed', category: 'payment_method_declined', path: '*/voids', times: 1 },
    ] as const;
    const hold = await beginHold(time, { captureMode: 'auto' }, { card: CARDS.pendsThenSucceeds, faults });
    await time.passUntil(hold.startedAt + 1_000);
    const { answer } = await hold.command('void', RELEASE);
    await time.passUntil(hold.startedAt + HOUR);
    expect(await answer).toMatchObject({ status: 'declined' });
    expect(await hold.status()).toMatchObject({ status: 'authorized' });
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'deadline' });
    expect(await movements(time, hold.reference)).toEqual([HELD, 'void Failed 6000 USD', VOIDED]);
  });

  test('is done by the run that a reset makes as well, and once', async () => {
    const hold = await beginHold(time, { captureMode: 'auto' }, { card: CARDS.pendsThenSucceeds });
    await time.passUntil(hold.startedAt + 1_000);
    const { answer } = await hold.command('void', RELEASE);
    answer.catch(() => undefined);
    await resetToFirstTask(time.client, hold.workflowId);
    await time.passUntil(hold.startedAt + HOUR);
    const handle = time.client.workflow.getHandle(hold.workflowId);
    expect(await handle.result()).toMatchObject({ status: 'voided', reason: 'command' });
    await resetToFirstTask(time.client, hold.workflowId);
    expect(await handle.result()).toMatchObject({ status: 'voided' });
    expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
  });
});

describe('a cancel that comes while the authorization pends', () => {
  test('is kept, and the money is released as soon as it is held: nothing is captured', async () => {
    const hold = await beginHold(time, { captureMode: 'auto' }, { card: CARDS.pendsThenSucceeds });
    await time.passUntil(hold.startedAt + 2_000);
    expect(await hold.status()).toMatchObject({ status: 'pending' });
    await hold.cancel();
    await time.passUntil(hold.startedAt + 4_000);
    expect(await hold.status()).toMatchObject({ status: 'pending', cancelRequested: true });
    expect(await movements(time, hold.reference)).toEqual(['authorization Pending 6000 USD']);
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'cancel' });
    expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
  });

  test('and whose voids are declined sends the next ones after 1, 5 and 15 minutes, and calls a person', async () => {
    const faults = [
      { action: 'result', status: 'Failed', category: 'payment_method_declined', path: '*/voids', times: 3 },
    ] as const;
    const hold = await beginHold(time, { captureMode: 'auto' }, { card: CARDS.pendsThenSucceeds, faults });
    await time.passUntil(hold.startedAt + 2_000);
    const { paymentId } = await hold.status();
    await hold.cancel();
    const voids = async () =>
      (await time.sandbox.ledger()).filter((entry) => entry.payment_id === paymentId && entry.kind === 'void');
    while ((await voids()).length < 3) await time.passUntil((await time.now()) + 30_000);
    await time.passUntil((await time.now()) + 30_000);
    expect(await hold.status()).toMatchObject({ needsOperator: true });
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'cancel' });
    const sentAt = (await voids()).map(({ created }) => Number(created));
    expect(sentAt.slice(1).map((at, index) => Math.round((at - (sentAt[index] ?? 0)) / MINUTE))).toEqual([1, 5, 15]);
    expect((await movements(time, hold.reference)).at(-1)).toBe(VOIDED);
  });

  test('finds nothing to release where the card is declined', async () => {
    const hold = await beginHold(time, {}, { card: CARDS.pendsThenFails });
    await time.passUntil(hold.startedAt + 2_000);
    await hold.cancel();
    expect(await hold.outcome()).toMatchObject({ status: 'declined' });
    expect(await movements(time, hold.reference)).toEqual(['authorization Failed 6000 USD']);
  });
});

describe('a void that comes while the answer to the authorization is lost', () => {
  test('has nothing more sent: the hold is read, and then voided', async () => {
    const hold = await beginHold(time, {}, { faults: [LOST] });
    await time.passUntil(hold.startedAt + 2_000);
    const { answer } = await hold.command('void', RELEASE);
    const before = sends(hold.reference);
    expect(await hold.outcome()).toMatchObject({ status: 'voided' });
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(sends(hold.reference)).toBe(before);
    expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
  });

  test('finds nothing to void once it is proven that nothing was authorized', async () => {
    const hold = await beginHold(time, {}, { faults: [AWAY] });
    await time.passUntil(hold.startedAt + 30_000);
    const { answer } = await hold.command('void', RELEASE);
    const before = sends(hold.reference);
    for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
    await time.passUntil(hold.startedAt + 30 * MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'unknown' });
    expect(await hold.outcome()).toMatchObject({ status: 'notExecuted' });
    expect(await answer).toMatchObject({ status: 'notExecuted', nothingHeld: true });
    expect(sends(hold.reference)).toBe(before);
    expect(await movements(time, hold.reference)).toEqual([]);
  });
});

describe('a void that comes before anything was authorized', () => {
  test('leaves the authorization unsent', async () => {
    const input = await inputOf(time, 'authorizeAndCapture');
    const creating = time.hold('createPayment');
    const handle = await startRaw(time, 'authorizeAndCapture', input);
    await creating.reached;
    const voiding = await handle.startUpdate<object, [object]>('void', {
      args: [RELEASE],
      waitForStage: WorkflowUpdateStage.ACCEPTED,
    });
    creating.release();
    expect(await handle.result()).toMatchObject({ status: 'notExecuted', reason: expect.stringContaining('void') });
    expect(await voiding.result()).toMatchObject({ status: 'notExecuted', nothingHeld: true });
    expect(keysOf(time, input.reference).filter((key) => key.startsWith('authorize'))).toEqual([]);
    expect(await movements(time, input.reference)).toEqual([]);
  });

  test('ends a review of its risk, and nothing is authorized', async () => {
    const input = await reviewedInput(time, { risk: { when: 'before' } });
    const hold = await begin(time, SPECS.authorize(input));
    await time.passUntil(hold.startedAt + MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'underReview' });
    expect(await hold.ask('void', RELEASE)).toMatchObject({ status: 'notExecuted', nothingHeld: true });
    expect(await hold.outcome()).toMatchObject({ status: 'notExecuted' });
    expect(keysOf(time, hold.reference).filter((key) => key.startsWith('authorize'))).toEqual([]);
    expect(await movements(time, hold.reference)).toEqual([]);
  });
});

test('a void that comes before the task that is done anew for a lost one finds what that has held, and voids it', async () => {
  const { paymentMethod, ...input } = await authorizeInput(time);
  const { reference: reconciliationId, amount, currency } = input;
  await time.stopWorker();
  const hold = await begin(time, SPECS.authorize({ ...input, paymentMethod }));
  await loseTask(time.client);
  // What the lost task did.
  const keyed = (operation: KeyedOperation) => ({ idempotencyKey: idempotencyKey(hold.workflowId, operation, 1) });
  const made = { amount, currency, additionalDetails: { holdfast_workflow_id: hold.workflowId } };
  const payment = await time.provider.createPayment(made, keyed('createPayment'));
  const { idempotencyKey: holdfast_key } = keyed('authorize');
  const request = { paymentMethod, reconciliationId, additionalDetails: { holdfast_key } };
  await time.provider.createAuthorization(payment.data.id, request, keyed('authorize'));
  const asked = hold.ask('void', RELEASE);
  await time.passUnserved((await time.now()) + SECOND);
  await time.startWorker();
  expect(await hold.outcome()).toMatchObject({ status: 'voided' });
  expect(await asked).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
});

test('a void that comes while a hold is reauthorized is kept as well', async () => {
  const card = await storedInSkippedTime(time);
  const hold = await beginHeld(time, { ...card, cardOnFile: { entryMode: 'cof_cardholder_initiated_transaction' } });
  const creating = time.hold('createPayment');
  const { answer: reauthorized } = await hold.command('reauthorize', { commandId: 'longer' });
  await creating.reached;
  const { answer } = await hold.command('void', RELEASE);
  creating.release();
  expect(await answer).toMatchObject({ status: 'notExecuted', nothingHeld: true });
  await expect(reauthorized).rejects.toMatchObject(failsWith('StateConflict', 'a void came before it was authorized'));
  expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: expect.stringContaining('reauthorize') });
  expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
});
