import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChargeInput, ChargeOutcome } from '../../src/contract/charge.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { startStack, type TestStack } from '../support/stack.js';
import { until } from '../support/until.js';

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ pendingMs: 600_000 });
  await stack.sandbox.addFault({ action: 'lose_event' });
});
afterAll(async () => {
  await stack?.close();
});

/** A charge that pends while every event is lost. */
async function pendingCharge(card: string): Promise<{ input: ChargeInput; transactionId: string }> {
  const input = await chargeInput(stack.sandbox, card);
  const { status, transactionId = '' } = await stack.holdfast.charge(input);
  expect(status).toBe('pending');
  return { input, transactionId };
}

async function finalAnswer(input: ChargeInput): Promise<ChargeOutcome> {
  const { outcome } = await until(
    () => stack.holdfast.status(input.reference),
    (status) => status.outcome !== undefined,
  );
  return outcome as ChargeOutcome;
}

async function expectAsInLedger(input: ChargeInput, answer: ChargeOutcome): Promise<void> {
  expect(auditCharges([{ input, answer }], await stack.sandbox.ledger(input.reference))).toEqual([]);
}

describe('a charge whose every event is lost', () => {
  test.each(['Succeed', 'Failed'] as const)('and that ends as %s is settled by the next poll', async (status) => {
    const { input, transactionId } = await pendingCharge(CARDS.pendsThenSucceeds);
    await stack.sandbox.complete(transactionId, { status });
    const answer = await finalAnswer(input);
    expect(answer).toMatchObject({ evidence: { knownBy: 'poll' } });
    await expectAsInLedger(input, answer);
  });

  test('is settled at once when somebody asks it to look now', async () => {
    const { input, transactionId } = await pendingCharge(CARDS.pendsThenFails);
    await stack.sandbox.complete(transactionId, { status: 'Failed', category: 'payment_method_declined' });
    await stack.holdfast.retryNow(input.reference);
    const answer = await finalAnswer(input);
    expect(answer).toMatchObject({ status: 'declined', evidence: { knownBy: 'poll' } });
    await expectAsInLedger(input, answer);
  });

  test('and that can not be read either is settled by an operator, who is kept with the result', async () => {
    const { input, transactionId } = await pendingCharge(CARDS.pendsThenSucceeds);
    await stack.sandbox.addFault({ action: 'status', method: 'GET', status: 404, reconciliation_id: input.reference });
    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
    const decision = { status: 'succeeded', who: 'ops@example.com', why: 'seen in the dashboard' } as const;
    const answer = await stack.holdfast.settleManually(input.reference, decision);
    const { who, why } = decision;
    expect(answer).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'operator', operator: { who, why } } });
    const repeated = await stack.holdfast.charge(input);
    expect(repeated).toEqual(answer);
    await expectAsInLedger(input, repeated);
  });

  test('and whose reply was lost is found by polling, though nothing more can be sent', async () => {
    const input = await chargeInput(stack.sandbox);
    const here = { method: 'POST', path: '*/charges', reconciliation_id: input.reference } as const;
    await stack.sandbox.addFault({ action: 'drop_reply', times: 1, ...here });
    await stack.sandbox.addFault({ action: 'status', status: 503, ...here });
    expect(await stack.holdfast.charge(input, { waitFor: 500 })).toMatchObject({ status: 'unknown' });
    const answer = await finalAnswer(input);
    expect(answer).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    await expectAsInLedger(input, answer);
  });

  test('is not settled by an operator who is wrong: the service is read first, and its word wins', async () => {
    const { input, transactionId } = await pendingCharge(CARDS.pendsThenSucceeds);
    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
    const decision = { status: 'declined', who: 'ops@example.com', why: 'a mistake' } as const;
    await expect(stack.holdfast.settleManually(input.reference, decision)).rejects.toMatchObject({
      type: 'StateConflict',
    });
    await expectAsInLedger(input, await finalAnswer(input));
  });
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
