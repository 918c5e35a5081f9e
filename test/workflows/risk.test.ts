import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { withRisk, type ProfileUnit } from '../../tools/stack/profile-units.js';
import { CARDS, newReference } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { MOCK_FRIENDLY, movements } from '../support/payments.js';
import { startStack } from '../support/stack.js';
import { type StackWithExpectations, withExpectations } from '../support/expected-ledger.js';
import { until } from '../support/until.js';
import { headersFor } from '../webhook/support.js';

/** As a merchant has them: one unit for payments, and one that is set up for risk. */
const RISKY = withRisk(unitNamed('risky'));
const SHOP: ProfileUnit = { ...unitNamed('shop'), riskUnit: RISKY.name };
const OLD = { ...withRisk(unitNamed('old')), apiVersion: '1.2.0' };
const EMAILS = { approve: 'ada@shop.example', decline: 'reject-hub@email.com', review: 'manual-review-hub@email.com' };
const OPERATOR = { who: 'Grace Hopper', why: 'known customer' };
const CHARGED = [`charge Succeed ${MOCK_FRIENDLY} USD`];
const HELD = `authorization Succeed ${MOCK_FRIENDLY} USD`;

let stack: StackWithExpectations;
beforeAll(async () => {
  stack = withExpectations(await startStack({ pendingMs: 3_600_000, units: [RISKY, SHOP, OLD] }));
});
afterEach(async () => {
  await stack.expected.check();
});
afterAll(async () => {
  await stack?.close();
});

function unitNamed(name: string): ProfileUnit {
  const [appId, privateKey, publicKey] = ['holdfast-sandbox', 'sandbox-private-key', 'sandbox-public-key'].map(
    (stem) => `${stem}-${name}`,
  ) as [string, string, string];
  return { name, appId, privateKey, publicKey, profile: {} };
}

interface Made {
  card?: string;
  businessUnit?: string;
}

/** A payment that the risk provider decides on as asked. */
async function payment(decision: keyof typeof EMAILS, { card = CARDS.succeeds, businessUnit = 'risky' }: Made = {}) {
  const { token } = await stack.sandbox.tokenize({ cardNumber: card, publicKey: RISKY.publicKey });
  return {
    reference: newReference(),
    amount: MOCK_FRIENDLY,
    currency: 'USD',
    businessUnit,
    paymentMethod: { type: 'tokenized' as const, token },
    billingAddress: { email: EMAILS[decision] },
  };
}

/** A charge whose review is open. */
async function reviewed({ losesEvents = false, ...made }: Made & { losesEvents?: boolean } = {}) {
  const input = { ...(await payment('review', made)), risk: {} };
  if (losesEvents) await stack.sandbox.addFault({ action: 'lose_event', reconciliation_id: input.reference });
  const open = await stack.holdfast.charge(input);
  expect(open).toMatchObject({ status: 'underReview', waitingFor: 'review', score: 55 });
  expect(await movements(stack, input.reference)).toEqual([]);
  const { paymentId = '', transactionId: analysisId = '' } = await stack.holdfast.status(input.reference);
  return { input, reference: input.reference, paymentId, analysisId };
}

