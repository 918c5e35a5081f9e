import { afterEach, describe, expect, test } from 'vitest';
import type { FaultInput } from '../../../sandbox/control.js';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import {
  answers,
  beginFlow,
  DAY,
  declined,
  HOUR,
  inputOf,
  keysOf,
  lostReply,
  MINUTE,
  provideVoidsOfPending,
  sharedTime,
} from './context.js';

const time = sharedTime();

const BUYER = {
  merchantSiteUrl: 'https://shop.example/back',
  redirectTimeLimit: '20 minutes',
  pendingDeadline: '1 hour',
};
const VOIDED = 'void Succeed 6000 USD';

afterEach(async () => {
  await provideVoidsOfPending(time, 'refused');
  await time.sandbox.settings({ pendingMs: 10_000 });
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

/** A buyer who was sent to their bank, and whose payment ends by itself after `pendingMs`. */
async function sentAway(
  type: 'charge' | 'authorizeAndCapture',
  pends: 'allowed' | 'refused' | 'too_late',
  { pendingMs = 3 * DAY, card = CARDS.pendsThenSucceeds as string, faults = [] as FaultInput[], ...more } = {},
) {
  await provideVoidsOfPending(time, pends);
  await time.sandbox.settings({ pendingMs });
  const flow = await beginFlow(time, type, await inputOf(time, type, { card, ...BUYER, ...more }), faults);
  await time.passUntil(flow.startedAt + MINUTE);
  expect(await flow.status()).toMatchObject({ status: 'pending', waitingFor: 'redirect' });
  return flow;
}

const voidsOf = (reference: string) => keysOf(time, reference).filter((key) => key.startsWith('void'));

describe('a charge whose buyer does not come back', () => {
  test('is voided at its deadline where the service offers that, and not before', async () => {
    const flow = await sentAway('charge', 'allowed');
    await time.passUntil(flow.startedAt + 59 * MINUTE);
    expect(await movements(time, flow.reference)).toEqual(['charge Pending 6000 USD']);
    await time.passUntil(flow.startedAt + 65 * MINUTE);
    expect(await flow.outcome()).toMatchObject({
      status: 'voided',
      reason: 'pendingDeadline',
      voided: { status: 'declined' },
      actions: [{ action: 'void', commandId: 'pendingDeadline-1' }],
    });
    expect(await movements(time, flow.reference)).toEqual(['charge Failed 6000 USD', VOIDED]);
  });

  test('calls a person where no void is offered, and what the service says in the end counts', async () => {
    const flow = await sentAway('charge', 'refused', { pendingMs: DAY });
    await time.passUntil(flow.startedAt + 2 * HOUR);
    expect(await flow.status()).toMatchObject({
      status: 'pending',
      needsOperator: true,
      operatorReason: expect.stringContaining(
        'by the pendingDeadline: nothing is sent now: the service offers no void',
      ),
    });
    expect(voidsOf(flow.reference)).toEqual([]);
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await flow.status()).toMatchObject({ needsOperator: false });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('is voided once the service offers it, however late', async () => {
    const flow = await sentAway('charge', 'refused');
    await time.passUntil(flow.startedAt + 5 * HOUR);
    await provideVoidsOfPending(time, 'allowed');
    await time.passUntil(flow.startedAt + 8 * HOUR);
    expect(await flow.outcome()).toMatchObject({ status: 'voided', reason: 'pendingDeadline' });
    expect(await movements(time, flow.reference)).toEqual(['charge Failed 6000 USD', VOIDED]);
  });

  test.each([
    ['whose void comes too late', []],
    ['whose void comes too late and loses its reply', [lostReply('*/voids')]],
  ])('%s has succeeded, and a person is told', async (_what, faults) => {
    const flow = await sentAway('charge', 'too_late', { pendingMs: HOUR + 5 * MINUTE });
    const { paymentId } = await flow.status();
    for (const fault of faults) await time.sandbox.addFault({ ...fault, path: `/payments/${paymentId}/voids` });
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded', despiteVoid: { status: 'succeeded' } });
    expect(await flow.status()).toMatchObject({
      needsOperator: true,
      operatorReason: expect.stringContaining('has succeeded although it was voided'),
    });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD', VOIDED]);
    expect(voidsOf(flow.reference)).toEqual(['void:1']);
  });

  test('is asked to be voided three times where the provider declines that, and no more', async () => {
    const flow = await sentAway('charge', 'allowed');
    const { paymentId } = await flow.status();
    await time.sandbox.addFault(declined(`/payments/${paymentId}/voids`));
    await time.passUntil(flow.startedAt + 2 * DAY);
    expect(await flow.status()).toMatchObject({
      status: 'pending',
      operatorReason: expect.stringContaining('its void was declined'),
    });
    expect(voidsOf(flow.reference)).toEqual(['void:1', 'void:2', 'void:3']);
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
  });

  test('that was voided before a reset is not voided again', async () => {
    const flow = await sentAway('charge', 'allowed');
    await flow.outcome();
    await resetToFirstTask(time.client, flow.workflowId);
    await time.passUntil((await time.now()) + 3 * HOUR);
    const outcome = (await time.client.workflow.getHandle(flow.workflowId).result()) as { status: string };
    expect(['voided', 'declined']).toContain(outcome.status);
    expect(await movements(time, flow.reference)).toEqual(['charge Failed 6000 USD', VOIDED]);
  });

  test('is read at the usual pace while its void is pending', async () => {
    const flow = await sentAway('charge', 'allowed');
    const { paymentId } = await flow.status();
    await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `/payments/${paymentId}/voids` });
    await time.passUntil(flow.startedAt + 3 * HOUR);
    expect(voidsOf(flow.reference)).toEqual(['void:1']);
    expect(time.requests.reads(paymentId).length).toBeLessThan(150);
    const voided = (await time.sandbox.ledger(flow.reference)).find(({ kind }) => kind === 'void');
    await time.sandbox.complete(voided?.transaction_id ?? '', { status: 'Succeed' });
    expect(await flow.outcome()).toMatchObject({ status: 'voided', reason: 'pendingDeadline' });
  });

  test('is not asked for a void again while the payment can not be read', async () => {
    const flow = await sentAway('charge', 'allowed');
    const { paymentId } = await flow.status();
    const fault = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    await time.passUntil(flow.startedAt + 2 * HOUR);
    expect(voidsOf(flow.reference)).toEqual([]);
    expect(await flow.status()).toMatchObject({ status: 'pending', needsOperator: true });
    await time.sandbox.removeFault(fault.id);
    expect(await flow.outcome()).toMatchObject({ status: 'voided' });
  });
});

describe('an authorization whose buyer does not come back', () => {
  test('holds nothing when they come at last: what it holds is voided, and not captured', async () => {
    const flow = await sentAway('authorizeAndCapture', 'allowed', { pendingMs: 2 * HOUR });
    await time.passUntil(flow.startedAt + 65 * MINUTE);
    expect(await flow.status()).toMatchObject({
      status: 'pending',
      needsOperator: true,
      operatorReason: expect.stringContaining('what it holds is voided as soon as that is known'),
    });
    expect(await flow.outcome()).toMatchObject({ status: 'voided', reason: 'pendingDeadline' });
    expect(await movements(time, flow.reference)).toEqual(['authorization Succeed 6000 USD', VOIDED]);
  });

  test('is read at the usual pace after its deadline, where a merchant has asked for a void before', async () => {
    const flow = await sentAway('authorizeAndCapture', 'allowed', { pendingMs: 5 * HOUR });
    const { paymentId } = await flow.status();
    const asked = flow.ask('void', { commandId: 'no-longer-wanted' });
    await time.passUntil(flow.startedAt + 4 * HOUR);
    expect(time.requests.reads(paymentId).length).toBeLessThan(150);
    expect(await asked).toMatchObject({ status: 'succeeded' });
    expect(await flow.outcome()).toMatchObject({ status: 'voided', reason: 'command' });
  });

  test('is never captured, however often its void fails', async () => {
    const flow = await sentAway('authorizeAndCapture', 'allowed', {
      ...{ pendingMs: 2 * HOUR, onDeadline: 'capture', captureMode: 'manual', captureDeadline: '2 days' },
    });
    const { paymentId } = await flow.status();
    await time.sandbox.addFault({ ...declined(`/payments/${paymentId}/voids`), times: 3 });
    await time.passUntil(flow.startedAt + 2.1 * HOUR);
    await expect(flow.ask('capture', { commandId: 'late' })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('the hold is being released (pendingDeadline)') as string },
    });
    await time.passUntil(flow.startedAt + 3 * HOUR);
    expect(await flow.outcome()).toMatchObject({ status: 'voided', reason: 'pendingDeadline' });
    const failed = 'void Failed 6000 USD';
    const moved = ['authorization Succeed 6000 USD', failed, failed, failed, VOIDED];
    expect(await movements(time, flow.reference)).toEqual(moved);
  });

  test('ends declined when it fails, and nothing is voided', async () => {
    const flow = await sentAway('authorizeAndCapture', 'allowed', { pendingMs: 2 * HOUR, card: CARDS.pendsThenFails });
    expect(await flow.outcome()).toMatchObject({ status: 'declined' });
    expect(await movements(time, flow.reference)).toEqual(['authorization Failed 6000 USD']);
  });
});

test('a payment that pends for another reason has no such deadline, and one that is too short is refused', async () => {
  await provideVoidsOfPending(time, 'allowed');
  await time.sandbox.settings({ pendingMs: 4 * HOUR });
  const input = await inputOf(time, 'charge', { card: CARDS.pendsThenSucceeds, pendingDeadline: '1 hour' });
  const flow = await beginFlow(time, 'charge', input);
  expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
  const short = await inputOf(time, 'charge', { pendingDeadline: '10 minutes' });
  await expect(time.holdfast.charge(short as never)).rejects.toMatchObject({
    type: 'InvalidInput',
    message: expect.stringContaining('pendingDeadline: 600000 ms is shorter than the redirectTimeLimit of 1800000 ms'),
  });
});
