import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dispatcherTo } from '../support/dispatcher-to.js';
import type { ProfileUnit } from '../../tools/stack/profile-units.js';
import { ProviderClient } from '../../src/provider/index.js';
import { CARDS, chargeInput, newReference } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { startAsChild } from '../support/parent-flow.js';
import { authorizeInput } from '../support/payments.js';
import { eventsIn, eventsOfPayment, postEvent } from '../support/signed-events.js';
import { startStack, type TestStack } from '../support/stack.js';
import { until } from '../support/until.js';

/** What is done to a payment of 25.00 pends. */
const PENDS = 2_500;
const REVIEWED = { billingAddress: { email: 'manual-review-hub@email.com' } };
const KEY = 'sandbox-private-key';

const unitOf = (name: string, more: Partial<ProfileUnit> = {}): ProfileUnit => ({
  name,
  appId: `holdfast-sandbox-${name}`,
  privateKey: `${KEY}-${name}`,
  publicKey: `sandbox-public-key-${name}`,
  profile: {},
  ...more,
});
/** Payments to be risk-analysed are made under another unit, whose key signs their events. */
const UNITS = [unitOf('shop', { riskUnit: 'watched' }), unitOf('watched')];

let stack: TestStack;
let provider: ProviderClient;
beforeAll(async () => {
  stack = await startStack({ pendingMs: 600_000, units: UNITS });
  const unit = { appId: 'holdfast-sandbox', privateKey: KEY, apiVersion: '1.3.0' as const };
  provider = new ProviderClient({
    baseUrl: stack.sandboxUrl,
    environment: 'test',
    unit,
    dispatcher: dispatcherTo(stack.sandboxUrl),
  });
});
afterAll(async () => {
  await stack?.close();
});

/** A transaction of a running flow that pends at the service. */
interface Pending {
  workflowId: string;
  paymentId: string;
  transactionId: string;
  /** Of the event that tells of its end. */
  eventType: string;
  ask: Ask;
  wanted: object;
  /** Default: the sandbox's own unit. */
  key?: string;
}
/** What the flow answers; may be asked again. */
type Ask = () => Promise<{ status: string }>;

const SOON = { waitFor: '1 second' };
const SUCCEEDED = { status: 'succeeded' };

/** Asks, and waits until the flow knows the transaction that pends. */
async function begun(workflowId: string, ask: Ask) {
  await ask();
  const { paymentId = '', transactionId = '' } = await until(
    () => stack.holdfast.status({ workflowId }),
    ({ status }) => status === 'pending' || status === 'underReview',
  );
  return { workflowId, paymentId, transactionId, ask };
}

async function pendingCharge(): Promise<Pending> {
  const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
  const flow = await begun(`payment-${input.reference}`, () => stack.holdfast.charge(input));
  return { ...flow, eventType: 'payment.charge.update', wanted: SUCCEEDED };
}

async function childFlow(): Promise<Pending> {
  const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
  const workflowId = `payment-${input.reference}`;
  await startAsChild(stack.temporal, { type: 'charge', workflowId, input });
  const flow = await begun(workflowId, () => stack.holdfast.charge(input));
  return { ...flow, eventType: 'payment.charge.update', wanted: SUCCEEDED };
}

async function pendingAuthorization(): Promise<Pending> {
  const input = await authorizeInput(stack, CARDS.pendsThenSucceeds);
  const flow = await begun(`payment-${input.reference}`, () => stack.holdfast.authorize(input));
  return { ...flow, eventType: 'payment.authorization.update', wanted: { status: 'authorized' } };
}

async function held(): Promise<string> {
  const input = await authorizeInput(stack, CARDS.succeeds, { amount: PENDS });
  await stack.holdfast.authorize(input);
  return input.reference;
}

/** Under a reference of its own, so that its event does not name the flow. */
async function captureOfHold(): Promise<Pending> {
  const payment = await held();
  const shipment = { reference: newReference('shipment') };
  const flow = await begun(`payment-${payment}`, () => stack.holdfast.capture(payment, shipment, SOON));
  return { ...flow, eventType: 'payment.capture.update', wanted: SUCCEEDED };
}

/** Voids have no reconciliation id at all. */
async function voidOfHold(): Promise<Pending> {
  const payment = await held();
  const flow = await begun(`payment-${payment}`, () => stack.holdfast.void(payment, { commandId: 'v' }, SOON));
  return { ...flow, eventType: 'payment.void.update', wanted: SUCCEEDED };
}

async function refundOfCharge(): Promise<Pending> {
  const input = await chargeInput(stack.sandbox, CARDS.succeeds, { amount: 6_000 });
  const { paymentId } = await stack.holdfast.charge(input);
  const refund = { payment: input.reference, amount: PENDS, commandId: 'r' };
  const flow = await begun(`payment-actions-${paymentId}`, () => stack.holdfast.refund(refund, SOON));
  return { ...flow, eventType: 'payment.refund.update', wanted: SUCCEEDED };
}

/** Of a payment that was made without Holdfast. */
async function foreignPayment() {
  const { data } = await provider.createPayment({ amount: PENDS, currency: 'USD' });
  return data.id;
}

async function captureOfForeignHold(): Promise<Pending> {
  const { token } = await stack.sandbox.tokenize(CARDS.succeeds);
  const payment = await foreignPayment();
  await provider.createAuthorization(payment, { paymentMethod: { type: 'tokenized', token } });
  const late = { reference: newReference('late') };
  const flow = await begun(`payment-actions-${payment}`, () =>
    stack.holdfast.capture({ payment, currency: 'USD' }, late, SOON),
  );
  return { ...flow, eventType: 'payment.capture.update', wanted: SUCCEEDED };
}

