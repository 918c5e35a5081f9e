import { type Client, type WorkflowExecutionDescription, WorkflowFailedError } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { WORKFLOW_TYPES } from '../contract/names.js';
import { isSealed } from '../contract/payload-marks.js';
import { type FlowFacts, UnreadableFlow } from '../contract/reconcile.js';
import { described, eventsOf, runsBefore } from './earlier-runs.js';
import { contextOf, decode, paymentOfHistory, requireDecoded } from './ended-flow.js';
import { actionsSoFar } from './open-run.js';
import { speakingRun } from './speaking-run.js';
import { UndecodableError } from './undecodable.js';

type InHistory = Pick<FlowFacts, 'paymentId' | 'result' | 'openResult' | 'unreadable'>;

/** What only the history of a flow has. Without the key that is nothing, and why. */
export async function inHistory(
  client: Client,
  run: WorkflowExecutionDescription,
  { type, state, paymentId }: Pick<FlowFacts, 'type' | 'state' | 'paymentId'>,
): Promise<InHistory> {
  const { workflowId, runId } = run;
  try {
    const created = paymentId === undefined ? await createdBy(client, run, state) : undefined;
    const result = run.status.name === 'COMPLETED' ? await resultOf(client, workflowId, runId) : undefined;
    const openResult =
      type === WORKFLOW_TYPES.paymentActions && result === undefined
        ? await actionsSoFar(client, workflowId, state === 'open')
        : undefined;
    return {
      ...(created !== undefined && { paymentId: created }),
      ...(result !== undefined && { result }),
      ...(openResult !== undefined && { openResult }),
    };
  } catch (error) {
    if (error instanceof UndecodableError) return { unreadable: sayUnreadable(workflowId, error) };
    throw error;
  }
}

function sayUnreadable(workflowId: string, { message }: UndecodableError): string {
  return `what ${workflowId} has done can't be read: ${message}`;
}

/** A flow shows its payment once it waits for something: one that was stopped before has it in its history. */
async function createdBy(
  client: Client,
  { workflowId, runId }: WorkflowExecutionDescription,
  state: FlowFacts['state'],
): Promise<string | undefined> {
  if (state !== 'stopped') return undefined;
  const events = eventsOf(client, workflowId, runId);
  return (await paymentOfHistory(events, { client, workflowId }))?.paymentId;
}

/** @throws UndecodableError without the key: a flow whose result can't be read would look as if it knew of no money */
async function resultOf(client: Client, workflowId: string, runId: string): Promise<unknown> {
  try {
    const result: unknown = requireDecoded(await client.workflow.getHandle(workflowId, runId).result());
    // One in clear was written by nobody of ours.
    return isSealed(result) ? result : undefined;
  } catch (error) {
    if (error instanceof WorkflowFailedError) return undefined;
    throw error;
  }
}

/**
 * What a call says that has made or read the payment of the flow: a worker notes there how its unit is configured. A run
 * that continues another may have made none.
 * @throws UndecodableError without the key
 */
export async function madeUnderOf(client: Client, workflowId: string): Promise<string | undefined> {
  const latest = await described(client, workflowId, undefined);
  if (latest === undefined) return undefined;
  const { runId } = await speakingRun(client, latest);
  let noted = await madeUnderIn(client, workflowId, runId);
  if (noted !== undefined) return noted;
  for (const before of await runsBefore(client, workflowId, runId))
    noted ??= await madeUnderIn(client, workflowId, before);
  return noted;
}

async function madeUnderIn(client: Client, workflowId: string, runId: string): Promise<string | undefined> {
  const context = contextOf(client, workflowId);
  for await (const event of eventsOf(client, workflowId, runId)) {
    const ofCall = event.activityTaskCompletedEventAttributes?.result;
    const ofLocalCall = event.markerRecordedEventAttributes?.details?.['result'];
    const [payload] = (ofCall ?? ofLocalCall)?.payloads ?? [];
    const noted = await notedIn(client, payload, context);
    if (noted !== undefined) return noted;
  }
  return undefined;
}

async function notedIn(
  client: Client,
  payload: Payload | undefined,
  context: ReturnType<typeof contextOf>,
): Promise<string | undefined> {
  const answer = await decode(payload, client.options.loadedDataConverter, { context });
  if (typeof answer !== 'object' || answer === null || !isSealed(answer)) return undefined;
  // A payment that is read with all that belongs to it is one part of the answer.
  const { madeUnder, payment } = answer as { madeUnder?: unknown; payment?: { madeUnder?: unknown } };
  const noted = madeUnder ?? payment?.madeUnder;
  return typeof noted === 'string' ? noted : undefined;
}

/** Of what can't be read without the key, so that no money is judged by it; any other failure as it is. */
export const orUnreadable =
  (workflowId: string) =>
  (error: unknown): never => {
    throw error instanceof UndecodableError ? new UnreadableFlow(sayUnreadable(workflowId, error)) : error;
  };
