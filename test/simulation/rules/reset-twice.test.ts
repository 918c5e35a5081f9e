import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { endOf, resetTo, resetToFirstTask, tasksOf } from '../../support/resets.js';
import { tellingOf } from '../../support/telling.js';
import { begin, reviewedInput, SPECS } from '../../support/virtual-flows.js';
import { type SimulatedTime, startSimulatedTime } from '../simulated-time.js';
import { answers, beginFlow, HOUR, inputOf, MINUTE, OPERATOR } from './context.js';
import { listenToAll, MERCHANT } from './told.js';

type Flow = Awaited<ReturnType<typeof beginFlow>>;

let time: SimulatedTime;
beforeEach(async () => {
  // What is told of an end is handed over in a task after it, to which a flow can be reset.
  time = await startSimulatedTime({}, { telling: tellingOf([{ url: `${MERCHANT}/all` }]) });
  listenToAll(time);
});
afterEach(async () => {
  await time.close();
});

describe('a run that repeats what was decided before another reset of the same run has sent money', () => {
  /** Just before that run ends: what it tells has been handed over. */
  const resetToItsEnd = async (workflowId: string, runId: string): Promise<string> => {
    return await resetTo(time.client, { workflowId, runId }, (await tasksOf(time.client, workflowId, runId)).at(-1));
  };
  const resetToItsBegin = async (workflowId: string, runId: string): Promise<string> => {
    return await resetToFirstTask(time.client, workflowId, [], runId);
  };
  const runOf = async (workflowId: string): Promise<string> =>
    (await time.client.workflow.getHandle(workflowId).describe()).runId;
  const pass = async (ms: number): Promise<void> => time.passUntil((await time.now()) + ms);

  /** The flow that says otherwise now names the run that has sent money, and calls a person. */
  async function refusesToSayIt({ workflowId, reference }: Flow, runId: string, sent: string): Promise<void> {
    await expect(time.client.workflow.getHandle(workflowId, runId).result()).rejects.toMatchObject({
      cause: { type: 'ReferenceConflict', message: expect.stringContaining(sent) },
    });
    expect(await time.holdfast.status(reference)).toMatchObject({ status: 'refused', needsOperator: true });
    expect(await time.holdfast.status(reference)).not.toHaveProperty('outcome');
    const explained = await time.holdfast.explain(reference);
    expect(explained).toContain('Ask the earlier run what happened before you repeat anything.');
    expect(explained).toContain('resetting that run to its last task goes on with it');
  }

  /** By a worker that has never seen the latest run. */
  async function isReplayed(workflowId: string): Promise<void> {
    await time.stopWorker();
    await time.startWorker();
    await time.client.workflow.getHandle(workflowId).query('explain');
  }

  /** It has decided, and a person terminates it before it has told that: a flow that has told its end sends nothing again. */
  async function stopUntold(flow: Flow, reset?: () => Promise<string>): Promise<string> {
    const telling = time.hold('handOver');
    await reset?.();
    await pass(3 * HOUR);
    await telling.reached;
    // A task after the one that decided, to which the flow can be reset.
    await flow.event({ eventType: 'payment.payment.update' });
    const decided = await runOf(flow.workflowId);
    await time.client.workflow.getHandle(flow.workflowId).terminate('by mistake');
    telling.release();
    return decided;
  }

  async function declinedByTime() {
    const risk = { when: 'before', reviewTimeLimit: '1 hour', onReviewTimeout: 'decline' };
    const flow = await begin(time, SPECS.charge(await reviewedInput(time, { risk })));
    return { flow, declined: await stopUntold(flow) };
  }
  async function approve(flow: Flow): Promise<string> {
    await pass(MINUTE);
    await flow.ask('decideReview', { ...OPERATOR, decision: 'approve' });
    await pass(MINUTE);
    expect(await endOf(time.client, flow.workflowId)).toBe('succeeded');
    return await runOf(flow.workflowId);
  }

  test('does not say of a charge that was made that it was declined by its risk', async () => {
    const { flow, declined } = await declinedByTime();
    const { workflowId } = flow;
    await resetToItsBegin(workflowId, declined);
    const charging = await approve(flow);
    const refusing = await resetToItsEnd(workflowId, declined);
    await refusesToSayIt(flow, refusing, charging);
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
    // Whoever resets the latest run, and not that one, is told the same.
    await refusesToSayIt(flow, await resetToItsEnd(workflowId, refusing), charging);
    await isReplayed(workflowId);
    // The run that has charged answers again once it is reset.
    expect(await endOf(time.client, workflowId, await resetToItsEnd(workflowId, charging))).toBe('succeeded');
    expect(await time.holdfast.status(flow.reference)).toMatchObject({ outcome: { status: 'succeeded' } });
  });

  test('nor where it is a run that a reset has made and that has declined anew', async () => {
    const { flow, declined } = await declinedByTime();
    const { workflowId } = flow;
    const again = await stopUntold(flow, () => resetToItsBegin(workflowId, declined));
    await resetToItsBegin(workflowId, declined);
    const charging = await approve(flow);
    await refusesToSayIt(flow, await resetToItsEnd(workflowId, again), charging);
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('nor where it is one that had asked before the charge', async () => {
    const { flow, declined } = await declinedByTime();
    const { workflowId } = flow;
    const asked = await stopUntold(flow, () => resetToItsEnd(workflowId, declined));
    await resetToItsBegin(workflowId, declined);
    const charging = await approve(flow);
    await refusesToSayIt(flow, await resetToItsEnd(workflowId, asked), charging);
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('says it again, as often as it is reset, where none has sent anything', async () => {
    const { flow, declined } = await declinedByTime();
    for (let round = 0; round < 2; round += 1)
      expect(await endOf(time.client, flow.workflowId, await resetToItsEnd(flow.workflowId, declined))).toBe(
        'declined',
      );
  });

  test('takes what comes while it asks, and tells a person', async () => {
    const { flow, declined } = await declinedByTime();
    const { workflowId } = flow;
    const held = time.hold('findSiblingThatSent');
    const again = await resetToItsEnd(workflowId, declined);
    await held.reached;
    await flow.event({ eventType: 'payment.charge.update', transactionId: 'of-nobody', status: 'Succeed' });
    await pass(MINUTE);
    held.release();
    expect(await endOf(time.client, workflowId, again)).toBe('declined');
    expect((await flow.status()).operatorReason).toContain('of-nobody');
    expect(await endOf(time.client, workflowId, await resetToItsEnd(workflowId, again))).toBe('declined');
    await isReplayed(workflowId);
    expect((await flow.status()).operatorReason).toContain('of-nobody');
  });

  test('does not say it where other runs have sent as much either, whatever they have found', async () => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [answers(400, 'POST', '*/charges')]);
    const { workflowId } = flow;
    expect(await endOf(time.client, workflowId)).toBe('InvalidInput');
    const refused = await runOf(workflowId);
    const ends: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      const again = await resetToItsBegin(workflowId, refused);
      await pass(3 * HOUR);
      ends.push(await endOf(time.client, workflowId, again));
    }
    expect(ends).toEqual(['notExecuted', 'notExecuted']);
    expect(await endOf(time.client, workflowId, await resetToItsEnd(workflowId, refused))).toBe('ReferenceConflict');
    expect(await movements(time, flow.reference)).toEqual([]);
  });

  /** A flow that was refused, and goes on two hours after a reset to its begin. */
  async function refusedBefore(type: 'credit' | 'authorize') {
    const input = await inputOf(time, type === 'credit' ? 'credit' : 'charge');
    const refusal = { ...answers(400, 'POST', '/payments'), reconciliation_id: input.reference };
    const { id } = await time.sandbox.addFault(refusal);
    const flow = await begin(time, SPECS[type](input));
    const refused = await stopUntold(flow);
    await time.sandbox.removeFault(id);
    await resetToItsBegin(flow.workflowId, refused);
    await pass(2 * HOUR);
    return { flow, refused };
  }

  test('does not end as refused where money was paid out', async () => {
    const { flow, refused } = await refusedBefore('credit');
    expect(await endOf(time.client, flow.workflowId)).toBe('succeeded');
    const paying = await runOf(flow.workflowId);
    await refusesToSayIt(flow, await resetToItsEnd(flow.workflowId, refused), paying);
    expect(await movements(time, flow.reference)).toEqual(['credit Succeed 6000 USD']);
  });

  test('does not end as refused where money is held, and the run that holds it goes on once it is reset', async () => {
    const { flow, refused } = await refusedBefore('authorize');
    expect(await flow.status()).toMatchObject({ status: 'authorized' });
    const holding = await runOf(flow.workflowId);
    await refusesToSayIt(flow, await resetToItsEnd(flow.workflowId, refused), holding);
    await resetToItsEnd(flow.workflowId, holding);
    await pass(MINUTE);
    expect(await flow.status()).toMatchObject({ status: 'authorized' });
    await flow.ask('void', { commandId: 'release' });
    expect(await movements(time, flow.reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
  });
});
