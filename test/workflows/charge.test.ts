import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CARDS, chargeInput } from '../support/charges.js';
import type { TestStack } from '../support/stack.js';
import { startStack } from '../support/stack.js';
import { until } from '../support/until.js';

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(async () => {
  await stack?.close();
});

describe('a charge', () => {
  test('succeeds with one movement in the ledger and says how that is known', async () => {
    const input = await chargeInput(stack.sandbox);
    const outcome = await stack.holdfast.charge(input);
    expect(outcome).toMatchObject({
      status: 'succeeded',
      reference: input.reference,
      amount: 1095,
      currency: 'USD',
      evidence: { knownBy: 'reply', attempts: 1 },
    });
    const ledger = await stack.sandbox.ledger(input.reference);
    expect(ledger).toHaveLength(1);
    expect(ledger[0]).toMatchObject({
      kind: 'charge',
      status: 'Succeed',
      amount: 1095,
      idempotency_key: `payment-${input.reference}:createCharge:1`,
    });
  });

  test('is declined with its category, and names who may try again', async () => {
    const input = await chargeInput(stack.sandbox);
    await stack.sandbox.addFault({
      action: 'result',
      method: 'POST',
      path: '*/charges',
      reconciliation_id: input.reference,
      status: 'Failed',
      category: 'payment_method_declined',
      sub_category: 'lost_stolen_card',
    });

    expect(await stack.holdfast.charge(input)).toMatchObject({
      status: 'declined',
      category: 'payment_method_declined',
      subCategory: 'lost_stolen_card',
      retryable: 'newCard',
      confirmed: true,
    });
  });

  test('that pends is answered as pending, and a signed webhook settles it', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    const pending = await stack.holdfast.charge(input);
    expect(pending).toMatchObject({ status: 'pending', waitingFor: 'settlement' });
    await stack.sandbox.complete(pending.transactionId ?? '', { status: 'Succeed' });
    const status = await until(
      () => stack.holdfast.status(input.reference),
      ({ outcome }) => outcome !== undefined,
    );
    expect(status.outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
  });

  test('whose webhook is lost is settled by a poll', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    await stack.sandbox.addFault({ action: 'lose_event', reconciliation_id: input.reference });
    const pending = await stack.holdfast.charge(input);
    expect(pending.status).toBe('pending');
    await stack.sandbox.complete(pending.transactionId ?? '', {
      status: 'Failed',
      category: 'payment_method_declined',
    });
    const status = await until(
      () => stack.holdfast.status(input.reference),
      ({ outcome }) => outcome !== undefined,
    );
    expect(status.outcome).toMatchObject({ status: 'declined', evidence: { knownBy: 'poll' } });
  });

  test('whose reply is dropped after the service acted still moves money once', async () => {
    const input = await chargeInput(stack.sandbox);
    await stack.sandbox.addFault({
      action: 'drop_reply',
      method: 'POST',
      path: '*/charges',
      reconciliation_id: input.reference,
      times: 1,
    });
    expect(await stack.holdfast.charge(input)).toMatchObject({ status: 'succeeded' });
    const movements = (await stack.sandbox.ledger(input.reference)).filter(({ status }) => status === 'Succeed');
    expect(movements).toHaveLength(1);
  });
});
