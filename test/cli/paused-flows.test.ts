import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection, type WorkflowExecutionDescription } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { expect, test } from 'vitest';
import { othersQuery, pinnedQuery } from '../../src/cli/deployment.js';
import type { Engine } from '../../src/cli/engine.js';
import { explainFlow } from '../../src/cli/explain.js';
import { listFindings } from '../../src/cli/findings.js';
import { flowRow } from '../../src/cli/flow-row.js';
import { flowTable } from '../../src/cli/table.js';
import { createBulkPort } from '../../src/client/bulk-port.js';
import { OPEN } from '../../src/client/is-open.js';
import { createReconcilePort } from '../../src/client/reconcile-port.js';
import { findingWorkflowId, type FlowFacts } from '../../src/contract/reconcile.js';
import { testDataConverter } from '../support/data-converter.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';
import { environmentOf, holdfast } from './command.js';

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

test('whoever asks a real server for open flows is given those that are paused', async () => {
  const connection = await Connection.connect({ address: await temporalAddress() });
  try {
    const namespace = await claimNamespace();
    const client = new Client({ connection, namespace, dataConverter: testDataConverter() });
    const begin = async (type: string, workflowId: string) => {
      const value = 'default';
      const unit = { key: defineSearchAttributeKey('BusinessUnit', SearchAttributeType.KEYWORD), value };
      const { firstExecutionRunId: runId } = await client.workflow.start(type, {
        ...{ workflowId, taskQueue: 'holdfast-billing', typedSearchAttributes: [unit] },
      });
      const execution = { namespace, workflowId, runId, reason: 'test', identity: 'test', requestId: runId };
      await connection.workflowService.pauseWorkflowExecution(execution);
    };
    const finding = {
      kind: 'moneyWithoutFlow',
      subject: '7b0e7e0c-8b0a-4d8c-9a3e-2f4f0e1d7c55',
    } as const;
    await begin('charge', 'payment-order-1');
    await begin('subscription', 'subscription-club-7');
    await begin('notifications', 'notifications-payment-order-1');
    await begin('finding', findingWorkflowId(finding));
    const count = async (query: string) => (await client.workflow.count(query)).count;
    await until(
      () => count('ExecutionStatus = "Paused"'),
      (paused) => paused === 4,
    );

    const bulk = { businessUnit: 'default', name: 'a', rate: 1, who: 'a', why: 'b', action: { do: 'moveOn' } } as const;
    expect(await createBulkPort(client).targets(bulk, Date.now())).toMatchObject([
      { workflowId: 'subscription-club-7' },
    ]);
    const flows: FlowFacts[] = [];
    const hour = 3_600_000;
    for await (const flow of createReconcilePort(client).flowsBetween(Date.now() - hour, Date.now() + hour))
      flows.push(flow);
    expect(flows).toMatchObject([{ workflowId: 'payment-order-1', state: 'open' }]);
    expect(await listFindings(client, { kinds: [], all: false, limit: 9 })).toMatchObject([finding]);

    const env = await environmentOf(namespace);
    const run = async (...args: string[]) => await holdfast(env, args, { waitMs: 1_000 });
    expect((await run('list', '--open')).out).toMatch(/^order-1 .* paused in Temporal$/m);
    expect((await run('notifications', 'list')).err).toContain('notifications-payment-order-1: ');
    const { replayed } = JSON.parse((await run('replay', '--open', '--json')).out) as { replayed: object };
    expect(replayed).toMatchObject({ charge: 1, subscription: 1 });
    for (const query of [pinnedQuery, othersQuery]) expect(query('holdfast', 'v1')).toContain(OPEN);
  } finally {
    await connection.close();
  }
}, 30_000);

test('nothing that we ship asks for flows that run, which leaves out those that are paused', () => {
  const files = ['src', 'workers', 'activities'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
  );
  const asking = files.filter(({ parentPath, name }) =>
    /ExecutionStatus\W+Running\b(?!", "Paused")/.test(readFileSync(join(parentPath, name), 'utf8')),
  );
  expect(asking.map(({ name }) => name)).toEqual([]);
});
