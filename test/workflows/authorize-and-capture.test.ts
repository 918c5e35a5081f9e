import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CARDS } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { authorizeInput, movements } from '../support/payments.js';
import { sharedStack } from '../support/stack.js';
import { type StackWithExpectations, withExpectations } from '../support/expected-ledger.js';
import { until } from '../support/until.js';

let stack: StackWithExpectations;
beforeAll(async () => {
  stack = withExpectations(await sharedStack({ pendingMs: 500 }));
});
afterEach(async () => {
  await stack.expected.check();
});
afterAll(async () => {
  await stack?.close();
});

describe('an authorization', () => {
  test('is answered as soon as the money is held, and a capture takes the whole', async () => {
    const input = await authorizeInput(stack);
    expect(await stack.holdfast.authorize(input)).toMatchObject({
      status: 'authorized',
      waitingFor: 'capture',
      captureBy: expect.stringMatching(/Z$/),
    });
    expect(await movements(stack, input.reference)).toEqual(['authorization Succeed 6000 USD']);

    const captured = await stack.holdfast.capture(input.reference);
    expect(captured).toMatchObject({ status: 'succeeded', amount: 6000, evidence: { knownBy: 'reply' } });
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'captured', capturedAmount: 6000 });
    expect(await movements(stack, input.reference)).toEqual([
      'authorization Succeed 6000 USD',
      'capture Succeed 6000 USD',
    ]);
  });

  test('that is declined holds nothing', async () => {
    const input = await authorizeInput(stack, CARDS.declines);
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'declined' });
  });

  test('is released by a void', async () => {
    const input = await authorizeInput(stack);
    await stack.holdfast.authorize(input);
    expect(await stack.holdfast.void(input.reference, { who: 'ann', why: 'out of stock' })).toMatchObject({
      status: 'succeeded',
    });
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'voided', reason: 'command' });
  });

  test('is captured in part, and the rest is left to the end of the hold, which is said', async () => {
    const input = await authorizeInput(stack, CARDS.succeeds, { amount: 20_000 });
    await stack.holdfast.authorize(input);
    const request = { commandId: 'ship-1', amount: 6_000 };
    const captured = await stack.holdfast.capture(input.reference, request);
    expect(captured).toMatchObject({ status: 'succeeded', amount: 6_000 });
    expect(await stack.holdfast.authorize(input)).toMatchObject({
      status: 'captured',
      amount: 20_000,
      capturedAmount: 6_000,
      released: { amount: 14_000, by: 'expiry' },
    });
    // The flow has ended; the same command must not take another part.
    expect(await stack.holdfast.capture(input.reference, request)).toEqual(captured);
    await expect(stack.holdfast.capture(input.reference, { ...request, amount: 7_000 })).rejects.toMatchObject({
      type: 'ReferenceConflict',
    });
    expect(await movements(stack, input.reference)).toEqual([
      'authorization Succeed 20000 USD',
      'capture Succeed 6000 USD',
    ]);
  });

  test('refuses a capture above it, with the numbers, and goes on', async () => {
    const input = await authorizeInput(stack);
    await stack.holdfast.authorize(input);
    await expect(stack.holdfast.capture(input.reference, { amount: 6_001 })).rejects.toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining('60.01 USD is more than the 60.00 USD authorized'),
    });
    expect(await stack.holdfast.status(input.reference)).toMatchObject({ status: 'authorized' });
  });

  test('captures at once where asked', async () => {
    const input = await authorizeInput(stack, CARDS.succeeds, { captureMode: 'auto' });
    await stack.holdfast.authorize(input);
    const ended = await stack.temporal.workflow.getHandle(`payment-${input.reference}`).result();
    expect(ended).toMatchObject({ status: 'captured', capturedAmount: 6000 });
  });

  test('that pends is held once an event says so', async () => {
    const input = await authorizeInput(stack, CARDS.pendsThenSucceeds);
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'pending' });
    await until(
      () => stack.holdfast.status(input.reference),
      ({ status }) => status === 'authorized',
    );
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'authorized' });
  });

  test('with a deadline beyond the hold is refused before anything is sent', async () => {
    const input = await authorizeInput(stack, CARDS.succeeds, { captureDeadline: '8 days' });
    await expect(stack.holdfast.authorize(input)).rejects.toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining('beyond the hold'),
    });
    expect(await stack.sandbox.ledger(input.reference)).toEqual([]);
  });

  test('a capture and a void at once: one wins, the other is refused', async () => {
    const input = await authorizeInput(stack);
    await stack.holdfast.authorize(input);
    const raced = await Promise.allSettled([
      stack.holdfast.capture(input.reference),
      stack.holdfast.void(input.reference),
    ]);
    expect(raced.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(raced.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { type: 'StateConflict' } });
    expect(await movements(stack, input.reference)).toHaveLength(2);
  });

  test('that is cancelled is voided', async () => {
    const input = await authorizeInput(stack);
    await stack.holdfast.authorize(input);
    const flow = stack.temporal.workflow.getHandle(`payment-${input.reference}`);
    await flow.cancel();
    expect(await flow.result()).toMatchObject({ status: 'voided', reason: 'cancel' });
  });

  test('whose capture is declined goes on, and may be captured again', async () => {
    const input = await authorizeInput(stack);
    await stack.holdfast.authorize(input);
    await stack.sandbox.addFault({
      action: 'result',
      method: 'POST',
      path: '*/captures',
      reconciliation_id: input.reference,
      times: 1,
      status: 'Failed',
      category: 'payment_method_declined',
      sub_category: 'insufficient_funds',
    });
    expect(await stack.holdfast.capture(input.reference)).toMatchObject({
      status: 'declined',
      subCategory: 'insufficient_funds',
    });
    expect(await stack.holdfast.status(input.reference)).toMatchObject({ status: 'authorized', waitingFor: 'capture' });
    expect(await stack.holdfast.capture(input.reference)).toMatchObject({ status: 'succeeded' });
    expect(await movements(stack, input.reference)).toEqual([
      'authorization Succeed 6000 USD',
      'capture Failed 6000 USD',
      'capture Succeed 6000 USD',
    ]);
  });
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
