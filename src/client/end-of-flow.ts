import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { EndedFlow, StopSignal } from '../contract/engine-port.js';
import { isSealed, isUndecodable } from '../contract/payload-marks.js';
import { decodePayload } from '../security/data-converter.js';
import { contextOf } from './ended-flow.js';
import { isOpen } from './is-open.js';
import { speakingRun } from './speaking-run.js';

const NOT_FOUND = 5;
/** `HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT` */
const CLOSE_EVENT = 2;

/**
 * gRPC code 5 has three meanings here that differ only in their text. A text that is not about the workflow (such as an
 * unknown namespace) counts as an error: otherwise the event would be acknowledged and lost.
 */
export function flowIsGone(error: unknown): 'ended' | 'notFound' | undefined {
  if (!isGrpcServiceError(error) || error.code !== NOT_FOUND) return undefined;
  if (/^workflow execution already completed/i.test(error.details)) return 'ended';
  if (/^workflow (execution )?not found/i.test(error.details)) return 'notFound';
  return undefined;
}

/**
 * Summary of a closed workflow, or undefined while it runs. One question where the flow has a result that names its
 * payment, which nearly all have. Rejects when Temporal does not answer.
 */
export async function readEndedFlow(client: Client, workflowId: string): Promise<EndedFlow | undefined> {
  const { closed } = await closeEventOf(client, workflowId);
  if (closed === undefined) return undefined;
  return (await summaryOf(client, workflowId, closed)) ?? (await described(client, workflowId));
}

/**
 * Waits until the flow ends, by a question that the engine answers at that moment.
 * @param how `note` gets the question, which may outlast the wait by as much as `ms`: a connection that is closed
 * meanwhile throws from the SDK's timer
 * @returns undefined if it is open after `ms` or once `stopping` is aborted, or if no flow has this id
 */
export async function awaitEndOfFlow(
  client: Client,
  workflowId: string,
  { ms, stopping, note }: { ms: number; stopping?: StopSignal | undefined; note: (asked: Promise<unknown>) => void },
): Promise<EndedFlow | undefined> {
  if (stopping?.aborted === true) return undefined;
  const over = new AbortController();
  // Each of the SDK's tries listens: while Temporal is away these are more than the ten that Node takes for a leak.
  setMaxListeners(0, over.signal);
  const stop = (): void => over.abort();
  const timer = setTimeout(stop, ms);
  stopping?.addEventListener('abort', stop, { once: true });
  // The SDK tries a failed call again, and notices no abort meanwhile: it is not waited for.
  const given = new Promise<undefined>((resolve) => {
    over.signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const asked = client.connection.withAbortSignal(over.signal, () =>
    client.connection.withDeadline(Date.now() + ms + ABORT_FIRST_MS, () => askForEnd(client, workflowId, over.signal)),
  );
  note(asked.catch(() => undefined));
  try {
    return await Promise.race([asked, given]);
  } catch (error) {
    if (over.signal.aborted || flowIsGone(error) === 'notFound') return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
    stopping?.removeEventListener('abort', stop);
  }
}

/**
 * Waits for the result of a flow until `at` (epoch ms), as the handle does, which would ask without a pause in the last
 * second before its deadline.
 * @throws what the handle throws; ServiceError, cancelled, when there is no result at that time
 */
export async function resultBefore<Result>(client: Client, workflowId: string, at: number): Promise<Result> {
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const timer = setTimeout(() => over.abort(), at - Date.now());
  try {
    return await client.withAbortSignal(over.signal, () =>
      client.withDeadline(at + ABORT_FIRST_MS, async () => {
        const result: unknown = await client.workflow.getHandle(workflowId).result();
        return result as Result;
      }),
    );
  } finally {
    clearTimeout(timer);
  }
}

/**
 * By how much the deadline, which ends the SDK's tries, comes after the abort: in the last second before a deadline the
 * engine answers at once that the flow is open, however often it is asked.
 */
const ABORT_FIRST_MS = 2_000;
/** Least time from one question to the next: an engine that does not hold them back must not be asked without a pause. */
const ASK_EVERY_MS = 500;

async function askForEnd(client: Client, workflowId: string, signal: AbortSignal): Promise<EndedFlow | undefined> {
  for (let token: Uint8Array | undefined; ;) {
    const askedAt = performance.now();
    const { closed, more } = await closeEventOf(client, workflowId, { wait: { token } });
    if (closed !== undefined) return await summaryOf(client, workflowId, closed);
    // It runs on under another run id.
    if (more === undefined) return undefined;
    token = more;
    await sleep(Math.max(0, askedAt + ASK_EVERY_MS - performance.now()), undefined, { signal });
  }
}

type History = Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistory']>>;
type Event = NonNullable<NonNullable<History['history']>['events']>[number];

/** The last event of a closed workflow. `wait`: the engine answers when it closes, or with a token to ask again. */
export async function closeEventOf(
  client: Client,
  workflowId: string,
  { runId, wait }: { runId?: string; wait?: { token: Uint8Array | undefined } } = {},
): Promise<{ closed?: Event; more?: Uint8Array }> {
  const { history, nextPageToken } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, ...(runId !== undefined && { runId }) },
    historyEventFilterType: CLOSE_EVENT,
    waitNewEvent: wait !== undefined,
    skipArchival: true,
    ...(wait?.token !== undefined && { nextPageToken: wait.token }),
  });
  const closed = history?.events?.at(-1);
  if (closed !== undefined && isClose(closed)) return { closed };
  const isLast = nextPageToken === undefined || nextPageToken === null || nextPageToken.length === 0;
  return isLast ? {} : { more: nextPageToken };
}

