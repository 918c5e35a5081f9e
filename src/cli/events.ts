import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { ParkedEventRecord } from '../client/event-sink.js';
import { MEMO_KEYS, parkedEventWorkflowId } from '../contract/names.js';
import { isUndecodable } from '../contract/payload-marks.js';
import { latestRuns, eventsOfPrefix, eventsQuery } from './visibility-query.js';
import { isOpen } from '../client/is-open.js';

export const EVENT_STATUSES = ['parked', 'unclaimed', 'delivered'] as const;
export type EventStatus = (typeof EVENT_STATUSES)[number];

/** A parked event as visibility stores it, which may lag by a second. Times are ISO 8601 UTC. */
export interface ListedEvent extends Partial<ParkedEventRecord> {
  /** Hash of the event; argument of `replayEvents`. */
  hash: string;
  workflowId: string;
  status: EventStatus;
  needsOperator: boolean;
  paymentId: string;
  businessUnit: string;
  parkedAt: string;
  closedAt?: string;
}

export interface ListEventsOptions {
  /** Default: parked and unclaimed. */
  statuses?: readonly EventStatus[];
  /** Only events that need an operator. */
  needsOperator?: boolean;
  paymentId?: string;
  /** Default 100. */
  limit?: number;
}

const PREFIX = parkedEventWorkflowId('');
const DEFAULT_LIMIT = 100;
const LIST_MS = 30_000;
const PAGE = 100;

/** `holdfast events list`: the parked events, newest first. */
export async function listEvents(client: Client, options: ListEventsOptions = {}): Promise<ListedEvent[]> {
  const { limit = DEFAULT_LIMIT } = options;
  const found: ListedEvent[] = [];
  if (limit < 1) return found;
  return await client.withDeadline(Date.now() + LIST_MS, async () => {
    for await (const page of pages(client, eventsQuery(options))) {
      const closed = page.filter(({ status }) => !isOpen(status)).map(({ workflowId }) => workflowId);
      // A replayed event has several runs; the data of its older runs are outdated.
      const latest = await latestRuns(client, closed);
      for (const run of page) {
        if ((latest.get(run.workflowId) ?? run.runId) !== run.runId) continue;
        found.push(listed(run));
        if (found.length >= limit) return found;
      }
    }
    return found;
  });
}

async function* pages(client: Client, query: string): AsyncGenerator<WorkflowExecutionInfo[]> {
  let page: WorkflowExecutionInfo[] = [];
  for await (const run of client.workflow.list({ query, pageSize: PAGE })) {
    page.push(run);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}

/** Hashes that start with the prefix, at most two: callers only check whether there is exactly one. */
export async function hashesThatBegin(client: Client, prefix: string): Promise<string[]> {
  const hashes = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query: eventsOfPrefix(PREFIX + prefix) })) {
    hashes.add(workflowId.slice(PREFIX.length));
    if (hashes.size > 1) break;
  }
  return [...hashes];
}

/** Event id as the service shows it; starts with the payment id. */
const EVENT_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-\d{4}-\d\d-.{1,100}$/i;
/** Limit of events per payment; a payment usually has only a few. */
const MOST_OF_A_PAYMENT = 1_000;

/** Payment id in an event id; undefined for any other text. */
export function paymentOfEventId(name: string): string | undefined {
  return EVENT_ID.exec(name)?.[1];
}

/** Hashes of the parked events with this event id: several if the service sent different texts with the same id. */
export async function hashesOfEventId(client: Client, eventId: string): Promise<string[]> {
  const paymentId = paymentOfEventId(eventId);
  if (paymentId === undefined) return [];
  const events = await listEvents(client, { paymentId, statuses: EVENT_STATUSES, limit: MOST_OF_A_PAYMENT });
  return events.filter((event) => event.eventId === eventId).map(({ hash }) => hash);
}

function listed(run: WorkflowExecutionInfo): ListedEvent {
  const attributes = Object.fromEntries(run.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
  const text = (name: string): string => (typeof attributes[name] === 'string' ? attributes[name] : '');
  const record: unknown = run.memo?.[MEMO_KEYS.parkedEvent];
  return {
    ...(typeof record === 'object' && record !== null && !isUndecodable(record) && (record as ParkedEventRecord)),
    hash: run.workflowId.slice(PREFIX.length),
    workflowId: run.workflowId,
    status: EVENT_STATUSES.find((status) => status === attributes['PaymentStatus']) ?? 'parked',
    needsOperator: attributes['NeedsOperator'] === true,
    paymentId: text('PaymentId'),
    businessUnit: text('BusinessUnit'),
    parkedAt: run.startTime.toISOString(),
    ...(run.closeTime !== undefined && { closedAt: run.closeTime.toISOString() }),
  };
}
