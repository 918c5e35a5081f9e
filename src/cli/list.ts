import type { Client } from '@temporalio/client';
import { flowRow, type FlowRow, goesOn } from './flow-row.js';
import { latestRuns, visibilityQuery, type ListOptions } from './visibility-query.js';

const PAGE = 100;
/** Time limit of a whole listing, in ms. Visibility answers in milliseconds. */
const LIST_MS = 30_000;

export interface Listing {
  rows: FlowRow[];
  /** True if more flows match than are shown. */
  more: boolean;
}

/**
 * The matching flows, open ones first, newest first. Reads visibility only: it needs no worker and no query of a flow,
 * and may lag by a second.
 */
export async function listFlows(client: Client, options: ListOptions, now: Date): Promise<Listing> {
  return await client.withDeadline(Date.now() + LIST_MS, async () => {
    const rows: FlowRow[] = [];
    for await (const page of pages(client, visibilityQuery(options, now))) {
      for (const row of await latestRows(client, page)) {
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
 * Leaves out runs that a later run of the same id has replaced, as after a reset: their attributes no longer describe
 * the flow.
 */
async function latestRows(client: Client, page: readonly Found[]): Promise<FlowRow[]> {
  const closed = page.filter(({ row }) => !goesOn(row)).map(({ row }) => row.workflowId);
  const latest = await latestRuns(client, closed);
  return page.flatMap(({ row, runId }) => ((latest.get(row.workflowId) ?? runId) === runId ? [row] : []));
}
