import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { BRAKES_WORKFLOW } from '../contract/brakes.js';
import { NOTIFICATIONS_WORKFLOW, OUTGOING_WORKFLOW, PAYMENTS_TASK_QUEUE, WORKFLOW_TYPES } from '../contract/names.js';
import { isOpen, OPEN } from '../client/is-open.js';
import { oneOf, quoted } from '../client/visibility-words.js';

/** Filters of `list`. Empty lists and false mean: any. */
export interface ListOptions {
  stuck: boolean;
  open: boolean;
  statuses: readonly string[];
  waitingFor: readonly string[];
  businessUnits: readonly string[];
  limit: number;
}

/** Open for ever, and nobody waits for them. */
const NOT_LISTED = [NOTIFICATIONS_WORKFLOW, OUTGOING_WORKFLOW, BRAKES_WORKFLOW];
const PARKED = `WorkflowType = '${WORKFLOW_TYPES.parkedEvent}'`;
/** All our task queues start with that of payments. The namespace may also contain workflows of other applications. */
export const OURS = `TaskQueue STARTS_WITH "${PAYMENTS_TASK_QUEUE}"`;

/** The same of one that was described. */
export function isOurs({ taskQueue }: Pick<WorkflowExecutionInfo, 'taskQueue'>): boolean {
  return taskQueue.startsWith(PAYMENTS_TASK_QUEUE);
}

/**
 * Visibility query for the requested flows. Excludes runs that continued as new, because a later run has replaced them.
 * A terminated flow counts as stuck, because nothing follows its money.
 */
export function visibilityQuery(options: ListOptions, now: Date): string {
  const clauses = [
    OURS,
    NOT_LISTED.map((type) => `WorkflowType != '${type}'`).join(' AND '),
    'ExecutionStatus != "ContinuedAsNew"',
  ];
  if (options.open) clauses.push(OPEN);
  if (options.stuck) {
    clauses.push(
      `(NeedsOperator = true OR DueAt < "${now.toISOString()}" OR ExecutionStatus IN ("Terminated", "TimedOut"))`,
    );
  }
  if (options.statuses.length > 0) clauses.push(oneOf('PaymentStatus', options.statuses));
  if (options.waitingFor.length > 0) clauses.push(oneOf('WaitingFor', options.waitingFor));
  if (options.businessUnits.length > 0) clauses.push(oneOf('BusinessUnit', options.businessUnits));
  return clauses.join(' AND ');
}

/** Every run of these workflow ids. */
function runsOf(workflowIds: readonly string[]): string {
  return oneOf('WorkflowId', workflowIds);
}

/** Every run of ours that ended at `from` or later, and before `to`. */
export function closedBetween(from: Date, to: Date): string {
  return `${OURS} AND CloseTime >= "${from.toISOString()}" AND CloseTime < "${to.toISOString()}"`;
}

/** Every flow of one payment. */
export function flowsOfPayment(paymentId: string): string {
  return `${OURS} AND PaymentId = ${quoted(paymentId)} AND ExecutionStatus != "ContinuedAsNew"`;
}

/** Parked events with one of the given statuses. */
export function eventsQuery({
  statuses = ['parked', 'unclaimed'],
  needsOperator,
  paymentId,
}: {
  statuses?: readonly string[];
  needsOperator?: boolean;
  paymentId?: string;
}): string {
  const clauses = [PARKED, oneOf('PaymentStatus', statuses)];
  if (needsOperator !== undefined) clauses.push(`NeedsOperator = ${String(needsOperator)}`);
  if (paymentId !== undefined) clauses.push(`PaymentId = ${quoted(paymentId)}`);
  return clauses.join(' AND ');
}

/** Every run of the parked events whose workflow ids start with the prefix. */
export function eventsOfPrefix(prefix: string): string {
  return `${PARKED} AND WorkflowId STARTS_WITH ${quoted(prefix)}`;
}

const PAGE = 1_000;

/** Run id of the latest run of each workflow id: the open run, else the one that started last. */
export async function latestRuns(client: Client, workflowIds: readonly string[]): Promise<Map<string, string>> {
  const latest = new Map<string, { runId: string; started: Date; open: boolean }>();
  if (workflowIds.length === 0) return new Map();
  for await (const run of client.workflow.list({ query: runsOf([...new Set(workflowIds)]), pageSize: PAGE })) {
    const open = isOpen(run.status);
    const other = latest.get(run.workflowId);
    if (other === undefined || open || (!other.open && run.startTime > other.started)) {
      latest.set(run.workflowId, { runId: run.runId, started: run.startTime, open });
    }
  }
  return new Map([...latest].map(([workflowId, { runId }]) => [workflowId, runId]));
}
