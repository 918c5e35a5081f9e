import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Client, Connection } from '@temporalio/client';
import type { ChargeInput, ChargeOutcome } from '../../src/contract/charge.js';
import type { DeliveryView } from '../../sandbox/control.js';
import { sign, signedText } from '../../src/webhook/signature.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { testDataConverter } from '../support/data-converter.js';
import { flowProblems } from '../support/flow-health.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { type Link, openLink } from '../support/link.js';
import { startStack } from '../support/stack.js';
import { type StackWithExpectations, withExpectations } from '../support/expected-ledger.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';

const SANDBOX_KEY = 'sandbox-private-key';
const UPDATE = 'payment.charge.update';

let link: Link;
let stack: StackWithExpectations;
/** Past the link, so that a test can look while the stack is cut off. */
let observer: Client;
beforeAll(async () => {
  link = await openLink(await temporalAddress());
  const namespace = await claimNamespace();
  stack = withExpectations(await startStack({ pendingMs: 600_000, temporal: { address: link.address, namespace } }));
  const connection = await Connection.connect({ address: await temporalAddress() });
  observer = new Client({ connection, namespace, dataConverter: testDataConverter() });
});
afterEach(async () => {
  await stack.expected.check();
});
afterAll(async () => {
  await stack?.close();
  link?.cut();
  await observer?.connection.close();
});

/** A charge that pends, and of which neither polls nor events will tell any more than a test lets through. */
async function pendingCharge(): Promise<{ input: ChargeInput; pending: ChargeOutcome }> {
  const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
  await stack.sandbox.addFault({
    action: 'status',
    method: 'GET',
    status: 503,
    reconciliation_id: input.reference,
  });
  const pending = await stack.holdfast.charge(input);
  expect(pending.status).toBe('pending');
  // Its first events must not arrive in the midst of what a test counts.
  for (const first of ['payment.charge.create', 'payment.payment.update'])
    await until(
      () => deliveriesOf(input, first),
      (deliveries) => deliveries.length > 0 && deliveries.every(({ status }) => status === 'delivered'),
    );
  return { input, pending };
}

/** Ends the charge at the service without the event that tells of it, and returns that event. */
async function completeWithoutEvent({ input, pending }: { input: ChargeInput; pending: ChargeOutcome }) {
  const lost = await stack.sandbox.addFault({ action: 'lose_event', reconciliation_id: input.reference });
  await stack.sandbox.complete(pending.transactionId ?? '', { status: 'Succeed' });
  await stack.sandbox.removeFault(lost.id);
  const [delivery] = await deliveriesOf(input, UPDATE);
  return (await stack.sandbox.delivery(delivery?.id ?? '')).body as { data: Record<string, unknown> };
}

async function deliveriesOf({ reference }: ChargeInput, eventType: string): Promise<DeliveryView[]> {
  return await stack.sandbox.deliveries({ reconciliationId: reference, eventType });
}

async function post(body: unknown, options: { signedBody?: unknown; key?: string; eventType?: string } = {}) {
  const { signedBody = body, key = SANDBOX_KEY, eventType = UPDATE } = options;
  const response = await fetch(stack.webhookUrl, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      'event-type': eventType,
      version: '1.3.0',
      'x-svc-env': 'test',
      signature: sign(signedText(eventType, signedBody), key),
    },
  });
  await response.arrayBuffer();
  return response.status;
}

async function signalsOf({ reference }: ChargeInput): Promise<number> {
  const { events } = await observer.workflow.getHandle(`payment-${reference}`).fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes).length;
}

async function finalAnswer(input: ChargeInput): Promise<ChargeOutcome> {
  const { outcome } = await until(
    () => stack.holdfast.status(input.reference),
    (status) => status.outcome !== undefined,
  );
  return outcome as ChargeOutcome;
}

