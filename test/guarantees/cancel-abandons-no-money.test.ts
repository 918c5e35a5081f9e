import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WorkflowExecutionStatusName } from '@temporalio/client';
import type { ChargeInput } from '../../src/contract/charge.js';
import type { FaultInput } from '../../sandbox/control.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { flowOf, plantOnce, startRaw, untilEvent } from '../support/flows.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { startStack } from '../support/stack.js';
import { type StackWithExpectations, withExpectations } from '../support/expected-ledger.js';
import { askUntilFinal } from '../support/ask-charges.js';
import { until } from '../support/until.js';

const CHARGES = '*/charges';
const WHO = { who: 'ann@finance', why: 'seen on the settlement file' };

let stack: StackWithExpectations;
beforeAll(async () => {
  stack = withExpectations(await startStack({ pendingMs: 3_600_000, webhook: false }));
});
afterAll(async () => {
  await stack?.close();
});

/** Asks and does not wait: how this caller fares is what the engine's absence tests are about. */
async function start(input: ChargeInput): Promise<void> {
  void stack.holdfast.charge(input, { waitFor: 0 }).catch(() => undefined);
  await untilEvent(stack, input, 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED');
}

async function cancel(input: ChargeInput): Promise<void> {
  await flowOf(stack, input).cancel();
}

async function untilCancelSeen(input: ChargeInput): Promise<void> {
  await until(
    () => stack.holdfast.status(input.reference),
    ({ cancelRequested }) => cancelRequested,
  );
}

async function untilClosed(input: ChargeInput): Promise<WorkflowExecutionStatusName> {
  const { status } = await until(
    () => flowOf(stack, input).describe(),
    (flow) => flow.status.name !== 'RUNNING',
  );
  return status.name;
}

async function expectAnswerOfLedger(input: ChargeInput, status: string): Promise<void> {
  const asked = await askUntilFinal(stack.holdfast, input, 30_000);
  expect(asked.answer?.status).toBe(status);
  expect(auditCharges([asked], await stack.sandbox.ledger(input.reference))).toEqual([]);
  expect(await untilClosed(input)).toBe('COMPLETED');
}

async function pendingAndCancelled(): Promise<{ input: ChargeInput; transactionId: string }> {
  const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
  const { transactionId } = await stack.holdfast.charge(input);
  await cancel(input);
  await untilCancelSeen(input);
  return { input, transactionId: transactionId ?? '' };
}

test.concurrent(
  'a charge that is cancelled while it is in flight, inside its first task, ends as the ledger says',
  async () => {
    const input = await chargeInput(stack.sandbox);
    const slow = await plantOnce(stack, input, { action: 'delay', method: 'POST', path: CHARGES, delay_ms: 1_500 });
    await start(input);
    await slow.met();
    await cancel(input);
    await expectAnswerOfLedger(input, 'succeeded');
  },
);

test.concurrent(
  'a charge that is cancelled while it is in flight later still answers its caller and its operator',
  async () => {
    const input = await chargeInput(stack.sandbox);
    const slow = await plantOnce(stack, input, { action: 'delay', method: 'POST', path: CHARGES, delay_ms: 4_000 });
    await startRaw(stack, input);
    await slow.met();
    await cancel(input);
    await untilCancelSeen(input);

    expect(await stack.holdfast.charge(input, { waitFor: 200 })).toMatchObject({ status: 'unknown' });
    await expect(
      stack.holdfast.settleManually(input.reference, { status: 'notExecuted', ...WHO }),
    ).rejects.toMatchObject({ type: 'StateConflict', message: expect.stringContaining('still being tried') });
    expect(await stack.holdfast.explain(input.reference)).toContain('A cancel was asked for; it is recorded');
    await expectAnswerOfLedger(input, 'succeeded');
  },
);

test.concurrent('a pending charge that is cancelled still answers, and ends as the ledger says', async () => {
  const { input, transactionId } = await pendingAndCancelled();
  expect(await stack.holdfast.charge(input)).toMatchObject({ status: 'pending', transactionId });
  await stack.sandbox.complete(transactionId, { status: 'Failed', category: 'payment_method_declined' });
  await stack.holdfast.retryNow(input.reference);
  await expectAnswerOfLedger(input, 'declined');
});

test.concurrent('a pending charge that is cancelled can still be settled by an operator, who is answered', async () => {
  const { input, transactionId } = await pendingAndCancelled();
  // The service has not ended it, and is believed less than who has seen the file.
  stack.expected.except(input.reference, /status was told as Succeed, the ledger says Pending|is still pending/);
  const outcome = await stack.holdfast.settleManually(input.reference, { status: 'succeeded', ...WHO });
  expect(outcome).toMatchObject({ status: 'succeeded', transactionId, evidence: { operator: WHO } });
  expect(await stack.holdfast.charge(input)).toEqual(outcome);
});

test.concurrent(
  'a charge that is cancelled while its payment goes unanswered is not sent once the service is back',
  async () => {
    const input = await chargeInput(stack.sandbox);
    const away: FaultInput = { action: 'status', method: 'POST', path: '/payments', status: 503 };
    const { id } = await stack.sandbox.addFault({ ...away, reconciliation_id: input.reference });
    expect(await stack.holdfast.charge(input, { waitFor: 300 })).toMatchObject({ status: 'unknown' });
    await cancel(input);
    await untilCancelSeen(input);
    await stack.sandbox.removeFault(id);
    await stack.holdfast.retryNow(input.reference);

    await expectNothingSent(input);
  },
);

test('a charge that is cancelled before anything was sent sends nothing, and its reference stays used', async () => {
  const inputs = await Promise.all([chargeInput(stack.sandbox), chargeInput(stack.sandbox)]);
  const { payments } = await stack.sandbox.health();
  await stack.stopWorker();
  const [byClient, raw] = inputs;
  await start(byClient);
  await startRaw(stack, raw);
  await Promise.all(inputs.map(cancel));
  await stack.startWorker();

  await Promise.all(inputs.map(expectNothingSent));
  expect((await stack.sandbox.health()).payments).toBe(payments);
});

async function expectNothingSent(input: ChargeInput): Promise<void> {
  expect(await untilClosed(input)).toBe('CANCELLED');
  expect(await stack.holdfast.status(input.reference)).toMatchObject({ status: 'cancelled', cancelRequested: true });
  await expect(stack.holdfast.charge(input)).rejects.toMatchObject({ type: 'FlowStopped' });
  expect(await stack.sandbox.ledger(input.reference)).toEqual([]);
}

test('all that was told in any of this is what the ledger says', async () => {
  await expect(stack.expected.check()).resolves.toBeUndefined();
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