/** The event of the service as the webhook handler can route it: it names the reference. */
async function signedEvent(flow: { reference: string; paymentId: string; analysisId: string }, status: string) {
  const created = new Date().toISOString();
  const body = {
    id: `${flow.paymentId}-${created}-${randomUUID()}`,
    payment_id: flow.paymentId,
    created,
    app_id: RISKY.appId,
    data: { id: flow.analysisId, result: { status }, reconciliation_id: flow.reference },
  };
  const headers = headersFor(body, RISKY.privateKey, 'payment.risk-analysis.update');
  const answer = await fetch(stack.webhookUrl, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(await answer.json()).toEqual({ result: 'delivered' });
}

async function outcomeOf(reference: string) {
  const { outcome } = await until(
    () => stack.holdfast.status(reference),
    (status) => status.outcome !== undefined,
  );
  return outcome;
}

describe('a charge whose risk is analysed first', () => {
  test('goes on where that is approved, and says with which score', async () => {
    const input = { ...(await payment('approve')), risk: {} };
    expect(await stack.holdfast.charge(input)).toMatchObject({
      status: 'succeeded',
      risk: { decision: 'approve', score: 10, decidedBy: 'provider', knownBy: 'reply', analysisId: expect.any(String) },
    });
    expect(await movements(stack, input.reference)).toEqual(CHARGED);
  });

  test('ends where that is declined, before any money was asked for', async () => {
    const input = { ...(await payment('decline')), risk: {} };
    const declined = await stack.holdfast.charge(input);
    expect(declined).toMatchObject({
      status: 'declined',
      category: 'risk_declined',
      retryable: 'nobody',
      confirmed: true,
      risk: { decision: 'decline', score: 90, decidedBy: 'provider' },
    });
    expect(declined).not.toHaveProperty('transactionId');
    expect(await stack.sandbox.ledger(input.reference)).toEqual([]);
    await expect(stack.holdfast.refund({ payment: input.reference })).rejects.toMatchObject({
      message: expect.stringContaining('nothing has been captured'),
    });
  });

  test('is made under the risk unit of its business unit, and refunded by payment id under either, and no other', async () => {
    const input = { ...(await payment('approve', { businessUnit: SHOP.name })), risk: {} };
    const { paymentId = '' } = (await stack.holdfast.charge(input)) as { paymentId?: string };
    expect(await stack.holdfast.status(input.reference)).toMatchObject({ businessUnit: RISKY.name });
    expect(await stack.holdfast.charge(input)).toMatchObject({ status: 'succeeded' });
    const refund = (businessUnit: string) =>
      stack.holdfast.refund({ payment: { payment: paymentId, businessUnit }, commandId: 'once' });
    await expect(refund(OLD.name)).rejects.toThrow(`is of "${RISKY.name}" or "${SHOP.name}", not of "${OLD.name}"`);
    for (const unit of [RISKY.name, SHOP.name]) expect(await refund(unit)).toMatchObject({ status: 'succeeded' });
  });
});

describe('a review before a charge', () => {
  test('is ended by a signed event, which is read before it is believed', async () => {
    const flow = await reviewed();
    // Nobody has decided: what the event says of it is not what the service says.
    await signedEvent(flow, 'Succeed');
    await stack.sandbox.decideRisk(flow.analysisId, 'decline');
    await signedEvent(flow, 'Failed');
    expect(await outcomeOf(flow.reference)).toMatchObject({
      status: 'declined',
      category: 'risk_declined',
      risk: { decision: 'decline', score: 55, knownBy: 'webhook', decidedBy: 'provider', analysisId: flow.analysisId },
      evidence: { knownBy: 'webhook' },
    });
    expect(await movements(stack, flow.reference)).toEqual([]);
  });

  test('whose event is lost is ended by the next look', async () => {
    // That of its creation as well: the flow reads some time after that was delivered, perhaps what was decided since.
    const flow = await reviewed({ losesEvents: true });
    await stack.sandbox.decideRisk(flow.analysisId, 'approve');
    await stack.holdfast.retryNow(flow.reference);
    expect(await outcomeOf(flow.reference)).toMatchObject({
      status: 'succeeded',
      risk: { decision: 'approve', score: 55, knownBy: 'poll', decidedBy: 'provider' },
    });
    expect(await movements(stack, flow.reference)).toEqual(CHARGED);
    const events = await stack.sandbox.deliveries({ paymentId: flow.paymentId });
    expect(events.filter(({ status }) => status !== 'lost')).toEqual([]);
    expect(events.map(({ event_type }) => event_type)).toContain('payment.risk-analysis.update');
  });

  test('is ended by an operator, whose name and reason stay, and whose repeated decision is answered alike', async () => {
    const flow = await reviewed();
    const decision = { ...OPERATOR, commandId: 'ticket-7', decision: 'decline' } as const;
    const risk = { decision: 'decline', decidedBy: 'operator', knownBy: 'operator', operator: OPERATOR };
    const answers = await Promise.all([1, 2].map(() => stack.holdfast.decideReview(flow.reference, decision)));
    for (const answer of answers) expect(answer).toMatchObject({ status: 'decline', risk });
    expect(await stack.holdfast.charge(flow.input)).toMatchObject({ status: 'declined', risk });
    expect(await movements(stack, flow.reference)).toEqual([]);
    await expect(
      stack.holdfast.decideReview(flow.reference, { ...OPERATOR, decision: 'approve' }),
    ).rejects.toMatchObject({ type: 'StateConflict' });
  });

  test('takes neither an anonymous decision nor another command, and goes on unharmed', async () => {
    const flow = await reviewed();
    const anonymous = { decision: 'approve' } as Parameters<typeof stack.holdfast.decideReview>[1];
    await expect(stack.holdfast.decideReview(flow.reference, anonymous)).rejects.toMatchObject({
      type: 'InvalidInput',
    });
    await expect(
      stack.holdfast.settleManually(flow.reference, { ...OPERATOR, status: 'succeeded' }),
    ).rejects.toMatchObject({ type: 'StateConflict' });
    await expect(stack.holdfast.void(flow.reference)).rejects.toMatchObject({ type: 'StateConflict' });
    await stack.holdfast.decideReview(flow.reference, { ...OPERATOR, decision: 'approve' });
    expect(await outcomeOf(flow.reference)).toMatchObject({ status: 'succeeded' });
  });

  test('that an operator has ended keeps what the provider says later, and stops nothing for it', async () => {
    const flow = await reviewed({ card: CARDS.pendsThenSucceeds });
    await stack.holdfast.decideReview(flow.reference, { ...OPERATOR, decision: 'approve' });
    const { transactionId = '' } = await until(
      () => stack.holdfast.status(flow.reference),
      ({ status }) => status === 'pending',
    );
    await stack.sandbox.decideRisk(flow.analysisId, 'decline');
    await signedEvent(flow, 'Failed');
    await until(
      () => stack.holdfast.status(flow.reference),
      // The service's own event comes as well.
      ({ ignored }) => (ignored['lateRiskDecision'] ?? 0) > 0,
    );
    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
    expect(await outcomeOf(flow.reference)).toMatchObject({
      status: 'succeeded',
      risk: { decision: 'approve', decidedBy: 'operator', late: expect.stringMatching(/^Failed at /) },
    });
    expect(await movements(stack, flow.reference)).toEqual(CHARGED);
  });
});

describe('an authorization', () => {
  test.each([
    ['decline', { status: 'declined', category: 'risk_declined' }, []],
    ['proceed', { status: 'authorized', risk: { decision: 'approve' } }, [HELD]],
  ] as const)('whose review nobody ends in time ends by onReviewTimeout %s', async (onReviewTimeout, wanted, moved) => {
    const risk = { onReviewTimeout, reviewTimeLimit: '1 second' } as const;
    const input = { ...(await payment('review')), risk };
    await stack.holdfast.authorize(input);
    const { status } = await until(
      () => stack.holdfast.status(input.reference),
      (now) => now.status === wanted.status,
    );
    expect(status).toBe(wanted.status);
    expect(await stack.holdfast.authorize(input)).toMatchObject({ ...wanted, risk: { decidedBy: 'time limit' } });
    expect(await movements(stack, input.reference)).toEqual(moved);
  });

  test('whose risk is declined before it holds nothing, and takes no command', async () => {
    const input = { ...(await payment('decline')), risk: {} };
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'declined', category: 'risk_declined' });
    await expect(stack.holdfast.capture(input.reference)).rejects.toThrow('nothing is authorized');
    expect(await movements(stack, input.reference)).toEqual([]);
  });

  test('whose risk is declined on the hold is released at once', async () => {
    const input = { ...(await payment('decline')), risk: { when: 'after' as const }, captureMode: 'auto' as const };
    await stack.holdfast.authorize(input);
    expect(await outcomeOf(input.reference)).toMatchObject({
      status: 'voided',
      reason: 'risk declined',
      risk: { decision: 'decline', score: 90, decidedBy: 'provider' },
    });
    expect(await movements(stack, input.reference)).toEqual([HELD, `void Succeed ${MOCK_FRIENDLY} USD`]);
  });
});

