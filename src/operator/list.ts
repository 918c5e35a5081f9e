import type { Client } from '@temporalio/client';
import { flowRow, type FlowRow } from './flow-row.js';
import { runsOf, visibilityQuery, type ListOptions } from './visibility-query.js';

const PAGE = 100;
/** Of a whole listing. Visibility answers in milliseconds. */
const LIST_MS = 30_000;

export interface Listing {
  rows: FlowRow[];
  /** Others match as well. */
  more: boolean;
}

/**
 * The flows that match, open ones first, the newest first. From visibility alone: it needs no worker, costs no
 * query of a flow, and may be a second behind.
 */
export async function listFlows(client: Client, options: ListOptions, now: Date): Promise<Listing> {
  return await client.withDeadline(Date.now() + LIST_MS, async () => {
    const rows: FlowRow[] = [];
    for await (const page of pages(client, visibilityQuery(options, now))) {
      for (const row of await latestRuns(client, page, now)) {
        if (rows.length === options.limit) return { rows, more: true };
        if (!rows.some(({ workflowId }) => workflowId === row.workflowId)) rows.push(row);
      }
    }
    return { rows, more: false };
  });
}

type Found = { row: FlowRow; runId: string };

async function* pages(client: Client, query: string): AsyncGenerator<Found[]> {
  const now = new Date();
  let page: Found[] = [];
  for await (const info of client.workflow.list({ query, pageSize: PAGE })) {
    page.push({ row: flowRow(info, now), runId: info.runId });
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}

/**
 * Leaves out runs that another run of the same id has followed, as after a reset: what such a run says of itself
 * is no longer true of the flow.
 */
async function latestRuns(client: Client, page: readonly Found[], now: Date): Promise<FlowRow[]> {
  const closed = page.filter(({ row }) => row.execution !== 'running').map(({ row }) => row.workflowId);
  if (closed.length === 0) return page.map(({ row }) => row);
  const latest = new Map<string, { runId: string; started: Date; open: boolean }>();
  for await (const run of client.workflow.list({ query: runsOf([...new Set(closed)]), pageSize: 10 * PAGE })) {
    const open = flowRow(run, now).execution === 'running';
    const other = latest.get(run.workflowId);
    if (other === undefined || open || (!other.open && run.startTime > other.started)) {
      latest.set(run.workflowId, { runId: run.runId, started: run.startTime, open });
    }
  }
  return page.flatMap(({ row, runId }) => ((latest.get(row.workflowId)?.runId ?? runId) === runId ? [row] : []));
}
