import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CARDS, chargeInput } from '../support/charges.js';
import { startStack } from '../support/stack.js';
import { type StackWithExpectations, withExpectations } from '../support/expected-ledger.js';
import { until } from '../support/until.js';

let stack: StackWithExpectations;
beforeAll(async () => {
  stack = withExpectations(await startStack());
});
afterEach(async () => {
  await stack.expected.check();
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

describe('the evidence of a final result', () => {
  const WHO = { who: 'Grace Hopper', why: 'seen in the back office' };

  test.each(['reply', 'webhook', 'poll', 'operator'] as const)(
    'says how it is known (by %s), by which requests and when, and explain shows it',
    async (knownBy) => {
      const input = await chargeInput(stack.sandbox, knownBy === 'reply' ? CARDS.succeeds : CARDS.pendsThenSucceeds);
      const { reference } = input;
      if (knownBy !== 'webhook') await stack.sandbox.addFault({ action: 'lose_event', reconciliation_id: reference });
      const { transactionId = '' } = await stack.holdfast.charge(input);
      if (knownBy === 'operator') await stack.holdfast.settleManually(reference, { status: 'succeeded', ...WHO });
      else if (knownBy !== 'reply') await stack.sandbox.complete(transactionId, { status: 'Succeed' });
      if (knownBy === 'poll') await stack.holdfast.retryNow(reference);
      const { outcome } = await until(
        () => stack.holdfast.status(reference),
        (status) => status.outcome !== undefined,
      );

      const evidence = outcome !== undefined && 'evidence' in outcome ? outcome.evidence : undefined;
      expect({ outcome }).toMatchObject({ outcome: { status: 'succeeded', transactionId } });
      expect(evidence).toMatchObject({ knownBy, attempts: 1, ...(knownBy === 'operator' && { operator: WHO }) });
      // At least those of the payment and of the charge.
      expect(evidence?.requestIds.length).toBeGreaterThanOrEqual(2);
      expect(Date.parse(evidence?.settledAt ?? '')).toBeGreaterThanOrEqual(Date.parse(evidence?.startedAt ?? ''));
      const explained = await stack.holdfast.explain(reference);
      for (const part of [`known by ${knownBy}`, transactionId, ...(evidence?.requestIds ?? [])]) {
        expect(explained).toContain(part);
      }
    },
  );
});
