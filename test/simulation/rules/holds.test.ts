import { describe, expect, test } from 'vitest';
import { idempotencyKey } from '../../../src/contract/idempotency.js';
import { paymentWorkflowId } from '../../../src/contract/names.js';
import type { FaultInput } from '../../../sandbox/control.js';
import { storedInSkippedTime } from '../../support/cards.js';
import { loseTask } from '../../support/lost-task.js';
import { movements } from '../../support/payments.js';
import { beginHeld, beginHold, ledgerRows, type VirtualFlow } from '../../support/virtual-flows.js';
import {
  answers,
  beginFlow,
  DAY,
  declined,
  failsWith,
  HOUR,
  inputOf,
  MINUTE,
  OPERATOR,
  sharedTime,
  SECOND,
} from './context.js';

const time = sharedTime();

const HELD = 'authorization Succeed 6000 USD';
const VOIDED = 'void Succeed 6000 USD';
const UNREACHABLE: FaultInput = {
  action: 'result',
  status: 'Failed',
  category: 'provider_network_error',
  path: '*/captures',
};

describe('a cancel', () => {
  test('of a flow that holds money releases it', async () => {
    const hold = await beginHeld(time);
    await hold.cancel();
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'cancel', amount: 6_000, currency: 'USD' });
    expect(await time.now()).toBeLessThan(hold.startedAt + HOUR);
    expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
  });

  test('that comes with the start sends nothing', async () => {
    await time.stopWorker();
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
    await flow.cancel();
    await time.startWorker();
    await expect(flow.outcome()).rejects.toThrow(/cancelled/i);
    expect(time.requests.posts(flow.reference)).toEqual([]);
    expect(await movements(time, flow.reference)).toEqual([]);
  });

  test('after a task that was lost does not abandon what that task may have charged', async () => {
    const input = await time.input();
    const workflowId = paymentWorkflowId(input.reference);
    await time.stopWorker();
    const charge = await time.start(input);
    await loseTask(time.client);
    // What the lost task did.
    const { amount, currency, paymentMethod, reference: reconciliationId } = input;
    const additionalDetails = { holdfast_workflow_id: workflowId };
    const payment = await time.provider.createPayment(
      { amount, currency, additionalDetails },
      { idempotencyKey: idempotencyKey(workflowId, 'createPayment', 1) },
    );
    const key = idempotencyKey(workflowId, 'createCharge', 1);
    const request = { paymentMethod, reconciliationId, additionalDetails: { holdfast_key: key } };
    const { data } = await time.provider.createCharge(payment.data.id, request, { idempotencyKey: key });
    await time.client.workflow.getHandle(workflowId).cancel();
    await time.startWorker();
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', transactionId: data.id });
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
  });
});

