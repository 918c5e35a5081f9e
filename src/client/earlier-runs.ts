import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { LatestResult } from '../contract/engine-port.js';
import { MEMO_KEYS } from '../contract/names.js';
import { isUndecodable } from '../contract/undecodable.js';

/** Resets make runs; more than this under one id is no payment any more. */
const MAX_RUNS = 50;
/** Events of one answer: a history of years is read in many, and only as far as it has to be. */
const PAGE = 250;

/** In `takesOver`: when our client opened the run, there was no other. */
export const NO_RUN = 'none';

type Page = Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistory']>>;
type Event = NonNullable<NonNullable<Page['history']>['events']>[number];

/** Every other run under the id that visibility lists, newest first. It lags, and so it never decides alone. */
export async function otherRuns(
  client: Client,
  workflowId: string,
  ownRunId?: string,
): Promise<{ runs: string[]; showsOwn: boolean }> {
  const runs: string[] = [];
  let showsOwn = ownRunId === undefined;
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) {
    if (runId === ownRunId) showsOwn = true;
    else runs.push(runId);
    if (runs.length >= MAX_RUNS) break;
  }
  return { runs, showsOwn };
}

/** A history from its beginning, page by page. Of a run that is not kept any more there is nothing. */
export async function* eventsOf(client: Client, workflowId: string, runId: string): AsyncGenerator<Event> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await unlessGone(() =>
      client.workflowService.getWorkflowExecutionHistory({
        namespace: client.options.namespace,
        execution: { workflowId, runId },
        maximumPageSize: PAGE,
        ...(nextPageToken !== undefined && { nextPageToken }),
      }),
    );
    yield* page?.history?.events ?? [];
    nextPageToken = page?.nextPageToken ?? undefined;
  } while (nextPageToken !== undefined && nextPageToken.length > 0);
}

/** Runs that a run was made from by a reset, or that it continues, the nearest first. By histories, which never lag. */
export async function runsBefore(client: Client, workflowId: string, ownRunId: string): Promise<string[]> {
  const runs: string[] = [];
  for (let at: string | undefined = ownRunId; at !== undefined && runs.length < MAX_RUNS;) {
    at = await cameFrom(client, workflowId, at);
    if (at !== undefined) runs.push(at);
  }
  return runs;
}

async function cameFrom(client: Client, workflowId: string, runId: string): Promise<string | undefined> {
  const base = await baseOf(client, workflowId, runId);
  if (base !== undefined) return base;
  for await (const event of eventsOf(client, workflowId, runId))
    return event.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  return undefined;
}

/** The run from which a reset has made this one. */
export async function baseOf(client: Client, workflowId: string, runId: string): Promise<string | undefined> {
  for await (const event of eventsOf(client, workflowId, runId)) {
    // A reset copies the first event as it was: in a run that none has made it names that run.
    if (event.workflowExecutionStartedEventAttributes?.originalExecutionRunId === runId) return undefined;
    const failed = event.workflowTaskFailedEventAttributes;
    if (failed?.newRunId === runId && failed.baseRunId) return failed.baseRunId;
  }
  return undefined;
}

/**
 * By reads of single runs, which are never stale: the latest run under the id, or the one that the own run was opened
 * after; where that left no result, those before it. A list is asked only where nothing else knows of an earlier run.
 */
export async function latestResult(client: Client, workflowId: string, ownRunId?: string): Promise<LatestResult> {
  const seen = new Set<string>();
  let ofLatestRun = true;
  const resultOf = async ({ runId, status, type }: WorkflowExecutionDescription): Promise<LatestResult | undefined> => {
    if (status.name === 'COMPLETED')
      return { result: await client.workflow.getHandle(workflowId, runId).result(), workflowType: type, ofLatestRun };
    // A run that was reset or terminated left nothing; the one before it may have.
    if (status.name !== 'CONTINUED_AS_NEW') ofLatestRun = false;
    return undefined;
  };
  let isWhole = false;
  for (let run = await described(client, workflowId, ownRunId); run !== undefined && !seen.has(run.runId);) {
    seen.add(run.runId);
    const found = run.runId === ownRunId ? undefined : await resultOf(run);
    if (found !== undefined) return found;
    const before = await runBefore(client, workflowId, run);
    isWhole = before === NO_RUN;
    run = before === undefined || isWhole ? undefined : await described(client, workflowId, before);
    if (before !== undefined && !isWhole && run === undefined) ofLatestRun = false;
  }
  const nothing = (): LatestResult => ({ result: undefined, ofLatestRun: ofLatestRun && ownRunId !== undefined });
  if (isWhole) return nothing();
  const { runs, showsOwn } = await otherRuns(client, workflowId, ownRunId);
  if (!showsOwn) throw new Error(`Visibility does not list run ${ownRunId} of ${workflowId} yet: it lags`);
  for (const runId of runs.filter((each) => !seen.has(each))) {
    const run = await described(client, workflowId, runId);
    const found = run === undefined ? undefined : await resultOf(run);
    if (found !== undefined) return found;
  }
  return nothing();
}

/** Undefined where neither a reset nor our client tells of one. */
async function runBefore(
  client: Client,
  workflowId: string,
  { runId, memo }: WorkflowExecutionDescription,
): Promise<string | undefined> {
  const base = await baseOf(client, workflowId, runId);
  if (base !== undefined) return base;
  const takesOver: unknown = memo?.[MEMO_KEYS.takesOver];
  if (isUndecodable(takesOver))
    throw new Error(`This worker can't decode the memo of ${workflowId} (${takesOver.holdfastUndecodable})`);
  return typeof takesOver === 'string' ? takesOver : undefined;
}

/** Undefined when there is no such run, or none any more. */
async function described(
  client: Client,
  workflowId: string,
  runId: string | undefined,
): Promise<WorkflowExecutionDescription | undefined> {
  return await unlessGone(() => client.workflow.getHandle(workflowId, runId).describe());
}

/** Retention deletes a run before visibility forgets it. */
async function unlessGone<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

const NOT_FOUND = 5;

function isGone(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  // A raw call says it by its code. An unknown namespace has the same one, and is no answer.
  return (
    isGrpcServiceError(error) &&
    error.code === NOT_FOUND &&
    /^workflow (execution )?(history )?not found/i.test(error.details)
  );
}
