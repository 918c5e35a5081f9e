import { WorkflowUpdateStage } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { UPDATE_NAMES } from '../../../src/contract/names.js';
import type { FinalStepOutcome } from '../../../src/contract/outcome.js';
import { CARDS } from '../../support/charges.js';
import { authorizeInput, movements } from '../../support/payments.js';
import { until } from '../../support/until.js';
import { begin, beginActions, beginHeld, reviewedInput, SPECS } from '../../support/virtual-flows.js';
import { plant } from '../../time/checks.js';
import { answers, DAY, failsWith, MINUTE, OPERATOR, SECOND, sharedTime } from './context.js';

const time = sharedTime();

/** What the flow leaves of the ten places that the engine has. */
const PLACES = 8;

describe('an operator gets through', () => {
  test('by a flow that a hundred commands have been given to', async () => {
    const input = await time.input();
    await plant(time, input, { action: 'result', status: 'Pending', path: '*/charges' });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 2 * SECOND);
    const decide = (commandId: string, status: 'notExecuted' | 'succeeded') =>
      time.holdfast.settleManually(input.reference, { ...OPERATOR, commandId, status });
    const ids = Array.from({ length: 100 }, (_, n) => `wild-${n}`);
    for (let n = 0; n < 100; n += 5)
      await Promise.allSettled(ids.slice(n, n + 5).map((id) => decide(id, 'notExecuted')));
    await expect(decide('wild-100', 'notExecuted')).rejects.toMatchObject({
      message: expect.stringContaining('the payment service says Pending'),
    });
    expect(await decide('known', 'succeeded')).toMatchObject({
      status: 'succeeded',
      evidence: { knownBy: 'operator' },
    });
  });

  test('by a flow at which commands wait behind one that pends for days', async () => {
    await time.input();
    const made = await begin(time, SPECS.charge(await authorizeInput(time, CARDS.succeeds, { amount: 200_000 })));
    const { paymentId = '' } = await made.outcome();
    await time.sandbox.addFault({
      action: 'result',
      status: 'Pending',
      path: `/payments/${paymentId}/refunds`,
      times: 1,
    });
    await time.sandbox.settings({ pendingMs: 6 * DAY });
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: made.reference });
    const refund = async (n: number) => await actions.command('refund', { commandId: `back-${n}`, amount: 5_000 });
    for (let n = 0; n < PLACES; n += 1) {
      await refund(n);
      if (n === 0) await time.passUntil(actions.startedAt + MINUTE);
    }
    const refused = await refund(PLACES);
    await expect(refused.answer).rejects.toMatchObject(failsWith('RateLimited', 'wait for their answers'));
    const { transactionId = '' } = await actions.status();
    const flow = { workflowId: actions.workflowId };
    await time.holdfast.retryNow(flow);
    const settled = await time.holdfast.settleManually(flow, { ...OPERATOR, status: 'succeeded', transactionId });
    expect(settled).toMatchObject({ status: 'succeeded', transactionId });
    await time.sandbox.settings({ pendingMs: 10_000 });
  });

  test('by a flow whose outcome many callers wait for', async () => {
    const input = await time.input();
    const spec = SPECS.charge(input);
    await plant(time, input, answers(503, 'POST', '*/charges'));
    const charge = await begin(time, spec);
    await time.passUntil(charge.startedAt + MINUTE);
    const handle = time.client.workflow.getHandle(charge.workflowId);
    const { type, fingerprint } = spec;
    const wait = async () =>
      await handle.startUpdate(UPDATE_NAMES.outcome, {
        args: [{ type, fingerprint, waitFor: '10 minutes' }],
        waitForStage: WorkflowUpdateStage.ACCEPTED,
      });
    for (let n = 0; n < PLACES; n += 1) await wait();
    const refused = await wait();
    await expect(refused.result()).rejects.toMatchObject(failsWith('RateLimited', 'wait for their answers'));
    expect(await time.holdfast.retryNow(charge.reference)).toContain('Woken');
    expect(await movements(time, charge.reference)).toEqual([]);
  });
});

