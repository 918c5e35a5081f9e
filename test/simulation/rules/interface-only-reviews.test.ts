import { beforeAll, describe, expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { begin, reviewedInput, SPECS } from '../../support/virtual-flows.js';
import { answers, HOUR, MINUTE, OPERATOR, sharedTime } from './context.js';

const time = sharedTime();
beforeAll(async () => {
  await time.sandbox.putBusinessUnit({ app_id: 'holdfast-sandbox', profile: { offers: 'interface' } });
});

describe('where no risk analysis can be read, the review', () => {
  test('is not ended by an event that signs the status which it began with', async () => {
    const begun = { action: 'result', method: 'POST', path: '*/risk-analyses', times: 1 } as const;
    await time.sandbox.addFault({ ...begun, status: 'Pending', shown_as: 'Succeed' });
    const flow = await begin(time, SPECS.charge(await reviewedInput(time, { risk: { reviewTimeLimit: '3h' } })));
    await time.passUntil(flow.startedAt + HOUR);
    const { transactionId, status } = await flow.status();
    expect(status).toBe('underReview');
    await flow.event({ eventType: 'payment.risk-analysis.create', transactionId, status: 'Succeed' });
    expect(await flow.outcome()).toMatchObject({ status: 'declined', risk: { decidedBy: 'time limit' } });
    expect(await movements(time, flow.reference)).toEqual([]);
  });

  test('is ended by the status that its event signs', async () => {
    const flow = await begin(time, SPECS.charge(await reviewedInput(time, { risk: {} })));
    await time.passUntil(flow.startedAt + HOUR);
    const { transactionId, status } = await flow.status();
    expect(status).toBe('underReview');
    const decided = { eventType: 'payment.risk-analysis.update', transactionId };
    await flow.event({ ...decided, status: 'Succeed', trusted: false });
    await time.passUntil(flow.startedAt + HOUR + MINUTE);
    expect(await flow.status()).toMatchObject({ status: 'underReview' });
    await flow.event({ ...decided, status: 'Succeed' });
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded', risk: { decision: 'approve' } });
  });

  test.each([
    ['its time limit', async () => undefined],
    [
      'an operator',
      async ({ workflowId }: { workflowId: string }) => {
        const approve = time.holdfast.decideReview({ workflowId }, { ...OPERATOR, decision: 'approve' });
        await expect(approve).rejects.toThrow('the risk provider has decided: decline');
      },
    ],
  ])('is not approved by %s once its event has declined it, while reads are not answered', async (_by, decide) => {
    const risk = { onReviewTimeout: 'proceed', reviewTimeLimit: '3h' };
    const flow = await begin(time, SPECS.charge(await reviewedInput(time, { risk })));
    await time.passUntil(flow.startedAt + HOUR);
    const { transactionId } = await flow.status();
    const away = await time.sandbox.addFault(answers(503, 'GET', '*/risk-analyses/*'));
    await flow.event({ eventType: 'payment.risk-analysis.update', transactionId, status: 'Failed' });
    await time.passUntil(flow.startedAt + HOUR + MINUTE);
    await decide(flow);
    expect(await flow.outcome()).toMatchObject({ status: 'declined', category: 'risk_declined' });
    expect(await movements(time, flow.reference)).toEqual([]);
    await time.sandbox.removeFault(away.id);
  });

  test('is ended by an event whose own read was answered with garbage', async () => {
    const flow = await begin(time, SPECS.charge(await reviewedInput(time, { risk: {} })));
    await time.passUntil(flow.startedAt + HOUR);
    const { transactionId } = await flow.status();
    await time.sandbox.addFault({ action: 'garbage', method: 'GET', path: '*/risk-analyses/*', times: 1 });
    await flow.event({ eventType: 'payment.risk-analysis.update', transactionId, status: 'Succeed' });
    expect(await flow.outcome()).toMatchObject({
      status: 'succeeded',
      risk: { decision: 'approve', knownBy: 'webhook' },
    });
  });
});
