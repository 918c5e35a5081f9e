import { afterEach, describe, expect, test } from 'vitest';
import { loseTask } from '../../support/lost-task.js';
import { movements } from '../../support/payments.js';
import { begin, reviewedInput, SPECS } from '../../support/virtual-flows.js';
import { DAY, type FlowType, MINUTE, OPERATOR, sharedTime, specOf } from './context.js';

const time = sharedTime();

afterEach(() => {
  time.simulation.world.sandbox.through = (request, serve) => serve(request);
});

describe('an analysis that the service calls successful, and whose decision is still a review', () => {
  async function reviewed() {
    const { sandbox } = time.simulation.world;
    sandbox.through = async (request, serve) => {
      const reply = await serve(request);
      if (request.method !== 'GET' || !request.path.includes('/risk-analyses')) return reply;
      return { ...reply, body: Buffer.from(String(reply.body).replaceAll('"Pending"', '"Succeed"')) };
    };
    const input = await reviewedInput(time, { risk: { when: 'before', reviewTimeLimit: '1 day' } });
    const flow = await begin(time, SPECS.charge(input));
    await time.passUntil(flow.startedAt + 2_000);
    const { transactionId = '' } = await flow.status();
    await flow.event({ eventType: 'payment.risk-analysis.update', transactionId, status: 'Succeed' });
    await time.passUntil(flow.startedAt + MINUTE);
    expect(await flow.status()).toMatchObject({ status: 'underReview' });
    return flow;
  }

  test('is declined by an operator who says so', async () => {
    const flow = await reviewed();
    expect(await flow.ask('decideReview', { decision: 'decline', ...OPERATOR })).toMatchObject({ status: 'decline' });
    expect(await flow.outcome()).toMatchObject({ status: 'declined', risk: { decidedBy: 'operator' } });
    expect(await movements(time, flow.reference)).toEqual([]);
  });

  test('is declined by its time limit', async () => {
    const flow = await reviewed();
    await time.passUntil(flow.startedAt + 2 * DAY);
    expect(await flow.outcome()).toMatchObject({ status: 'declined', risk: { decidedBy: 'time limit' } });
    expect(await movements(time, flow.reference)).toEqual([]);
  });
});

describe('a cancel during a review is no decline, also where a task of the flow was lost', () => {
  const lost = async (type: FlowType, input: { reference: string }) => {
    await time.stopWorker();
    const flow = await begin(time, specOf(type, input));
    await loseTask(time.client);
    await time.startWorker();
    await time.passUntil(flow.startedAt + MINUTE);
    expect(await flow.status()).toMatchObject({ status: 'underReview' });
    await flow.cancel();
    return flow;
  };

  test.each(['charge', 'authorizeAndCapture'] as const)('%s: it has looked, and nothing was executed', async (type) => {
    const risk = { when: 'before', reviewTimeLimit: '1 day' };
    const flow = await lost(type, await reviewedInput(time, { risk }));
    expect(await flow.outcome()).toMatchObject({
      status: 'notExecuted',
      reason: expect.stringContaining('the flow was cancelled'),
      risk: { decidedBy: 'cancel' },
    });
    expect(await movements(time, flow.reference)).toEqual([]);
  });

  test('analyseRisk: it is cancelled', async () => {
    const { paymentMethod, amount, currency, reference, billingAddress } = await reviewedInput(time);
    const input = { paymentMethod, amount, currency, reference, billingAddress, waitForReview: true };
    const flow = await lost('analyseRisk', input);
    await expect(flow.outcome()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(await flow.status()).toMatchObject({ status: 'cancelled' });
  });
});