async function pendingCredit(): Promise<Pending> {
  const input = await authorizeInput(stack, CARDS.pendsThenSucceeds);
  const flow = await begun(`payment-${input.reference}`, () => stack.holdfast.credit(input));
  return { ...flow, eventType: 'payment.credit.update', wanted: SUCCEEDED };
}

async function adoptedCharge(): Promise<Pending> {
  const { token } = await stack.sandbox.tokenize(CARDS.pendsThenSucceeds);
  const paymentId = await foreignPayment();
  const { data } = await provider.createCharge(paymentId, { paymentMethod: { type: 'tokenized', token } });
  const made = { paymentId, transactionId: data.id, kind: 'charge' as const, amount: PENDS, currency: 'USD' };
  const { workflowId } = await stack.holdfast.resolvePending(made);
  const flow = await begun(workflowId, () => stack.holdfast.status({ workflowId }));
  return { ...flow, eventType: 'payment.charge.update', wanted: SUCCEEDED };
}

const watched = { key: `${KEY}-watched`, eventType: 'payment.risk-analysis.update' };

async function reviewAlone(): Promise<Pending> {
  const input = { reference: newReference('risk'), amount: 6_000, currency: 'USD', businessUnit: 'shop', ...REVIEWED };
  const flow = await begun(`risk-${input.reference}`, () =>
    stack.holdfast.analyseRisk({ ...input, waitForReview: true }),
  );
  return { ...flow, ...watched, wanted: { status: 'approve', risk: { decidedBy: 'provider' } } };
}

async function reviewOfAuthorization(): Promise<Pending> {
  const card = { cardNumber: CARDS.succeeds, publicKey: 'sandbox-public-key-watched' };
  const paymentMethod = { type: 'tokenized' as const, ...(await stack.sandbox.tokenize(card)) };
  const terms = { businessUnit: 'shop', paymentMethod, risk: {}, ...REVIEWED };
  const input = await authorizeInput(stack, CARDS.succeeds, terms);
  const flow = await begun(`payment-${input.reference}`, () => stack.holdfast.authorize(input));
  return { ...flow, ...watched, wanted: { status: 'authorized', risk: { decision: 'approve' } } };
}

const FLOWS: [string, () => Promise<Pending>][] = [
  ['a charge', pendingCharge],
  ['the child of another workflow', childFlow],
  ['an authorization', pendingAuthorization],
  ['a capture of what is held', captureOfHold],
  ['a void of what is held', voidOfHold],
  ['a refund', refundOfCharge],
  ['a capture of what was held elsewhere', captureOfForeignHold],
  ['a credit', pendingCredit],
  ['a transaction that was adopted', adoptedCharge],
  ['a risk analysis that nothing follows', reviewAlone],
  ['the risk analysis of an authorization', reviewOfAuthorization],
];

/** Ends it at the service while the flow can read nothing, so that only the event can tell. */
async function endByEvent({ workflowId, paymentId, transactionId, eventType }: Pending): Promise<void> {
  const { sandbox } = stack;
  const path = `/payments/${paymentId}/*`;
  const fault = await sandbox.addFault({ action: 'status', method: 'GET', path, status: 503 });
  if (eventType === 'payment.risk-analysis.update') await sandbox.decideRisk(transactionId, 'approve');
  else await sandbox.complete(transactionId, { status: 'Succeed' });
  const [update] = (await eventsOfPayment(sandbox, paymentId)).filter((event) => event.eventType === eventType);
  await until(
    () => eventsIn(stack.temporal, workflowId),
    (taken) => taken.includes(update?.hash ?? ''),
  );
  await sandbox.removeFault(fault.id);
}

const UNSETTLED = ['pending', 'unknown', 'underReview', 'started'];

/** Begins a flow, ends its transaction by an event, and then sends every event of its payment again. */
async function live(begin: () => Promise<Pending>) {
  const pending = await begin();
  await endByEvent(pending);
  // What could not be read meanwhile is read now. A flow that the event alone has ended needs no more.
  await stack.holdfast.retryNow({ workflowId: pending.workflowId }).catch(() => undefined);
  const answer = await until(pending.ask, ({ status }) => !UNSETTLED.includes(status));
  const again: { eventType: string; status: number; result: string | undefined }[] = [];
  for (const { eventType, body } of await eventsOfPayment(stack.sandbox, pending.paymentId)) {
    again.push({ eventType, ...(await postEvent(stack.webhookUrl, eventType, body, pending.key)) });
  }
  return { answer, wanted: pending.wanted, again };
}

describe('the event that ends', () => {
  /** All at once: each spends its time with waiting. */
  let lives: Map<string, Promise<Awaited<ReturnType<typeof live>>>>;
  beforeAll(async () => {
    lives = new Map(FLOWS.map(([name, begin]) => [name, live(begin)]));
    await Promise.allSettled(lives.values());
  });

  test.each(FLOWS)('%s arrives there, and sent again afterwards it raises no alarm', async (name) => {
    const { answer, wanted, again } = (await lives.get(name)) as Awaited<ReturnType<typeof live>>;
    expect(answer).toMatchObject(wanted);
    expect(again.length).toBeGreaterThan(1);
    expect(again.filter(({ status, result }) => status !== 200 || result === 'parked')).toEqual([]);
  });
});

test('no event has failed or blocked a workflow', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
