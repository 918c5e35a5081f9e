import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuthorizeInput } from '../../src/contract/authorize.js';
import { movements } from '../support/payments.js';
import { begin, reviewedInput, SPECS } from '../support/virtual-flows.js';
import { HOUR, MINUTE, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';
import { half } from '../support/counts.js';

const DAY = 24 * HOUR;
const OPERATOR = { who: 'Grace Hopper', why: 'known customer' };
const HELD = 'authorization Succeed 6000 USD';

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  await time?.close();
});

/** A hold whose risk is under review before the authorization, or on it. */
async function beginReviewed(risk: NonNullable<AuthorizeInput['risk']>, terms: Partial<AuthorizeInput> = {}) {
  const flow = await begin(time, SPECS.authorize(await reviewedInput(time, { ...terms, risk })));
  await time.passUntil(flow.startedAt + MINUTE);
  expect(await flow.status()).toMatchObject({ status: 'underReview', waitingFor: 'review', needsOperator: false });
  return flow;
}

describe('a review before the authorization', () => {
  test('that the provider ends a day later, within its limit, is followed by the authorization', async () => {
    const flow = await beginReviewed({ reviewTimeLimit: '3 days' });
    await time.passUntil(flow.startedAt + 22 * HOUR);
    expect(await movements(time, flow.reference)).toEqual([]);
    const { transactionId = '' } = await flow.status();
    await time.sandbox.decideRisk(transactionId, 'approve');
    await time.passUntil(flow.startedAt + 23.5 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'authorized' });
    await flow.ask('void');
    expect(await flow.outcome()).toMatchObject({
      status: 'voided',
      risk: { decision: 'approve', decidedBy: 'provider', knownBy: 'poll', analysisId: transactionId },
    });
    expect(await movements(time, flow.reference)).toEqual([HELD, 'void Succeed 6000 USD']);
  });

  test('of a charge that an operator approves a day later is followed by the charge, and who and why are kept', async () => {
    const input = await reviewedInput(time, { risk: { reviewTimeLimit: '3 days' } });
    const flow = await begin(time, SPECS.charge(input));
    await time.passUntil(flow.startedAt + 22 * HOUR);
    await flow.ask('decideReview', { ...OPERATOR, decision: 'approve' });
    expect(await flow.outcome()).toMatchObject({
      status: 'succeeded',
      risk: { decision: 'approve', decidedBy: 'operator', knownBy: 'operator', operator: OPERATOR },
    });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test.each(
    half([
      ['decline', { status: 'declined', category: 'risk_declined', risk: { decidedBy: 'time limit' } }, []],
      [
        'proceed',
        { status: 'succeeded', risk: { decision: 'approve', decidedBy: 'time limit' } },
        ['charge Succeed 6000 USD'],
      ],
    ] as const),
  )('that nobody ends in time ends by onReviewTimeout %s', async (onReviewTimeout, wanted, moved) => {
    const input = await reviewedInput(time, { risk: { onReviewTimeout, reviewTimeLimit: '2 hours' } });
    const flow = await begin(time, SPECS.charge(input));
    const outcome = await flow.outcome();
    expect(outcome).toMatchObject(wanted);
    expect(Date.parse(outcome.evidence.settledAt) - flow.startedAt).toBeGreaterThanOrEqual(2 * HOUR);
    expect(await movements(time, flow.reference)).toEqual(moved);
  });

  test.each([
    ['ends with', 'pending'],
    ['begins with', 'network'],
  ] as const)('that %s a failure of the risk provider is no decline: an operator decides', async (_when, kind) => {
    const input = await reviewedInput(time, {});
    const fault = { action: 'result', status: 'Failed', category: 'provider_network_error', times: 1 } as const;
    if (kind === 'network') await time.sandbox.addFault({ ...fault, path: '*/risk-analyses' });
    const flow = await begin(time, SPECS.charge({ ...input, risk: {} }));
    await time.passUntil(flow.startedAt + MINUTE);
    const { transactionId = '' } = await flow.status();
    if (kind === 'pending')
      await time.sandbox.complete(transactionId, { status: 'Failed', category: 'provider_network_error' });
    await time.passUntil(flow.startedAt + HOUR);
    expect(await flow.status()).toMatchObject({ status: 'underReview', waitingFor: 'review' });
    await flow.ask('decideReview', { ...OPERATOR, decision: 'approve' });
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded', risk: { decidedBy: 'operator' } });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test.each([
    ['nobody decides', undefined, { status: 'review', risk: { decision: 'review', decidedBy: 'time limit' } }],
    ['an operator decides', 'approve', { status: 'approve', risk: { decidedBy: 'operator', operator: OPERATOR } }],
  ] as const)('that fails alone is no review by the provider: %s', async (_who, decision, wanted) => {
    const { paymentMethod: _card, ...input } = await reviewedInput(time, { reviewTimeLimit: '2 hours' });
    const category = 'provider_network_error';
    await time.sandbox.addFault({ action: 'result', status: 'Failed', category, path: '*/risk-analyses', times: 1 });
    const flow = await begin(time, SPECS.analyseRisk(input));
    await time.passUntil(flow.startedAt + HOUR);
    expect(await flow.status()).toMatchObject({ status: 'underReview', waitingFor: 'review' });
    if (decision !== undefined) await flow.ask('decideReview', { ...OPERATOR, decision });
    expect(await flow.outcome()).toMatchObject(wanted);
  });

  test('that is to be escalated waits for an operator, however long that takes', async () => {
    const input = await reviewedInput(time, { risk: { onReviewTimeout: 'escalate', reviewTimeLimit: '2 hours' } });
    const flow = await begin(time, SPECS.charge(input));
    await time.passUntil(flow.startedAt + 2 * HOUR - MINUTE);
    expect(await flow.status()).toMatchObject({ status: 'underReview', needsOperator: false });
    await time.passUntil(flow.startedAt + 5 * DAY);
    expect(await flow.status()).toMatchObject({ status: 'underReview', needsOperator: true });
    await flow.ask('decideReview', { ...OPERATOR, decision: 'decline' });
    expect(await flow.outcome()).toMatchObject({ status: 'declined', category: 'risk_declined' });
    expect(await movements(time, flow.reference)).toEqual([]);
  });

  test('during which the flow is cancelled ends it, and nothing moves', async () => {
    const flow = await beginReviewed({});
    await flow.cancel();
    await expect(flow.outcome()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(await movements(time, flow.reference)).toEqual([]);
  });
});

describe('a review of a hold', () => {
  test.each(
    half([
      ['approve', 'captured', 'capture Succeed 6000 USD'],
      ['decline', 'voided', 'void Succeed 6000 USD'],
    ] as const),
  )('that an operator ends with %s leaves it %s', async (decision, status, moved) => {
    const flow = await beginReviewed({ when: 'after' }, { captureMode: 'auto' });
    await expect(flow.ask('capture')).rejects.toMatchObject({ cause: { type: 'StateConflict' } });
    await flow.ask('decideReview', { ...OPERATOR, decision });
    expect(await flow.outcome()).toMatchObject({
      status,
      risk: { decision, decidedBy: 'operator', operator: OPERATOR },
    });
    expect(await movements(time, flow.reference)).toEqual([HELD, moved]);
  });

  test('that nobody ends in time releases the money, and leaves time for it before the hold ends', async () => {
    const flow = await beginReviewed({ when: 'after', onReviewTimeout: 'escalate', reviewTimeLimit: '30 days' });
    const outcome = await flow.outcome();
    expect(outcome).toMatchObject({ status: 'voided', reason: 'risk declined', risk: { decidedBy: 'time limit' } });
    expect(outcome.risk).toHaveProperty('score');
    expect(Date.parse(outcome.evidence.settledAt)).toBeLessThan(flow.startedAt + 6.5 * DAY + HOUR);
    expect(await movements(time, flow.reference)).toEqual([HELD, 'void Succeed 6000 USD']);
  });

  test('does not hold up the deadline: it ends with it', async () => {
    const flow = await beginReviewed(
      { when: 'after', onReviewTimeout: 'proceed', reviewTimeLimit: '3 days' },
      { captureDeadline: '1 day', onDeadline: 'capture' },
    );
    const outcome = await flow.outcome();
    expect(outcome).toMatchObject({ status: 'captured', risk: { decision: 'approve', decidedBy: 'time limit' } });
    expect(Date.parse(outcome.evidence.settledAt)).toBeLessThan(flow.startedAt + DAY + HOUR);
    expect(await movements(time, flow.reference)).toEqual([HELD, 'capture Succeed 6000 USD']);
  });

  test('that goes on by its time limit is not undone by a late decision, which is kept', async () => {
    const flow = await beginReviewed({ when: 'after', onReviewTimeout: 'proceed', reviewTimeLimit: '1 hour' });
    const { transactionId = '' } = await flow.status();
    await time.passUntil(flow.startedAt + 2 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'authorized', waitingFor: 'capture' });
    await time.sandbox.decideRisk(transactionId, 'decline');
    const decided = { eventType: 'payment.risk-analysis.update', transactionId, status: 'Failed' } as const;
    await flow.event(decided);
    // Nobody who may decide about this analysis has said these.
    for (const other of [{ trusted: false }, { businessUnit: 'other' }, { transactionId: 'another' }])
      await flow.event({ ...decided, ...other, created: 'by nobody' });
    await time.passUntil(flow.startedAt + DAY);
    const ignored = { lateRiskDecision: 1, untrustedLateRisk: 3 };
    expect(await flow.status()).toMatchObject({ status: 'authorized', ignored });
    await expect(flow.ask('decideReview', { ...OPERATOR, decision: 'decline' })).rejects.toMatchObject({
      cause: { type: 'StateConflict' },
    });
    await flow.ask('capture');
    expect(await flow.outcome()).toMatchObject({
      status: 'captured',
      risk: {
        decision: 'approve',
        decidedBy: 'time limit',
        analysisId: transactionId,
        late: expect.stringMatching(/^Failed at \d/),
      },
    });
    expect(await movements(time, flow.reference)).toEqual([HELD, 'capture Succeed 6000 USD']);
  });

  test('during which the flow is cancelled releases the money', async () => {
    const flow = await beginReviewed({ when: 'after' });
    await flow.cancel();
    expect(await flow.outcome()).toMatchObject({ status: 'voided', reason: 'cancel', risk: { decidedBy: 'cancel' } });
    expect(await movements(time, flow.reference)).toEqual([HELD, 'void Succeed 6000 USD']);
  });

  test('that was never begun because the analysis is refused does not forget the hold', async () => {
    const input = await reviewedInput(time, { risk: { when: 'after' } });
    await time.sandbox.addFault({
      action: 'status',
      status: 400,
      method: 'POST',
      path: '*/risk-analyses',
      reconciliation_id: input.reference,
    });
    const flow = await begin(time, SPECS.authorize(input));
    await time.passUntil(flow.startedAt + HOUR);
    expect(await flow.status()).toMatchObject({ status: 'underReview', needsOperator: true });
    expect(await flow.outcome()).toMatchObject({ status: 'voided', reason: 'risk declined' });
    expect(await movements(time, flow.reference)).toEqual([HELD, 'void Succeed 6000 USD']);
  });
});

test.each(half(['charge', 'authorize'] as const))(
  'a review of a %s with a CVV that ends after the CVV has lapsed sends nothing, and that is proven',
  async (kind) => {
    const input = {
      ...(await time.input({ cvv: '123' })),
      amount: 6_000,
      billingAddress: { email: 'manual-review-hub@email.com' },
      risk: { reviewTimeLimit: '3 hours', onReviewTimeout: 'proceed' as const },
    };
    const flow = await (kind === 'charge' ? begin(time, SPECS.charge(input)) : begin(time, SPECS.authorize(input)));
    expect(await flow.outcome()).toMatchObject({ status: 'notExecuted', evidence: { attempts: 0 } });
    expect(await movements(time, input.reference)).toEqual([]);
  },
);

describe('a risk analysis on its own', () => {
  test('that is to wait for the end of the review does, and is declined by its time limit', async () => {
    const { reference, amount, currency, billingAddress } = await reviewedInput(time);
    const input = { reference, amount, currency, billingAddress, waitForReview: true, reviewTimeLimit: '5 hours' };
    const flow = await begin(time, SPECS.analyseRisk(input));
    expect(await flow.outcome()).toMatchObject({ status: 'decline', risk: { decidedBy: 'time limit' } });
    expect(await movements(time, reference)).toEqual([]);
  });
});
