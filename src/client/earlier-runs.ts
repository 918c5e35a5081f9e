import {
  type Client,
  isGrpcServiceError,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { LatestResult } from '../contract/engine-port.js';
import { MEMO_KEYS, WORKFLOW_TYPES } from '../contract/names.js';
import { isSealed, isUndecodable, whyUndecodable } from '../contract/payload-marks.js';
import { keyword } from './start-options.js';
import { UndecodableError } from './undecodable.js';

/** Resets create runs; no payment flow has more than this under one workflow id. */
const MAX_RUNS = 50;
/** Events per page: a long history is read in pages, and only as far as needed. */
const PAGE = 250;

/** Value of memo `takesOver`: no earlier run existed when Holdfast's client started this one. */
export const NO_RUN = 'none';

type Page = Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistory']>>;
type Event = NonNullable<NonNullable<Page['history']>['events']>[number];

/** Other runs of the workflow id, newest first. Visibility lags, so this list alone must not decide anything. */
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

/** @throws Error while the list does not show the run itself, and may lack others */
export async function allOtherRuns(
  client: Client,
  workflowId: string,
  ownRunId: string | undefined,
): Promise<string[]> {
  const { runs, showsOwn } = await otherRuns(client, workflowId, ownRunId);
  if (!showsOwn) throw new Error(`Visibility does not list run ${ownRunId} of ${workflowId} yet: it lags`);
  return runs;
}

/** Finds the flow by the search attribute `PaymentId`, which a flow sets once it waits for something. Lists lag a little. */
export async function findFlowOfPayment(
  { workflow }: Client,
  paymentId: string,
  workflowIds: RegExp,
): Promise<string | undefined> {
  const query = `PaymentId = "${paymentId}" AND WorkflowType != "${WORKFLOW_TYPES.paymentActions}"`;
  for await (const { workflowId } of workflow.list({ query })) if (workflowIds.test(workflowId)) return workflowId;
  return undefined;
}

/** Reads a history from its first event, page by page. Yields nothing for a run that retention has deleted. */
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

/** Runs that this run was reset from or continues, nearest first. Read from histories, which never lag. */
export async function runsBefore(client: Client, workflowId: string, ownRunId: string): Promise<string[]> {
  const runs: string[] = [];
  for (let at: string | undefined = ownRunId; at !== undefined && runs.length < MAX_RUNS;) {
    at = await cameFrom(client, workflowId, at);
    if (at !== undefined) runs.push(at);
  }
  return runs;
}

/** Activities that send money to or from a card, and those that list what was sent. */
const SENDS: ReadonlySet<unknown> = new Set(['createCharge', 'createAuthorization', 'createCredit']);
const LISTS: ReadonlySet<unknown> = new Set(['listCharges', 'listAuthorizations', 'listCredits']);

/**
 * A run of the flow that this one knows nothing of and that may have sent money: the same run was reset twice. None where
 * this run has itself looked at the service since its reset. A run that a reset made sends nothing locally, so that its
 * history shows all that it has sent. That a run ended as not executed clears it of nothing: a later one may know better.
 * @throws Error while the visibility list, which lags, may not have all runs
 */
export async function siblingThatSent(
  client: Client,
  workflowId: string,
  ownRunId: string,
): Promise<string | undefined> {
  if (await someOf(client, workflowId, ownRunId, new Looks())) return undefined;
  const runs = await allOtherRuns(client, workflowId, ownRunId);
  const known = await runsBefore(client, workflowId, ownRunId);
  const sends = { note: (event: Event) => SENDS.has(event.activityTaskScheduledEventAttributes?.activityType?.name) };
  for (const runId of runs.filter((each) => !known.includes(each)))
    if (await someOf(client, workflowId, runId, sends)) return runId;
  return undefined;
}

/** Whether a list of what was sent was read. */
class Looks {
  readonly #lists = new Set<string>();

  note({
    eventId,
    activityTaskScheduledEventAttributes: call,
    activityTaskCompletedEventAttributes: end,
  }: Event): boolean {
    if (LISTS.has(call?.activityType?.name)) this.#lists.add(String(eventId));
    return end != null && this.#lists.has(String(end.scheduledEventId));
  }
}

/** Whether a run has some such event of its own: what a reset has copied is of the run that it was made of. */
async function someOf(
  client: Client,
  workflowId: string,
  runId: string,
  wanted: { note(event: Event): boolean },
): Promise<boolean> {
  let found = false;
  for await (const event of eventsOf(client, workflowId, runId)) {
    if (event.workflowTaskFailedEventAttributes?.newRunId === runId) found = false;
    else found = wanted.note(event) || found;
  }
  return found;
}

async function cameFrom(client: Client, workflowId: string, runId: string): Promise<string | undefined> {
  const base = await baseOf(client, workflowId, runId);
  if (base !== undefined) return base;
  for await (const event of eventsOf(client, workflowId, runId))
    return event.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  return undefined;
}

/** Id of the run that was reset to make this one; undefined if this run was not made by a reset. */
export async function baseOf(client: Client, workflowId: string, runId: string): Promise<string | undefined> {
  for await (const event of eventsOf(client, workflowId, runId)) {
    // A reset copies the first event unchanged, so only in a run without a reset does it name that run itself.
    if (event.workflowExecutionStartedEventAttributes?.originalExecutionRunId === runId) return undefined;
    const failed = event.workflowTaskFailedEventAttributes;
    if (failed?.newRunId === runId && failed.baseRunId) return failed.baseRunId;
  }
  return undefined;
}

/** True for a run that has failed before it had a payment: it was refused, and has done nothing. */
export function wasRefused({ status, typedSearchAttributes }: WorkflowExecutionDescription): boolean {
  return status.name === 'FAILED' && typedSearchAttributes.get(keyword('PaymentId')) === undefined;
}

/**
 * Result of the latest run of the workflow id or, with `ownRunId`, of the run before that one. If that run left no
 * result, the earlier ones are tried. Reads single runs, which are never stale. Queries visibility only when neither
 * a reset nor the memo names an earlier run.
 */
export async function latestResult(client: Client, workflowId: string, ownRunId?: string): Promise<LatestResult> {
  const seen = new Set<string>();
  let ofLatestRun = true;
  const resultOf = async (run: WorkflowExecutionDescription): Promise<LatestResult | undefined> => {
    const { runId, status, type } = run;
    if (status.name === 'COMPLETED') {
      const result: unknown = await client.workflow.getHandle(workflowId, runId).result();
      const businessUnit = run.typedSearchAttributes.get(keyword('BusinessUnit'));
      if (isSealed(result))
        return { result, workflowType: type, ofLatestRun, ...(businessUnit !== undefined && { businessUnit }) };
    }
    // A run that was reset or terminated has no result, and one in clear is none of ours; the run before it may have one.
    if (status.name !== 'CONTINUED_AS_NEW' && !wasRefused(run)) ofLatestRun = false;
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
  const runs = await allOtherRuns(client, workflowId, ownRunId);
  for (const runId of runs.filter((each) => !seen.has(each))) {
    const run = await described(client, workflowId, runId);
    const found = run === undefined ? undefined : await resultOf(run);
    if (found !== undefined) return found;
  }
  return nothing();
}

/**
 * undefined when neither a reset nor the memo names an earlier run.
 * @throws UndecodableError without the key of that memo
 */
async function runBefore(
  client: Client,
  workflowId: string,
  { runId, memo }: WorkflowExecutionDescription,
): Promise<string | undefined> {
  const base = await baseOf(client, workflowId, runId);
  if (base !== undefined) return base;
  const takesOver: unknown = memo?.[MEMO_KEYS.takesOver];
  if (isUndecodable(takesOver))
    throw new UndecodableError(
      `This process can't decode the memo of ${workflowId} (${whyUndecodable(takesOver)}): give it the missing key`,
    );
  return typeof takesOver === 'string' ? takesOver : undefined;
}

/** undefined when the run does not exist or was deleted by retention. */
export async function described(
  client: Client,
  workflowId: string,
  runId: string | undefined,
): Promise<WorkflowExecutionDescription | undefined> {
  return await unlessGone(() => client.workflow.getHandle(workflowId, runId).describe());
}

/** Retention can delete a run that visibility still lists; the answer is then undefined. */
export async function unlessGone<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
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
  // Raw calls report it as a gRPC code. An unknown namespace has the same code, but it is an error here.
  return (
    isGrpcServiceError(error) &&
    error.code === NOT_FOUND &&
    /^workflow (execution )?(history )?not found/i.test(error.details)
  );
}
