import type { Client } from '@temporalio/client';
import { runsOf } from './visibility-query.js';

const PAGE = 1_000;

/** Run id of the latest run of each workflow id: the open run, else the one that started last. */
export async function latestRuns(client: Client, workflowIds: readonly string[]): Promise<Map<string, string>> {
  const latest = new Map<string, { runId: string; started: Date; open: boolean }>();
  if (workflowIds.length === 0) return new Map();
  for await (const run of client.workflow.list({ query: runsOf([...new Set(workflowIds)]), pageSize: PAGE })) {
    const open = run.status.name === 'RUNNING';
    const other = latest.get(run.workflowId);
    if (other === undefined || open || (!other.open && run.startTime > other.started)) {
      latest.set(run.workflowId, { runId: run.runId, started: run.startTime, open });
    }
  }
  return new Map([...latest].map(([workflowId, { runId }]) => [workflowId, runId]));
}