describe('a risk analysis on its own', () => {
  test.each([
    ['approve', 10],
    ['decline', 90],
    ['review', 55],
  ] as const)(
    'answers %s with its score and moves nothing, and its reference can be charged',
    async (status, score) => {
      const { paymentMethod, ...asked } = await payment(status);
      const answer = await stack.holdfast.analyseRisk(asked);
      expect(answer).toMatchObject({ status, risk: { decision: status, score, decidedBy: 'provider' } });
      expect(await stack.holdfast.analyseRisk(asked)).toEqual(answer);
      const ledger = await stack.sandbox.ledger();
      expect(ledger.filter(({ payment_id }) => payment_id === answer.paymentId)).toEqual([]);
      expect(await stack.holdfast.charge({ ...asked, paymentMethod })).toMatchObject({ status: 'succeeded' });
    },
  );
});

describe('what can not be analysed', () => {
  const UNPRICED = { order: { lineItems: [{ name: 'Tea', quantity: 1, unitPrice: 1_000 }, { name: 'Cup' }] } };

  test.each([
    ['no risk unit is configured', { businessUnit: 'default' }, 'business unit "default" names no riskUnit'],
    ['an item has no price', UNPRICED, 'order.lineItems.1.unitPrice: is missing'],
  ])('because %s is refused with that reason before anything is sent', async (_why, fault, message) => {
    const refused = { type: 'InvalidInput', message: expect.stringContaining(message) };
    const { payments } = await stack.sandbox.health();
    const made = async () => ({ ...(await payment('approve')), ...fault });
    await expect(stack.holdfast.charge({ ...(await made()), risk: {} })).rejects.toMatchObject(refused);
    for (const when of ['before', 'after'] as const) {
      await expect(stack.holdfast.authorize({ ...(await made()), risk: { when } })).rejects.toMatchObject(refused);
    }
    const { paymentMethod: _card, ...asked } = await made();
    await expect(stack.holdfast.analyseRisk(asked)).rejects.toMatchObject(refused);
    expect(await stack.sandbox.health()).toMatchObject({ payments });
  });
});

test.each(['observed', 'interface'] as const)('at an older API version the service answers: %s', async (reading) => {
  await stack.sandbox.putBusinessUnit({ app_id: OLD.appId, profile: { reading } });
  const { token } = await stack.sandbox.tokenize({ cardNumber: CARDS.succeeds, publicKey: OLD.publicKey });
  const paymentMethod = { type: 'tokenized' as const, token };
  const input = { ...(await payment('approve')), businessUnit: OLD.name, paymentMethod, risk: {} };
  const answer = stack.holdfast.charge(input);
  if (reading === 'observed')
    await expect(answer).rejects.toMatchObject({ type: 'InvalidInput', message: expect.stringContaining('400') });
  else expect(await answer).toMatchObject({ status: 'succeeded', risk: { decision: 'approve' } });
  expect(await movements(stack, input.reference)).toEqual(reading === 'observed' ? [] : CHARGED);
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
