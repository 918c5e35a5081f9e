import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { ParkedEventNote } from '../client/start-parked-event.js';
import { MEMO_KEYS, parkedEventWorkflowId } from '../contract/names.js';
import { isUndecodable } from '../contract/undecodable.js';
import { latestRuns } from './latest-runs.js';
import { eventsOfPrefix, eventsQuery } from './visibility-query.js';

export const EVENT_STATUSES = ['parked', 'unclaimed', 'delivered'] as const;
export type EventStatus = (typeof EVENT_STATUSES)[number];

/** A parked event, as visibility knows it: that may lag by a second. Times are ISO 8601 UTC. */
export interface ListedEvent extends Partial<ParkedEventNote> {
  /** What `replayEvents` takes. */
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
  /** Default: those that are parked or unclaimed. */
  statuses?: readonly EventStatus[];
  /** Only those that somebody has to look at. */
  needsOperator?: boolean;
  paymentId?: string;
  /** Default 100. */
  limit?: number;
}

const PREFIX = parkedEventWorkflowId('');
const DEFAULT_LIMIT = 100;
const LIST_MS = 30_000;
const PAGE = 100;

/** The events that are parked, newest first. `holdfast events list`. */
export async function listEvents(client: Client, options: ListEventsOptions = {}): Promise<ListedEvent[]> {
  const { limit = DEFAULT_LIMIT } = options;
  const found: ListedEvent[] = [];
  if (limit < 1) return found;
  return await client.withDeadline(Date.now() + LIST_MS, async () => {
    for await (const page of pages(client, eventsQuery(options))) {
      const closed = page.filter(({ status }) => status.name !== 'RUNNING').map(({ workflowId }) => workflowId);
      // One that was tried again has several runs: what the older ones say of it is no longer true.
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

/** Hashes that begin so, at most two: whoever asks wants to know whether it is one. */
export async function hashesThatBegin(client: Client, prefix: string): Promise<string[]> {
  const hashes = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query: eventsOfPrefix(PREFIX + prefix) })) {
    hashes.add(workflowId.slice(PREFIX.length));
    if (hashes.size > 1) break;
  }
  return [...hashes];
}

/** The id that the service shows of an event, which begins with that of its payment. */
const EVENT_ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-\d{4}-\d\d-.{1,100}$/i;
/** One payment has a handful. */
const MOST_OF_A_PAYMENT = 1_000;

/** The payment that such an id names; undefined for any other text. */
export function paymentOfEventId(name: string): string | undefined {
  return EVENT_ID.exec(name)?.[1];
}

/** Hashes of the parked events that the service shows by this id: several where it sent different texts under one. */
export async function hashesOfEventId(client: Client, eventId: string): Promise<string[]> {
  const paymentId = paymentOfEventId(eventId);
  if (paymentId === undefined) return [];
  const events = await listEvents(client, { paymentId, statuses: EVENT_STATUSES, limit: MOST_OF_A_PAYMENT });
  return events.filter((event) => event.eventId === eventId).map(({ hash }) => hash);
}

function listed(run: WorkflowExecutionInfo): ListedEvent {
  const attributes = Object.fromEntries(run.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
  const text = (name: string): string => (typeof attributes[name] === 'string' ? attributes[name] : '');
  const note: unknown = run.memo?.[MEMO_KEYS.parkedEvent];
  return {
    ...(typeof note === 'object' && note !== null && !isUndecodable(note) && (note as ParkedEventNote)),
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
