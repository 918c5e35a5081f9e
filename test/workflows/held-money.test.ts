import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { SIGNAL_NAMES } from '../../src/contract/names.js';
import { DEFAULT_UNIT } from '../../sandbox/control.js';
import { CARDS } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { authorizeInput } from '../support/payments.js';
import { serviceOf } from '../support/service.js';
import { startStack } from '../support/stack.js';
import { type StackWithExpectations, withExpectations } from '../support/expected-ledger.js';
import { until } from '../support/until.js';

const OPERATOR = { who: 'Grace Hopper', why: 'seen in the back office of the provider' };

let stack: StackWithExpectations;
beforeAll(async () => {
  // Events are signalled by hand, so that each arrives when the test says.
  const workerEnv = { HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: { ...DEFAULT_UNIT, riskUnit: 'default' } }) };
  stack = withExpectations(await startStack({ webhook: false, pendingMs: 3_600_000, workerEnv }));
});
afterEach(async () => {
  await stack.expected.check();
});
afterAll(async () => {
  await stack?.close();
});

async function held(overrides: Parameters<typeof authorizeInput>[2] = {}) {
  const input = await authorizeInput(stack, CARDS.succeeds, overrides);
  const { paymentId = '' } = await stack.holdfast.authorize(input);
  const flow = stack.temporal.workflow.getHandle(`payment-${input.reference}`);
  return { input, paymentId, flow, reference: input.reference };
}

function eventOf(paymentId: string, transactionId: string, status: string) {
  const eventType = 'payment.capture.update';
  const created = new Date().toISOString();
  return { hash: transactionId, eventType, created, businessUnit: 'default', paymentId, transactionId, status };
}

describe('a flow that holds money', () => {
  test('does not take a late event of a failed capture for the answer to the next one', async () => {
    const { reference, paymentId, flow } = await held();
    const planted = { method: 'POST', path: `*${paymentId}/captures`, times: 1 };
    await stack.sandbox.addFault({ ...planted, action: 'result', status: 'Failed', category: 'provider_error' });
    const first = await stack.holdfast.capture(reference);
    expect(first).toMatchObject({ status: 'declined' });

    await stack.sandbox.addFault({ ...planted, action: 'delay', delay_ms: 3_000 });
    const second = stack.holdfast.capture(reference);
    await until(
      () => stack.holdfast.status(reference),
      ({ status }) => status === 'capturing',
    );
    const late = eventOf(paymentId, first.transactionId ?? '', 'Failed');
    await flow.signal(SIGNAL_NAMES.transactionEvent, { ...late, trusted: true });
    expect(await second).toMatchObject({ status: 'succeeded' });
    expect(await flow.result()).toMatchObject({ status: 'captured' });
  });

  test('goes on when the service refuses to analyse its risk, and a person decides', async () => {
    const input = await authorizeInput(stack, CARDS.succeeds, { risk: { when: 'after' } });
    const { reference } = input;
    await stack.sandbox.addFault({
      action: 'status',
      status: 400,
      method: 'POST',
      path: '*/risk-analyses',
      times: 1,
    });
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'underReview' });
    expect(await stack.holdfast.status(reference)).toMatchObject({ needsOperator: true });
    await stack.holdfast.decideReview(reference, { decision: 'decline', ...OPERATOR });
    const flow = stack.temporal.workflow.getHandle(`payment-${reference}`);
    expect(await flow.result()).toMatchObject({ status: 'voided', reason: 'risk declined' });
  });

  test('answers the operator who settles its capture, and goes on', async () => {
    const { reference, paymentId } = await held();
    const path = `*${paymentId}/captures`;
    await stack.sandbox.addFault({ action: 'result', status: 'Pending', method: 'POST', path, times: 1 });
    expect(await stack.holdfast.capture(reference, {}, { waitFor: '1 second' })).toMatchObject({ status: 'pending' });
    const decision = { status: 'declined', ...OPERATOR } as const;
    expect(await stack.holdfast.settleManually(reference, decision)).toMatchObject({
      status: 'declined',
      evidence: { knownBy: 'operator' },
    });
    expect(await stack.holdfast.status(reference)).toMatchObject({ status: 'authorized' });
  });

  test('refuses a capture that it had not begun when the hold was found ended', async () => {
    const { reference, paymentId, flow } = await held();
    await serviceOf(stack).post(`/payments/${paymentId}/voids`);
    const path = `*/payments/${paymentId}`;
    const { id } = await stack.sandbox.addFault({ action: 'delay', method: 'GET', path, delay_ms: 3_000, times: 1 });
    await stack.holdfast.retryNow(reference);
    await until(
      async () => (await stack.sandbox.faults()).find((fault) => fault.id === id)?.fired,
      (fired) => fired === 1,
    );
    await expect(stack.holdfast.capture(reference, { commandId: 'late' })).rejects.toMatchObject({
      type: 'StateConflict',
      message: expect.stringContaining('voided'),
    });
    expect(await flow.result()).toMatchObject({ status: 'voided', reason: 'elsewhere' });
  });

  test('refuses an operator who gives the id of another command', async () => {
    const { reference, paymentId } = await held();
    const path = `*${paymentId}/captures`;
    await stack.sandbox.addFault({ action: 'result', status: 'Pending', method: 'POST', path, times: 1 });
    await stack.holdfast.capture(reference, { commandId: 'ship-1' }, { waitFor: '1 second' });
    const decision = { status: 'declined', commandId: 'ship-1', ...OPERATOR } as const;
    await expect(stack.holdfast.settleManually(reference, decision)).rejects.toMatchObject({
      type: 'ReferenceConflict',
    });
    expect(await stack.holdfast.status(reference)).toMatchObject({ status: 'pending' });
  });
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