describe('a capture whose failure nobody has confirmed', () => {
  async function unconfirmed(times?: number) {
    const faults = [{ ...UNREACHABLE, ...(times !== undefined && { times }) }];
    const hold = await beginHeld(time, { onDeadline: 'capture' }, { faults });
    const { answer } = await hold.command('capture');
    await time.passUntil(hold.startedAt + 2 * HOUR);
    const declined = await answer;
    expect(declined).toMatchObject({ status: 'declined', confirmed: false });
    return { hold, declined };
  }

  test('is the last one: commands are refused, and the deadline, which was to capture, releases the money', async () => {
    const { hold } = await unconfirmed();
    await expect(hold.ask('capture')).rejects.toMatchObject(failsWith('StateConflict', 'failed without confirmation'));
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'deadline' });
    expect(await movements(time, hold.reference)).toEqual([HELD, 'capture Failed 6000 USD', VOIDED]);
  });

  /** From now on the list shows that the provider has declined it. */
  function confirms(paymentId: string): void {
    const unreached = '"category":"provider_network_error"';
    time.simulation.world.sandbox.through = async (request, serve) => {
      const reply = await serve(request);
      if (request.method !== 'GET' || !request.path.includes(`/payments/${paymentId}/captures`)) return reply;
      const body = String(reply.body).replace(unreached, '"category":"payment_method_declined"');
      return { ...reply, body: Buffer.from(body) };
    };
  }

  test('is forgotten once the service confirms it: the hold can be captured', async () => {
    const { hold, declined } = await unconfirmed();
    const { paymentId = '' } = await hold.status();
    confirms(paymentId);
    await hold.event({ eventType: 'payment.capture.update', status: 'Failed', transactionId: declined.transactionId });
    await time.passUntil((await time.now()) + SECOND);
    time.simulation.world.sandbox.through = (request, serve) => serve(request);
    await time.sandbox.clearFaults();
    expect(await hold.ask('capture', { commandId: 'again' })).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, hold.reference)).toEqual([
      HELD,
      'capture Failed 6000 USD',
      'capture Succeed 6000 USD',
    ]);
  });

  test('is forgotten by the look of its deadline, which captures then, as was asked for', async () => {
    const { hold } = await unconfirmed(5);
    const { paymentId = '' } = await hold.status();
    confirms(paymentId);
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
    expect(await movements(time, hold.reference)).toEqual([
      HELD,
      'capture Failed 6000 USD',
      'capture Succeed 6000 USD',
    ]);
    time.simulation.world.sandbox.through = (request, serve) => serve(request);
  });

  /** What the provider says at last, to who asks under the same key. */
  async function takeAfterAll(hold: VirtualFlow<unknown>): Promise<string> {
    const { paymentId = '' } = await hold.status();
    const [post] = time.requests.operations(paymentId, 'captures');
    const capture = { amount: 6_000, reconciliationId: hold.reference };
    await time.provider.createCapture(paymentId, capture, { idempotencyKey: post?.key ?? '' });
    return paymentId;
  }

  test('and which has taken the money after all is not voided: the flow looks first, and ends captured', async () => {
    const { hold, declined } = await unconfirmed(5);
    const paymentId = await takeAfterAll(hold);
    const outcome = await hold.outcome();
    expect(outcome).toMatchObject({ status: 'captured', capturedAmount: 6_000, transactionId: declined.transactionId });
    expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
    expect(await movements(time, hold.reference)).toEqual([HELD, 'capture Succeed 6000 USD']);
  });

  test('and which takes the money seconds after a look is not voided by a command either', async () => {
    const { hold } = await unconfirmed(5);
    await time.holdfast.retryNow(hold.reference);
    await time.passUntil((await time.now()) + SECOND);
    const paymentId = await takeAfterAll(hold);
    await expect(hold.ask('void')).rejects.toMatchObject(failsWith('StateConflict', 'the hold is gone: captured'));
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
    expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
    expect(await movements(time, hold.reference)).toEqual([HELD, 'capture Succeed 6000 USD']);
  });
});

test('an authorization whose failure nobody has confirmed calls a person, and is voided on command where it holds money', async () => {
  const input = await inputOf(time, 'authorizeAndCapture');
  const away = { ...UNREACHABLE, path: '*/authorizations' };
  const hold = await beginFlow(time, 'authorizeAndCapture', input, [away]);
  expect(await hold.outcome()).toMatchObject({ status: 'declined', confirmed: false });
  const { needsOperator, operatorReason, paymentId = '', transactionId } = await hold.status();
  expect(needsOperator).toBe(true);
  expect(operatorReason).toContain(`nobody has confirmed that the authorization ${transactionId} has failed`);
  expect(await time.holdfast.explain(hold.reference)).toContain('`void` what is held');
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
  const [post] = time.requests.operations(paymentId, 'authorizations');
  const { paymentMethod } = input as unknown as { paymentMethod: { type: 'tokenized'; token: string } };
  const request = { paymentMethod, reconciliationId: hold.reference };
  await time.provider.createAuthorization(paymentId, request, { idempotencyKey: post?.key ?? '' });
  expect(await movements(time, hold.reference)).toEqual([HELD]);
  expect(await time.holdfast.void(hold.reference, { commandId: 'released' })).toMatchObject({ status: 'succeeded' });
  expect((await ledgerRows(time, paymentId)).at(-1)).toBe(VOIDED);
});

