import { describe, expect, test } from 'vitest';
import type { FaultInput } from '../../../src/sandbox/control.js';
import { PAYMENTS_TASK_QUEUE } from '../../../src/contract/names.js';
import { movements } from '../../support/payments.js';
import { begin, beginHeld, reviewedInput, SPECS } from '../../support/virtual-flows.js';
import { plant, signalEvent } from '../../time/checks.js';
import { DAY, HOUR, OPERATOR, sharedTime, shownRuns } from './scene.js';

/** Its engine suggests to continue as new after very few events: there is a border between any two waits. */
const time = sharedTime({}, { suggestRunAfter: () => 12 });
const PENDS: FaultInput = { action: 'result', status: 'Pending', path: '*/charges' };
const runsOf = (workflowId: string) => shownRuns(time, workflowId);

describe('by runs of a few events', () => {
  test('a capture that pends is joined by its command id, and answered once', async () => {
    const hold = await beginHeld(time, { onDeadline: 'void' });
    await time.sandbox.addFault({
      action: 'result',
      status: 'Pending',
      path: '*/captures',
      reconciliation_id: hold.reference,
    });
    const told = await hold.ask('capture', { commandId: 'take', amount: 5_000 });
    expect(['unknown', 'pending']).toContain(told.status);
    await time.passUntil(hold.startedAt + 3 * DAY);
    expect(runsOf(hold.workflowId).length).toBeGreaterThan(3);
    const { transactionId = '' } = await hold.status();
    const later = time.holdfast.capture(hold.reference, { commandId: 'take', amount: 5_000 }, { waitFor: '10 minutes' });
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    await time.holdfast.retryNow(hold.reference, OPERATOR);
    expect(await later).toMatchObject({ status: 'succeeded', transactionId, amount: 5_000 });
    expect(await hold.outcome()).toMatchObject({
      status: 'captured',
      capturedAmount: 5_000,
      actions: [{ commandId: 'take' }],
    });
    expect(time.requests.operations((await hold.status()).paymentId ?? '', 'captures')).toHaveLength(1);
  });

  test('a review that nobody ends goes on, and is ended by an operator in whichever run', async () => {
    const input = await reviewedInput(time, {
      risk: { when: 'before', onReviewTimeout: 'escalate', reviewTimeLimit: '100 weeks' },
    });
    const flow = await begin(time, SPECS.charge(input));
    await time.passUntil(flow.startedAt + 20 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'underReview' });
    expect(runsOf(flow.workflowId).length).toBeGreaterThan(5);
    const { who, why } = OPERATOR;
    await flow.ask('decideReview', { decision: 'approve', who, why });
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded', risk: { decidedBy: 'operator' } });
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('a cancel of an earlier run lets go of the hold, and the events of a transaction are heard', async () => {
    const input = await time.input();
    await plant(time, input, PENDS);
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 5 * HOUR);
    const handle = time.client.workflow.getHandle(charge.workflowId);
    await handle.cancel();
    await time.passUntil(charge.startedAt + 10 * HOUR);
    expect(await charge.status()).toMatchObject({ status: 'pending', cancelRequested: true });
    const { paymentId = '', transactionId = '' } = await charge.status();
    await signalEvent(time, charge, { paymentId, transactionId, status: 'Succeed' });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
    expect(time.requests.posts(input.reference)).toHaveLength(2);
  });

  test('what a run before has left is needed: without it nothing is sent, and the flow stays open', async () => {
    const input = await time.input();
    const raw = await time.client.workflow.start('charge', {
      taskQueue: PAYMENTS_TASK_QUEUE,
      workflowId: `payment-${input.reference}`,
      args: [input, { v: 1, state: {}, commands: [], stages: [] }],
    });
    await expect(raw.result()).rejects.toMatchObject({
      cause: { type: 'InvalidInput', message: expect.stringContaining('a second argument is for later runs only') },
    });
    expect(time.requests.posts(input.reference)).toEqual([]);
  });
});
