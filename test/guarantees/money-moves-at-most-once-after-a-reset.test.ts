import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ChargeInput } from '../../src/contract/charge.js';
import type { FaultInput } from '../../src/sandbox/control.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { startRaw } from '../support/flows.js';
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

interface Road {
  card?: string;
  /** Without our client: both calls are regular activities, and there is a task for each. */
  raw?: boolean;
  faults?: FaultInput[];
}

const CHARGES = { method: 'POST', path: '*/charges' } as const;
const ROADS: [string, Road][] = [
  ['succeeded', {}],
  // The mock's own decline is one that is read again after 5 s, and so at each reset.
  [
    'was declined',
    { faults: [{ ...CHARGES, action: 'result', status: 'Failed', category: 'payment_method_declined' }] },
  ],
  ['pended first', { card: CARDS.pendsThenSucceeds }],
  ['was started raw', { raw: true }],
  ['was not answered at its first try', { faults: [{ ...CHARGES, action: 'status', status: 503, times: 1 }] }],
  ['took the money unheard', { faults: [{ ...CHARGES, action: 'drop_reply', times: 1 }] }],
];

describe.each(ROADS)('a charge that %s', (_, { card, raw = false, faults = [] }) => {
  test.each([
    ['at once', 0],
    ['after the service has forgotten its keys', 25 * HOUR],
  ])(
    'and is reset to each of its workflow tasks %s ends alike and sends nothing new',
    async (_when, later) => {
      const input = await chargeInput(stack.sandbox, card);
      for (const fault of faults) await stack.sandbox.addFault({ ...fault, reconciliation_id: input.reference });
      if (raw) await startRaw(stack, input);
      const { answer } = await askUntilFinal(stack.holdfast, input, 20_000);
      const { payments } = await stack.sandbox.health();
      const ledger = await stack.sandbox.ledger(input.reference);
      expect(differencesFromLedger([{ input, answer }], ledger)).toEqual([]);
      if (later > 0) await stack.sandbox.advanceClock(later);

      expect(await resetToEachTask(input)).toBeGreaterThanOrEqual(raw ? 3 : 1);
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