describe('a decision that is given again because its answer was lost', () => {
  async function pends() {
    const input = await time.input();
    await plant(time, input, { action: 'result', status: 'Pending', path: '*/charges' });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 2 * SECOND);
    return input.reference;
  }

  test('is answered with what the first one did, also once the flow has ended by it', async () => {
    const reference = await pends();
    const decision = { ...OPERATOR, status: 'succeeded' } as const;
    const settled = await time.holdfast.settleManually(reference, decision);
    expect(await time.holdfast.settleManually(reference, decision)).toEqual(settled);
    const ended = { type: 'StateConflict', message: expect.stringContaining('has already ended') };
    const other = { ...decision, who: 'somebody else' };
    await expect(time.holdfast.settleManually(reference, other)).rejects.toMatchObject(ended);
    const opposite = { ...decision, status: 'declined' } as const;
    await expect(time.holdfast.settleManually(reference, opposite)).rejects.toMatchObject(ended);
  });

  test('is no word about the next operation: that one needs an id', async () => {
    await time.input();
    const made = await begin(time, SPECS.charge(await authorizeInput(time, CARDS.succeeds, { amount: 20_000 })));
    const { paymentId = '' } = await made.outcome();
    const path = `/payments/${paymentId}/refunds`;
    const { id } = await time.sandbox.addFault({ action: 'result', status: 'Pending', path });
    await time.sandbox.settings({ pendingMs: 6 * DAY });
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: made.reference });
    const flow = { workflowId: actions.workflowId };
    const words = { ...OPERATOR, status: 'succeeded' } as const;
    await actions.command('refund', { commandId: 'one', amount: 5_000 });
    await time.passUntil(actions.startedAt + MINUTE);
    const first = (await time.holdfast.settleManually(flow, words)) as FinalStepOutcome;
    await time.sandbox.complete(first.transactionId ?? '', { status: 'Succeed' });
    await actions.command('refund', { commandId: 'two', amount: 6_000 });
    await time.passUntil((await time.now()) + 2 * MINUTE);
    await expect(time.holdfast.settleManually(flow, words)).rejects.toMatchObject({
      type: 'StateConflict',
      message: expect.stringContaining('give a commandId'),
    });
    const second = await time.holdfast.settleManually(flow, { ...words, commandId: 'of two' });
    expect([first, second]).toMatchObject([{ amount: 5_000 }, { amount: 6_000 }]);
    await time.sandbox.removeFault(id);
    await time.sandbox.settings({ pendingMs: 10_000 });
  });

  test('is answered with the decision of the review, while the money is being taken and after', async () => {
    const input = await reviewedInput(time, { risk: { when: 'before' } });
    const pending = { action: 'result', status: 'Pending', path: '*/charges' } as const;
    await time.sandbox.addFault({ ...pending, reconciliation_id: input.reference });
    const charge = await begin(time, SPECS.charge(input));
    await until(
      () => charge.status(),
      ({ status }) => status === 'underReview',
    );
    const decision = { ...OPERATOR, decision: 'approve' } as const;
    const approved = { risk: { decision: 'approve', decidedBy: 'operator' } };
    expect(await time.holdfast.decideReview(charge.reference, decision)).toMatchObject(approved);
    expect(await time.holdfast.decideReview(charge.reference, decision)).toMatchObject(approved);
    const opposite = { ...decision, decision: 'decline' } as const;
    await expect(time.holdfast.decideReview(charge.reference, opposite)).rejects.toMatchObject({
      message: expect.stringContaining('no review is open'),
    });
    const { transactionId = '' } = await charge.status();
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    await charge.outcome();
    expect(await time.holdfast.decideReview(charge.reference, decision)).toMatchObject(approved);
  });
});

test('a command is answered soon after its waitFor is over, also where no worker takes it', async () => {
  const hold = await beginHeld(time);
  await time.stopWorker();
  const begun = await time.now();
  let tookMs = Number.POSITIVE_INFINITY;
  const asked = time.holdfast
    .void(hold.reference, {}, { waitFor: '1 second' })
    .catch((error: unknown) => error)
    .finally(() => (tookMs = Date.now() - begun));
  await time.passUnserved(begun + MINUTE);
  expect(tookMs).toBeLessThanOrEqual(11 * SECOND);
  expect(await asked).toMatchObject({ type: 'EngineUnavailable', message: expect.stringContaining('with commandId') });
  await time.startWorker();
});