describe('what is left of a hold', () => {
  test('after a capture in part is released, and the outcome says how', async () => {
    const hold = await beginHeld(time);
    expect(await hold.ask('capture', { amount: 5_000 })).toMatchObject({ status: 'succeeded', amount: 5_000 });
    expect(await hold.outcome()).toMatchObject({
      status: 'captured',
      capturedAmount: 5_000,
      released: { amount: 1_000 },
    });
    expect(await movements(time, hold.reference)).toEqual([HELD, 'capture Succeed 5000 USD']);
    // Where the service offers no void any more, one might refund what was captured.
    expect(time.requests.operations((await hold.status()).paymentId, 'voids')).toEqual([]);
  });

  test('and captured on its fifth day: a person is asked when that pends for a day, and not before', async () => {
    const hold = await beginHeld(time, {}, { faults: [{ action: 'result', status: 'Pending', path: '*/captures' }] });
    const from = hold.startedAt + 5 * DAY;
    await time.passUntil(from);
    const { answer } = await hold.command('capture');
    await time.passUntil(from + 20 * HOUR);
    expect(await hold.status()).toMatchObject({ status: 'pending', needsOperator: false });
    await time.passUntil(from + 26 * HOUR);
    const { transactionId = '', ...status } = await hold.status();
    expect(status).toMatchObject({ status: 'pending', needsOperator: true });
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, hold.reference)).toEqual([HELD, 'capture Succeed 6000 USD']);
  });

  test('at its deadline is released although the first tries fail, and a person is asked meanwhile', async () => {
    const faults = [{ ...declined('*/voids'), times: 4 }];
    const hold = await beginHeld(time, { captureDeadline: '2 days' }, { faults });
    await time.passUntil(hold.startedAt + 2 * DAY - MINUTE);
    expect(await movements(time, hold.reference)).toEqual([HELD]);
    await time.passUntil(hold.startedAt + 2 * DAY + 30 * MINUTE);
    expect(await hold.status()).toMatchObject({ needsOperator: true });
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'deadline' });
    expect((await movements(time, hold.reference)).at(-1)).toBe(VOIDED);
  });

  test('is captured at the deadline where that was asked for', async () => {
    const hold = await beginHeld(time, { captureDeadline: '2 days', onDeadline: 'capture' });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
    const [, capture] = await time.sandbox.ledger(hold.reference);
    const after = Number(capture?.created) - hold.startedAt;
    expect(after).toBeGreaterThanOrEqual(2 * DAY);
    expect(after).toBeLessThan(2 * DAY + HOUR);
    expect(await movements(time, hold.reference)).toEqual([HELD, 'capture Succeed 6000 USD']);
  });

  test('can be captured for no more than was authorized', async () => {
    const hold = await beginHeld(time);
    await expect(hold.ask('capture', { amount: 6_001 })).rejects.toMatchObject(failsWith('InvalidInput', '60.01 USD'));
    await expect(hold.ask('refund')).rejects.toMatchObject(failsWith('StateConflict', 'nothing has been captured'));
    await hold.ask('void');
    await hold.outcome();
    expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
  });
});

test('a worker that lacks the key fails its task and ends nothing: one that has it goes on', async () => {
  const faults = [{ ...answers(503, 'POST', '*/charges'), times: 2 }];
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), faults);
  await time.stopWorker();
  const other = `other:${Buffer.alloc(32, 7).toString('base64')}`;
  const stranger = time.simulation.startWorker({ keys: other });
  await time.passUntil(flow.startedAt + HOUR);
  await stranger.stop();
  const { status } = await time.client.workflow.getHandle(flow.workflowId).describe();
  expect(status.name).toBe('RUNNING');
  await time.startWorker();
  expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
});

test('an operator can not end a hold by a word', async () => {
  const hold = await beginHeld(time);
  const word = time.holdfast.settleManually(hold.reference, { ...OPERATOR, status: 'notExecuted' });
  await expect(word).rejects.toMatchObject({ type: 'StateConflict' });
  await hold.ask('void');
  await hold.outcome();
  expect(await movements(time, hold.reference)).toEqual([HELD, VOIDED]);
});

test('a hold that was captured at once in vain, and is reauthorized, is captured by nobody unasked', async () => {
  const card = await storedInSkippedTime(time);
  const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' } as const;
  const faults = [{ ...declined('*/captures'), times: 1 }];
  const hold = await beginHold(time, { ...card, cardOnFile, captureMode: 'auto' }, { faults });
  await time.passUntil(hold.startedAt + MINUTE);
  expect(await hold.ask('reauthorize', { commandId: 'longer' })).toMatchObject({ status: 'succeeded' });
  await time.passUntil((await time.now()) + HOUR);
  expect(await hold.status()).toMatchObject({ status: 'authorized' });
  expect(await movements(time, hold.reference)).toEqual([
    'authorization Succeed 6000 USD',
    'capture Failed 6000 USD',
    'void Succeed 6000 USD',
    'authorization Succeed 6000 USD',
  ]);
  await hold.ask('void');
});