describe('an event', () => {
  test('gets no 2xx while Temporal is away, comes again, and then settles the charge', async () => {
    const charge = await pendingCharge();
    link.cut();
    await stack.sandbox.complete(charge.pending.transactionId ?? '', { status: 'Succeed' });
    const [refused] = await until(
      () => deliveriesOf(charge.input, UPDATE),
      ([delivery]) => delivery?.last_status != null,
    );
    expect(refused).toMatchObject({ status: 'pending', last_status: 503 });
    const before = await signalsOf(charge.input);

    await link.mend();
    const [delivered] = await until(
      () => deliveriesOf(charge.input, UPDATE),
      ([delivery]) => delivery?.status === 'delivered',
    );
    expect(delivered).toMatchObject({ last_status: 200 });
    // Acknowledged means recorded; it shows in the history once no workflow task is under way. The event of the payment
    // that the service sends beside it may come first.
    await until(
      () => signalsOf(charge.input),
      (signals) => signals > before,
    );
    const answer = await finalAnswer(charge.input);
    expect(answer).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
    expect(auditCharges([{ input: charge.input, answer }], await stack.sandbox.ledger(charge.input.reference))).toEqual(
      [],
    );
  });

  test('that comes twenty times, and between older ones, is recorded once and changes the result once', async () => {
    const charge = await pendingCharge();
    const body = await completeWithoutEvent(charge);
    const [created] = await deliveriesOf(charge.input, 'payment.charge.create');
    const older = (await stack.sandbox.delivery(created?.id ?? '')).body;
    const before = await signalsOf(charge.input);

    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        if (index % 4 === 0) await post(older, { eventType: 'payment.charge.create' });
        return await post(body);
      }),
    );
    expect(new Set(answers)).toEqual(new Set([200]));
    const answer = await finalAnswer(charge.input);
    expect(await post(body)).toBe(200);
    expect(await post(older, { eventType: 'payment.charge.create' })).toBe(200);
    expect(await signalsOf(charge.input)).toBe(before + 1);
    expect(await stack.holdfast.charge(charge.input)).toEqual(answer);
    expect(auditCharges([{ input: charge.input, answer }], await stack.sandbox.ledger(charge.input.reference))).toEqual(
      [],
    );
  });
});

describe('a forged event', () => {
  test('is refused with 401 and changes nothing; the true one still settles the charge', async () => {
    const charge = await pendingCharge();
    const body = await completeWithoutEvent(charge);
    const forged = {
      ...body,
      data: { ...body.data, result: { status: 'Failed', category: 'payment_method_declined' } },
    };
    const before = await signalsOf(charge.input);
    const status = await stack.holdfast.status(charge.input.reference);

    expect(await post(forged, { signedBody: body })).toBe(401);
    expect(await post(forged, { key: 'a-key-of-the-forger' })).toBe(401);
    expect(await post({ ...body, app_id: 'nobody' })).toBe(401);
    expect(await signalsOf(charge.input)).toBe(before);
    expect(await stack.holdfast.status(charge.input.reference)).toEqual(status);

    expect(await post(body)).toBe(200);
    const answer = await finalAnswer(charge.input);
    expect(answer).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
  });

  test('with a true signature but of another payment, transaction or sum does not settle the charge', async () => {
    const charge = await pendingCharge();
    const body = await completeWithoutEvent(charge);
    const { data } = body;
    const foreign = '99999999-9999-4999-8999-999999999999';
    const failed = { result: { status: 'Failed', category: 'payment_method_declined' } };
    const others = [
      { ...body, payment_id: foreign, data: { ...data, ...failed } },
      { ...body, data: { ...data, ...failed, id: foreign } },
      { ...body, data: { ...data, amount: 1 } },
      { ...body, data: { ...data, currency: 'EUR' } },
    ];
    for (const other of others) expect(await post(other)).toBe(200);
    expect(await post({ ...body, data: { ...data, ...failed } }, { eventType: 'payment.refund.update' })).toBe(200);

    const { outcome, needsOperator } = await until(
      () => stack.holdfast.status(charge.input.reference),
      (status) => status.needsOperator,
    );
    expect({ outcome, needsOperator }).toEqual({ outcome: undefined, needsOperator: true });
  });
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(observer)).toEqual([]);
});
