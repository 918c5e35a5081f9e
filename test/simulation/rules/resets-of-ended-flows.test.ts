import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { resetToEachTask, resetToFirstTask } from '../../support/resets.js';
import { begin, reviewedInput, SPECS } from '../../support/virtual-flows.js';
import { braking } from './braking.js';
import { answers, beginFlow, DAY, HOUR, inputOf, MINUTE, OPERATOR, sharedTime } from './context.js';
import { engineOf } from './weekly.js';

const time = sharedTime();
const { brake, release } = braking(time);
const pass = async (ms: number) => await time.passUntil((await time.now()) + ms);
afterEach(async () => await time.sandbox.clearFaults());

const UNAVAILABLE = { action: 'status', status: 503, times: 10_000 } as const;
/** `ResetReapplyExcludeType` */
const UPDATE = 2;
const KINDS = ['charge', 'authorizeAndCapture', 'credit'] as const;

describe('a flow whose caller was told that it took nothing, so that the order may be paid under another reference', () => {
  test.each(KINDS)('is sent by no reset where a brake had stopped it: %s', async (type) => {
    await brake();
    const flow = await beginFlow(time, type, await inputOf(time, type));
    expect(await flow.outcome()).toMatchObject({ status: 'notExecuted' });
    await release();
    const look = async (): Promise<void> => {
      await pass(2 * HOUR);
      expect(await movements(time, flow.reference)).toEqual([]);
    };
    expect(await resetToEachTask(engineOf(time), flow.workflowId, look)).toBeGreaterThan(0);
  });

  test.each(KINDS)('is sent by no reset where it had been refused, and says why: %s', async (type) => {
    const resource = { charge: 'charges', authorizeAndCapture: 'authorizations', credit: 'credits' }[type];
    const flow = await beginFlow(time, type, await inputOf(time, type), [answers(400, 'POST', `*/${resource}`)]);
    await expect(flow.outcome()).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
    await time.sandbox.clearFaults();
    await resetToFirstTask(time.client, flow.workflowId, []);
    await pass(2 * HOUR);
    expect(await flow.outcome()).toMatchObject({
      status: 'notExecuted',
      reason: expect.stringContaining('has told that it took nothing, so that the order may have been paid otherwise'),
    });
    expect(await movements(time, flow.reference)).toEqual([]);
  });
});

describe('a charge whose caller was told', () => {
  const reset = async ({ workflowId }: { workflowId: string }): Promise<void> => {
    await time.sandbox.clearFaults();
    await resetToFirstTask(time.client, workflowId, []);
    await pass(2 * HOUR);
  };

  test('that it was cancelled before anything was sent is sent by no reset', async () => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [answers(503, 'POST', '/payments')]);
    await pass(MINUTE);
    await flow.cancel();
    await time.sandbox.clearFaults();
    await pass(HOUR);
    await expect(flow.outcome()).rejects.toThrow('cancelled');
    await reset(flow);
    expect(await movements(time, flow.reference)).toEqual([]);
  });

  test('that its risk was declined is sent by no reset, whatever is decided there', async () => {
    const risk = { when: 'before', reviewTimeLimit: '1 hour', onReviewTimeout: 'decline' };
    const flow = await begin(time, SPECS.charge(await reviewedInput(time, { risk })));
    expect(await flow.outcome()).toMatchObject({ status: 'declined' });
    await resetToFirstTask(time.client, flow.workflowId, []);
    await pass(MINUTE);
    await flow.ask('decideReview', { ...OPERATOR, decision: 'approve' });
    await pass(2 * HOUR);
    expect(await movements(time, flow.reference)).toEqual([]);
  });

  test('by the run of another reset that its risk was declined is sent by none', async () => {
    const flow = await begin(time, SPECS.charge(await reviewedInput(time, { risk: { when: 'before' } })));
    await pass(MINUTE);
    const { runId } = await time.client.workflow.getHandle(flow.workflowId).describe();
    await reset(flow);
    await flow.ask('decideReview', { ...OPERATOR, decision: 'decline' });
    expect(await flow.outcome()).toMatchObject({ status: 'declined' });
    await resetToFirstTask(time.client, flow.workflowId, [UPDATE], runId);
    await pass(MINUTE);
    await flow.ask('decideReview', { ...OPERATOR, decision: 'approve', commandId: 'since' });
    await pass(2 * HOUR);
    expect(await movements(time, flow.reference)).toEqual([]);
  });

  test('what a person has said, without the key having left, is sent by no reset', async () => {
    const refused = { ...answers(400, 'POST', '*/charges'), times: 100 };
    const lost = { ...answers(503, 'POST', '*/charges'), times: 1 };
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [lost, refused]);
    await pass(5 * MINUTE);
    const found = { ...OPERATOR, status: 'succeeded', transactionId: randomUUID() } as const;
    await time.holdfast.settleManually(flow.reference, found);
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
    await reset(flow);
    // Nor does it say that nothing was taken: another person looks.
    await pass(DAY);
    expect(await flow.status()).toMatchObject({
      status: 'unknown',
      operatorReason: expect.stringContaining(found.transactionId),
    });
    await time.holdfast.settleManually(flow.reference, { ...found, why: 'looked again' });
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, flow.reference)).toEqual([]);
  });
});

describe('a flow whose end nobody was told', () => {
  test.each(['is under way', 'was terminated by mistake'])('is sent by the run of a reset where it %s', async (how) => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [UNAVAILABLE]);
    await pass(HOUR);
    if (how !== 'is under way') await time.client.workflow.getHandle(flow.workflowId).terminate(how);
    await time.sandbox.clearFaults();
    await resetToFirstTask(time.client, flow.workflowId, []);
    await pass(DAY);
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });
});
