import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ChargeInput } from '../../src/contract/charge.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { differencesFromLedger } from '../support/ledger-check.js';
import type { TestStack } from '../support/stack.js';
import { startStack } from '../support/stack.js';
import { askUntilFinal } from '../support/storm.js';

const HOUR = 3_600_000;

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ pendingMs: 300 });
});
afterAll(async () => {
  await stack?.close();
});

/** Resets the flow's first run to just after each of its workflow tasks in turn; returns how often. */
async function resetToEachTask({ reference }: ChargeInput): Promise<number> {
  const workflowId = `payment-${reference}`;
  const { raw } = await stack.temporal.workflow.getHandle(workflowId).describe();
  const runId = raw.workflowExecutionInfo?.firstRunId ?? '';
  const { events } = await stack.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  for (const { eventId } of tasks) {
    const reset = await stack.temporal.workflowService.resetWorkflowExecution({
      namespace: stack.namespace,
      workflowExecution: { workflowId, runId },
      workflowTaskFinishEventId: eventId ?? null,
      requestId: randomUUID(),
      reason: 'test',
    });
    await stack.temporal.workflow.getHandle(workflowId, reset.runId).result();
  }
  return tasks.length;
}

describe.each<[string, string]>([
  ['succeeded', CARDS.succeeds],
  ['was declined', CARDS.declines],
  ['pended first', CARDS.pendsThenSucceeds],
])('a charge that %s', (_, card) => {
  beforeAll(async () => {
    // The mock's own decline is one that is read again after 5 s, and so at each reset.
    const category = { category: 'payment_method_declined' };
    await stack.sandbox.clearFaults();
    if (card === CARDS.declines) await stack.sandbox.addFault({ action: 'result', status: 'Failed', ...category });
  });

  test.each([
    ['at once', 0],
    ['after the service has forgotten its keys', 25 * HOUR],
  ])(
    'and is reset to each of its workflow tasks %s ends alike and sends nothing new',
    async (_when, later) => {
      const input = await chargeInput(stack.sandbox, card);
      const { answer } = await askUntilFinal(stack.holdfast, input, 20_000);
      const { payments } = await stack.sandbox.health();
      const ledger = await stack.sandbox.ledger(input.reference);
      expect(differencesFromLedger([{ input, answer }], ledger)).toEqual([]);
      if (later > 0) await stack.sandbox.advanceClock(later);

      expect(await resetToEachTask(input)).toBeGreaterThan(0);
      expect(await stack.sandbox.ledger(input.reference)).toEqual(ledger);
      expect((await stack.sandbox.health()).payments).toBe(payments);
      const again = await stack.holdfast.charge(input);
      expect({ ...again, evidence: undefined }).toEqual({ ...answer, evidence: undefined });
    },
    60_000,
  );
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
