import type { WorkflowExecutionDescription, WorkflowExecutionInfo } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { FLOWS } from '../contract/flows.js';
import type { FlowStatus } from '../contract/messages.js';
import { isOpen } from '../client/is-open.js';

/**
 * A flow as visibility stores it, without a query to a worker. The first seven fields are always present, null if not
 * known. Times are ISO 8601 UTC.
 */
export interface FlowRow {
  reference: string;
  workflowId: string;
  type: string;
  status: string | null;
  waitingFor: string | null;
  /** Start of an open flow, end of a closed one. */
  since: string;
  /** Time at which an operator is asked, or another deadline of the flow. */
  dueAt: string | null;
  /** Temporal's status of the run: running, paused, completed, failed, cancelled, terminated, timedOut. */
  execution: string;
  needsOperator: boolean;
  /** The flow is open and its `DueAt` in visibility has passed. */
  overdue: boolean;
  /** Minor units. */
  amount?: number;
  currency?: string;
  paymentId?: string;
  businessUnit?: string;
  provider?: string;
  subCategory?: string;
}

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
const KEYS = {
  status: keyword('PaymentStatus'),
  waitingFor: keyword('WaitingFor'),
  paymentId: keyword('PaymentId'),
  businessUnit: keyword('BusinessUnit'),
  provider: keyword('Provider'),
  subCategory: keyword('SubCategory'),
  currency: keyword('Currency'),
  needsOperator: defineSearchAttributeKey('NeedsOperator', SearchAttributeType.BOOL),
  dueAt: defineSearchAttributeKey('DueAt', SearchAttributeType.DATETIME),
  amount: defineSearchAttributeKey('AmountMinor', SearchAttributeType.INT),
};

export function flowRow(info: WorkflowExecutionInfo | WorkflowExecutionDescription, now: Date): FlowRow {
  const { workflowId, type, typedSearchAttributes: attributes, startTime, closeTime } = info;
  const execution = executionOf(info.status.name);
  const dueAt = attributes.get(KEYS.dueAt);
  const amount = attributes.get(KEYS.amount);
  const texts = Object.entries({
    currency: attributes.get(KEYS.currency),
    paymentId: attributes.get(KEYS.paymentId),
    businessUnit: attributes.get(KEYS.businessUnit),
    provider: attributes.get(KEYS.provider),
    subCategory: attributes.get(KEYS.subCategory),
  }).filter(([, value]) => value !== undefined);
  return {
    reference: referenceOf(workflowId, type),
    workflowId,
    type,
    status: attributes.get(KEYS.status) ?? null,
    waitingFor: attributes.get(KEYS.waitingFor) ?? null,
    since: (closeTime ?? startTime).toISOString(),
    dueAt: dueAt?.toISOString() ?? null,
    execution,
    needsOperator: attributes.get(KEYS.needsOperator) ?? false,
    overdue: isOpen(info.status) && dueAt !== undefined && dueAt < now,
    ...(amount !== undefined && { amount }),
    ...Object.fromEntries(texts),
  };
}

/**
 * Replaces fields with the flow's own status, because search attributes are updated rarely. `dueAt` is then the end of
 * the current wait, and `since` the time at which the current status began.
 */
export function withStatus(row: FlowRow, status: FlowStatus): FlowRow {
  const { reference, since, dueAt, needsOperator, paymentId, amount, currency, businessUnit } = status;
  return {
    ...row,
    reference: reference ?? row.reference,
    status: status.status ?? row.status,
    waitingFor: status.waitingFor ?? row.waitingFor,
    since: since ?? row.since,
    dueAt: dueAt ?? null,
    needsOperator: needsOperator ?? row.needsOperator,
    ...(paymentId !== undefined && { paymentId }),
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    ...(businessUnit !== undefined && { businessUnit }),
  };
}

/** Converts `TIMED_OUT` to `timedOut`, also for names that a later server adds. */
function executionOf(name: string): string {
  return name.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** One that is paused goes on as soon as somebody lets it. */
export function goesOn({ execution }: Pick<FlowRow, 'execution'>): boolean {
  return isOpen({ name: execution.toUpperCase() });
}

/** True if the flow was terminated or timed out, so that nothing follows its money any more. */
export function wasStopped({ execution }: Pick<FlowRow, 'execution'>): boolean {
  return execution === 'terminated' || execution === 'timedOut';
}

const PREFIXES: ReadonlyMap<string, string> = new Map(
  Object.values(FLOWS).map(({ type, idPrefix }) => [type, idPrefix]),
);

/**
 * The reference of a flow: the caller's reference, or the payment or transaction id that the workflow id contains.
 * For a workflow id of unknown form, the whole id.
 */
function referenceOf(workflowId: string, type: string): string {
  const prefix = PREFIXES.get(type) ?? FLOWS.charge.idPrefix;
  return workflowId.startsWith(prefix) ? workflowId.slice(prefix.length) : workflowId;
}

/** The workflow ids that a name can stand for, most likely first. */
export function candidateIds(name: string): string[] {
  return [name, ...[...new Set(PREFIXES.values())].map((prefix) => `${prefix}${name}`)];
}
