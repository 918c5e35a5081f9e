import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { RetryNow } from '../../src/contract/messages.js';
import { parkedEventWorkflowId, QUERY_NAMES, UPDATE_NAMES } from '../../src/contract/names.js';

const { EventType, WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;
type HistoryEvent = proto.temporal.api.history.v1.IHistoryEvent;

/** A flow is reported as stuck if one history has more failed workflow tasks than this. */
const MAX_FAILED_TASKS = 3;

const ANSWER_MS = 5_000;
const PARKED = parkedEventWorkflowId('');

/** Number of histories read concurrently. */
const READERS = 8;

const REFUSED_END = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND;

/** Causes that Temporal records as failures but that are no fault of the workflow. */
const HARMLESS = new Set<number | null | undefined>([
  // A message arrived while the workflow was completing, so the server runs the task again with that message.
  REFUSED_END,
  // The flow was reset to this task.
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
]);

const CUT_OFF = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND;

/** One run of a flow, as the namespace lists it. */
interface FlowRun {
  readonly workflowId: string;
  readonly runId: string;
  /** undefined while the run is open. */
  readonly closeTime?: Date;
}

export interface FlowReport {
  /** One sentence per problem. */
  readonly problems: readonly string[];
  /** Workflow tasks that timed out, for example because their worker was killed. */
  readonly lostTasks: number;
  /** Runs whose first workflow task ran again, with its calls, because a message came before its end. */
  readonly firstTasksAgain: number;
}

/** Problems of the flows of a namespace: see `flowReport`. */
export async function flowProblems(temporal: Client): Promise<readonly string[]> {
  return (await flowReport(temporal)).problems;
}

/**
 * Reports problems of the runs of a namespace: a problem that the server reports, a task that is being retried, or
 * failed tasks. The history records only the first of several consecutive failures, so the current attempt of an open
 * run is checked too.
 */
export async function flowReport(temporal: Client): Promise<FlowReport> {
  const problems: string[] = [];
  for await (const { workflowId } of temporal.workflow.list({ query: 'TemporalReportedProblems IS NOT NULL' })) {
    problems.push(`${workflowId}: has TemporalReportedProblems set`);
  }
  const runs = await flowRuns(temporal);
  const ofRuns = await forAll(runs, (run) => lookAt(temporal, run));
  return {
    problems: [...problems, ...ofRuns.flatMap((one) => one.problems)],
    lostTasks: ofRuns.reduce((sum, { lostTasks }) => sum + lostTasks, 0),
    firstTasksAgain: ofRuns.filter(({ firstTaskAgain }) => firstTaskAgain).length,
  };
}

/** Number of events of one type in all histories of a namespace. */
export async function countEvents(temporal: Client, type: keyof typeof EventType): Promise<number> {
  const counts = await forAll(await flowRuns(temporal), async ({ workflowId, runId }) => {
    const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    return events?.filter(({ eventType }) => eventType === EventType[type]).length ?? 0;
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/** A `paymentActions` workflow stays open for a month after its last command. */
const HAS_NOTHING_TO_DO = 'WorkflowType = "paymentActions" AND PaymentStatus = "idle"';

/** Workflow ids of open flows, except those that are idle. */
export async function openFlows(temporal: Client): Promise<string[]> {
  const open: string[] = [];
  const query = `ExecutionStatus = "Running" AND NOT (${HAS_NOTHING_TO_DO})`;
  for await (const { workflowId } of temporal.workflow.list({ query })) {
    open.push(workflowId);
  }
  return open;
}

/**
 * Retries parked events, as an operator does after an outage. Otherwise an event that found neither its flow nor the
 * service during the faults would be retried only minutes later.
 */
export async function wakeParked(temporal: Client, workflowIds: readonly string[]): Promise<void> {
  for (const workflowId of workflowIds.filter((id) => id.startsWith(PARKED))) {
    const request: RetryNow = {};
    await temporal
      .withDeadline(Date.now() + ANSWER_MS, () =>
        temporal.workflow.getHandle(workflowId).executeUpdate(UPDATE_NAMES.retryNow, { args: [request] }),
      )
      // The workflow may just have ended. The caller retries those that are still open.
      .catch(() => undefined);
  }
}

/**
 * Those that wait for anything but a person's look at what a person has done. If such an event comes when the flow of the
 * payment's commands has closed, nothing tells Holdfast what it is about, and it waits to be given up.
 */
export async function withoutKnownToPeople(
  temporal: Client,
  workflowIds: readonly string[],
  paymentIds: ReadonlySet<string | undefined>,
): Promise<string[]> {
  const waits = await forAll(workflowIds, async (workflowId) => {
    if (paymentIds.size === 0 || !workflowId.startsWith(PARKED)) return true;
    const [, paymentId] =
      /of payment (\S+), made .*: it names a transaction that/.exec(await whyOpen(temporal, workflowId)) ?? [];
    return paymentId === undefined || !paymentIds.has(paymentId);
  });
  return workflowIds.filter((_id, index) => waits[index]);
}

/** The flow's own explanation of why it is still open. */
export async function whyOpen(temporal: Client, workflowId: string): Promise<string> {
  const said = await temporal
    .withDeadline(Date.now() + ANSWER_MS, () =>
      temporal.workflow.getHandle(workflowId).query<string>(QUERY_NAMES.explain),
    )
    .catch((error: unknown) => `it does not say why (${String(error)})`);
  return `${workflowId}: the flow is still open. ${said}`;
}

async function flowRuns(temporal: Client): Promise<FlowRun[]> {
  const runs: FlowRun[] = [];
  for await (const { workflowId, runId, closeTime } of temporal.workflow.list()) {
    runs.push({ workflowId, runId, ...(closeTime !== undefined && { closeTime }) });
  }
  return runs;
}

async function lookAt(
  temporal: Client,
  { workflowId, runId, closeTime }: FlowRun,
): Promise<Pick<FlowReport, 'problems' | 'lostTasks'> & { firstTaskAgain: boolean }> {
  const problems: string[] = [];
  const handle = temporal.workflow.getHandle(workflowId, runId);
  const events = (await handle.fetchHistory()).events ?? [];
  const causes = events.flatMap(({ workflowTaskFailedEventAttributes: failed }) => (failed ? [failed.cause] : []));
  // A termination, for example by a reset, also ends a workflow task that is under way.
  const wasTerminated = events.at(-1)?.workflowExecutionTerminatedEventAttributes != null;
  const unexpected = causes.filter((cause) => !HARMLESS.has(cause) && !(wasTerminated && cause === CUT_OFF));
  if (unexpected.length > 0) problems.push(`${workflowId}: workflow tasks failed, ${unexpected.map(nameOf).join()}`);
  if (causes.length > MAX_FAILED_TASKS) problems.push(`${workflowId}: ${causes.length} workflow tasks failed`);
  if (closeTime === undefined) {
    const { raw } = await handle.describe();
    const attempt = raw.pendingWorkflowTask?.attempt ?? 0;
    if (attempt > MAX_FAILED_TASKS) problems.push(`${workflowId}: is at attempt ${attempt} of one workflow task`);
  }
  const lostTasks = events.filter(({ workflowTaskTimedOutEventAttributes: timedOut }) => timedOut).length;
  return { problems, lostTasks, firstTaskAgain: ranFirstTaskAgain(events) };
}

/** The server refuses the end of a task if a message came meanwhile. */
export function ranFirstTaskAgain(events: readonly HistoryEvent[]): boolean {
  const end = events.find(
    (event) => event.workflowTaskCompletedEventAttributes ?? event.workflowTaskFailedEventAttributes,
  );
  return end?.workflowTaskFailedEventAttributes?.cause === REFUSED_END;
}

async function forAll<Item, Answer>(items: readonly Item[], ask: (item: Item) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  const queue = items.entries();
  const reader = async (): Promise<void> => {
    for (const [index, item] of queue) answers[index] = await ask(item);
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return answers;
}

function nameOf(cause: number | null | undefined): string {
  return WorkflowTaskFailedCause[cause ?? 0] ?? String(cause);
}