/** A run that is continued by another has not ended the flow. */
function isClose(event: Event): boolean {
  return Boolean(
    event.workflowExecutionCompletedEventAttributes ??
    event.workflowExecutionFailedEventAttributes ??
    event.workflowExecutionTimedOutEventAttributes ??
    event.workflowExecutionCanceledEventAttributes ??
    event.workflowExecutionTerminatedEventAttributes,
  );
}

/** undefined unless the flow has a result that names its payment. */
async function summaryOf(client: Client, workflowId: string, closed: Event): Promise<EndedFlow | undefined> {
  const result = await resultOf(client, workflowId, closed);
  const paymentId = (result as { paymentId?: unknown } | undefined)?.paymentId;
  return typeof paymentId === 'string' ? { paymentId, result } : undefined;
}

async function resultOf(client: Client, workflowId: string, closed: Event | undefined): Promise<unknown> {
  const [payload] = closed?.workflowExecutionCompletedEventAttributes?.result?.payloads ?? [];
  const result = await decodePayload(client.options.loadedDataConverter, payload, contextOf(client, workflowId));
  // A result in clear is nobody's of ours, nor is a copy: an event must not be compared with it.
  return isUndecodable(result) || !isSealed(result) ? undefined : result;
}

/** For a flow whose latest run has no such result: what the run that speaks for it shows. */
async function described(client: Client, workflowId: string): Promise<EndedFlow | undefined> {
  const latest = await client.workflow.getHandle(workflowId).describe();
  if (isOpen(latest.status)) return undefined;
  const description = await speakingRun(client, latest);
  const attribute = (name: string) =>
    description.typedSearchAttributes.get(defineSearchAttributeKey(name, SearchAttributeType.KEYWORD));
  const status = attribute('PaymentStatus');
  const paymentId = attribute('PaymentId');
  // Of this run: another may have started meanwhile.
  const { closed } = await closeEventOf(client, workflowId, { runId: description.runId });
  const result = await resultOf(client, workflowId, closed);
  return {
    ...(status !== undefined && { status }),
    ...(paymentId !== undefined && { paymentId }),
    ...(result !== undefined && { result }),
  };
}
