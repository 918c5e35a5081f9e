import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { expect, test } from 'vitest';
import type { Engine } from '../../src/cli/engine.js';
import { explainFlow } from '../../src/cli/explain.js';
import { flowRow } from '../../src/cli/flow-row.js';
import { flowTable } from '../../src/cli/table.js';

const NOW = new Date('2027-01-31T00:00:00Z');
const PAUSED = {
  ...{ workflowId: 'payment-order-1', runId: 'r', type: 'charge', status: { code: 8, name: 'PAUSED' }, startTime: NOW },
  ...{ typedSearchAttributes: new TypedSearchAttributes([]), raw: {} },
} as unknown as WorkflowExecutionDescription;

test('a flow that is paused in Temporal has not ended: nobody may act in its place', async () => {
  const handle = { query: () => Promise.reject(new Error('it is paused')) };
  const workflow = { getHandle: () => handle };
  const client = { workflow, withDeadline: (_at: number, ask: () => unknown) => ask() } as unknown as Client;
  const { explanation } = await explainFlow({ client } as Engine, PAUSED, NOW, 1_000);
  const said = explanation.join(' ');
  expect(said).not.toContain('has ended');
  expect(said).toContain('is paused in Temporal');
  expect(said).toContain('Never repeat it under a new reference.');
  expect(said).toContain('(open since');
  expect(flowTable([flowRow(PAUSED, NOW)])[1]).toMatch(/ {2}paused in Temporal$/);
});
