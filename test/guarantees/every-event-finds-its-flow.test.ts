import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dispatcherTo } from '../support/dispatcher-to.js';
import type { ChargeOutcome } from '../../src/contract/charge.js';
import type { ParkedEventResult } from '../../src/contract/parked-event.js';
import { listEvents } from '../../src/cli/events.js';
import { replayEvents } from '../../src/cli/replay-events.js';
import { ProviderClient } from '../../src/provider/index.js';
import { CARDS, chargeInput, newReference } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { startUnasked } from '../support/flows.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { eventBody, eventsIn, hashOf, postEvent } from '../support/signed-events.js';
import { startStack, type TestStack } from '../support/stack.js';
import { until } from '../support/until.js';

const CHARGE_UPDATE = 'payment.charge.update';

let stack: TestStack;
let provider: ProviderClient;
beforeAll(async () => {
  stack = await startStack({ pendingMs: 600_000 });
  const unit = { appId: 'holdfast-sandbox', privateKey: 'sandbox-private-key', apiVersion: '1.3.0' as const };
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

const post = (eventType: string, body: unknown) => postEvent(stack.webhookUrl, eventType, body);

/** A flow that nobody works on: it stays open and keeps what it is sent. */
async function openFlow(workflowId: string): Promise<string> {
  await stack.temporal.workflow.start('waits', { workflowId, taskQueue: 'nobody', args: [] });
  return workflowId;
}

const signalsOf = async (workflowId: string) => (await eventsIn(stack.temporal, workflowId)).length;

/** A payment as the service has it, made by somebody who says that it is of this workflow. */
async function paymentOf(workflowId?: string): Promise<string> {
  const additionalDetails = workflowId === undefined ? {} : { holdfast_workflow_id: workflowId };
  const { data } = await provider.createPayment({ amount: 1095, currency: 'USD', additionalDetails });
  return data.id;
}

const parkedFlow = (eventType: string, body: unknown) =>
  stack.temporal.workflow.getHandle(`parked-event-${hashOf(eventType, body)}`);

describe('an event arrives where it belongs', () => {
  test.each(['payment.capture.update', 'payment.refund.update', 'payment.void.create'])(
    'at the actions of its payment, without a reference (%s)',
    async (eventType) => {
      const paymentId = randomUUID();
      const flow = await openFlow(`payment-actions-${paymentId}`);
      expect(await post(eventType, eventBody({ paymentId, status: 'Succeed' }))).toEqual({
        status: 200,
        result: 'delivered',
      });
      expect(await signalsOf(flow)).toBe(1);
    },
  );

  test('at a child flow of a subscription, and at one that adopted its transaction', async () => {
    const reference = `${newReference('club')}.12.1`;
    const child = await openFlow(`payment-${reference}`);
    const transactionId = randomUUID();
    const adopted = await openFlow(`resolve-${transactionId}`);
    await post(CHARGE_UPDATE, eventBody({ reconciliationId: reference, status: 'Succeed' }));
    await post(CHARGE_UPDATE, eventBody({ transactionId, status: 'Succeed' }));
    expect([await signalsOf(child), await signalsOf(adopted)]).toEqual([1, 1]);
  });

  test('at the flow that made its payment, when it is about the payment alone', async () => {
    const flow = await openFlow(`payment-${newReference()}`);
    const paymentId = await paymentOf(flow);
    const body = eventBody({ paymentId, transactionId: paymentId });
    expect((await post('payment.payment.update', body)).result).toBe('delivered');
    expect(await eventsIn(stack.temporal, flow)).toContain(hashOf('payment.payment.update', body));
  });

  test('though another one of its payment was made in the same millisecond, and each once', async () => {
    const reference = newReference();
    const flow = await openFlow(`payment-${reference}`);
    const paymentId = randomUUID();
    const same = { paymentId, reconciliationId: reference, created: '2026-11-06T14:33:46.150Z', id: 'one-id-for-both' };
    const bodies = ['Pending', 'Succeed'].map((status) => eventBody({ ...same, transactionId: paymentId, status }));
    for (const body of [...bodies, ...bodies]) await post(CHARGE_UPDATE, body);
    expect(await signalsOf(flow)).toBe(2);
  });
});

describe('an event that comes', () => {
  test('before its flow has done anything, and again while it waits and after it has ended, does no harm', async () => {
    await stack.stopWorker();
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    await startUnasked(stack, input);
    const { reference } = input;
    const early = eventBody({ reconciliationId: reference, status: 'Failed', amount: 1095, currency: 'USD' });
    expect((await post(CHARGE_UPDATE, early)).result).toBe('delivered');
    await stack.startWorker();
    const pending = await until(
      () => stack.holdfast.status(reference),
      ({ status }) => status === 'pending',
    );
    expect((await post(CHARGE_UPDATE, { ...early, id: 'while it waits' })).result).toBe('delivered');
    await stack.sandbox.complete(pending.transactionId ?? '', { status: 'Succeed' });
    const { outcome } = await until(
      () => stack.holdfast.status(reference),
      (status) => status.outcome !== undefined,
    );
    const answer = outcome as ChargeOutcome;
    expect(answer).toMatchObject({ status: 'succeeded' });
    // Of a payment that was never made: nobody's.
    expect((await post(CHARGE_UPDATE, { ...early, id: 'afterwards' })).result).toBe('parked');
    expect(auditCharges([{ input, answer }], await stack.sandbox.ledger(reference))).toEqual([]);
  });

  test('after its flow has ended and agrees is acknowledged; one that contradicts is kept for an operator', async () => {
    const input = await chargeInput(stack.sandbox);
    const outcome = await stack.holdfast.charge(input);
    if (outcome.status !== 'succeeded') throw new Error(`the charge is ${outcome.status}`);
    const { paymentId = '', transactionId = '' } = outcome;
    const said = { paymentId, transactionId, reconciliationId: input.reference, amount: 1095, currency: 'USD' };
    expect((await post(CHARGE_UPDATE, eventBody({ ...said, status: 'Succeed' }))).result).toBe('late');
    expect((await post(CHARGE_UPDATE, eventBody({ ...said, status: 'Pending' }))).result).toBe('late');

    const lie = eventBody({ ...said, status: 'Failed', category: 'payment_method_declined' });
    expect((await post(CHARGE_UPDATE, lie)).result).toBe('parked');
    const stranger = eventBody({ ...said, transactionId: randomUUID(), status: 'Succeed' });
    expect((await post(CHARGE_UPDATE, stranger)).result).toBe('parked');
    const listed = await until(
      () => listEvents(stack.temporal, { needsOperator: true, paymentId }),
      (events) => events.length === 2,
    );
    expect(listed.map(({ hash }) => hash).toSorted()).toEqual(
      [lie, stranger].map((body) => hashOf(CHARGE_UPDATE, body)).toSorted(),
    );
    expect(listed[0]).toMatchObject({ status: 'parked', eventType: CHARGE_UPDATE, reference: input.reference });
    // It names the flow once it has looked for itself.
    await until(
      () => parkedFlow(CHARGE_UPDATE, lie).query<string>('explain'),
      (why) => why.includes(`contradicts how workflow payment-${input.reference} has ended`),
    );
    // The answer that was given stays the answer.
    expect(await stack.holdfast.charge(input)).toEqual(outcome);
  });

  test('for a payment of others is acknowledged and forgotten', async () => {
    const body = eventBody({ paymentId: await paymentOf(), status: 'Succeed' });
    expect(await post(CHARGE_UPDATE, body)).toEqual({ status: 200, result: 'foreign' });
    await expect(parkedFlow(CHARGE_UPDATE, body).describe()).rejects.toThrow(/not found/);
  });

  test('for a flow that is not there yet is kept once, and reaches it once it is', async () => {
    const workflowId = `payment-${newReference()}`;
    const body = eventBody({ paymentId: await paymentOf(workflowId), status: 'Succeed' });
    for (let sent = 0; sent < 3; sent += 1) expect((await post(CHARGE_UPDATE, body)).result).toBe('parked');
    const parked = parkedFlow(CHARGE_UPDATE, body);
    await until(
      () => parked.query<{ attempts: number; dueAt?: string }>('status'),
      ({ dueAt }) => dueAt !== undefined,
    );

    await openFlow(workflowId);
    const hash = hashOf(CHARGE_UPDATE, body);
    expect(await replayEvents(stack.temporal, [hash, hash, 'f'.repeat(64), 'nonsense'])).toEqual([
      { hash, result: 'woken' },
      { hash: 'f'.repeat(64), result: 'failed', why: expect.stringMatching(/not found/) },
      { hash: 'nonsense', result: 'failed', why: '"nonsense" is not the hash of an event' },
    ]);
    expect((await parked.result()) as ParkedEventResult).toMatchObject({ status: 'delivered', workflowId });
    expect(await replayEvents(stack.temporal, [hash])).toEqual([{ hash, result: 'delivered' }]);
    expect((await post(CHARGE_UPDATE, body)).result).toBe('delivered');
    // The service has sent one of its own about the payment, which went the same way.
    expect((await eventsIn(stack.temporal, workflowId)).filter((taken) => taken === hash)).toEqual([hash]);
  });
});

test('no event has failed or blocked a workflow', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
