import {
  type Client,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
  isGrpcServiceError,
  QueryNotRegisteredError,
} from '@temporalio/client';
import { messageOf } from '../contract/message-of.js';
import { parkedEventWorkflowId } from '../contract/names.js';
import { isInClear, isUndecodable, NOT_FOR_THIS_FLOW } from '../contract/payload-marks.js';
import type { Engine } from './engine.js';
import { CommandError } from './errors.js';
import { hashesOfEventId, hashesThatBegin, paymentOfEventId } from './events.js';
import { candidateIds } from './flow-row.js';
import { printable } from './table.js';
import { flowsOfPayment } from './visibility-query.js';

const FIND_MS = 15_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** First digits of a parked event's hash, as `events list` shows them. */
const EVENT = /^[0-9a-f]{8,63}$/;
/** Temporal's maximum length of a workflow id. */
const MAX_NAME = 1_000;

interface Found {
  flow: WorkflowExecutionDescription;
  /** Workflow ids of other flows that match the same name. */
  others: string[];
}

/**
 * Finds a flow by a reference, a workflow id, a payment id, or the hash or id of an event. For the id of an event that
 * is not parked, it is the flow of the payment, which has received the event.
 * @throws CommandError when no flow is found
 */
export async function findFlow(engine: Engine, name: string): Promise<Found> {
  const [flow, ...others] = await findFlows(engine, name);
  return { flow, others: others.map(({ workflowId }) => workflowId) };
}

/** All that match the same name, the most likely one first. @throws CommandError when no flow is found */
export async function findFlows(
  { client, address, namespace }: Engine,
  name: string,
): Promise<[WorkflowExecutionDescription, ...WorkflowExecutionDescription[]]> {
  const ids = name.length <= MAX_NAME ? candidateIds(name) : [];
  const [flow, ...others] = await client.withDeadline(Date.now() + FIND_MS, async () => {
    const named = await described(client, ids);
    if (named.length > 0) return named;
    if (UUID.test(name)) return await described(client, await ofPayment(client, name));
    const payment = paymentOfEventId(name);
    if (payment !== undefined) {
      const parked = (await hashesOfEventId(client, name)).map(parkedEventWorkflowId);
      return await described(client, parked.length > 0 ? parked : await ofPayment(client, payment));
    }
    return EVENT.test(name) ? await described(client, await ofEvent(client, name)) : named;
  });
  if (flow !== undefined) return [flow, ...others];
  const shown = JSON.stringify(printable(name.length > 100 ? `${name.slice(0, 100)}...` : name));
  throw new CommandError(
    `No flow is known by ${shown} in namespace "${namespace}" at ${address}. Check the spelling, or look for it with: ` +
      'npx holdfast list. A flow is kept for as long as the namespace keeps closed workflows.',
  );
}

async function described(client: Client, ids: readonly string[]): Promise<WorkflowExecutionDescription[]> {
  const found = await Promise.all(ids.map((id) => describedIfThere(client, id)));
  return found.filter((flow) => flow !== undefined);
}

/** Reads the server's state instead of visibility, so that a flow is found right after its start. */
async function describedIfThere(client: Client, id: string): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.workflow.getHandle(id).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

async function ofEvent(client: Client, digits: string): Promise<string[]> {
  return (await hashesThatBegin(client, digits)).map(parkedEventWorkflowId);
}

async function ofPayment(client: Client, paymentId: string): Promise<string[]> {
  const ids = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query: flowsOfPayment(paymentId) })) ids.add(workflowId);
  return [...ids];
}

/** The answer of a flow, or a sentence that says why there is none. */
type Said<Answer> = { answer: Answer } | { silence: string };

/** gRPC codes. After our deadline a call ends with either of the first two, depending on which side notices first. */
const CANCELLED = 1;
const DEADLINE_EXCEEDED = 4;
const FAILED_PRECONDITION = 9;

/**
 * Sends a query to a run. Only a worker can answer it, even after the flow has ended; without one, this gives up after
 * `waitMs`.
 */
export async function askFlow<Answer>(
  client: Client,
  run: { workflowId: string; runId: string },
  query: string,
  waitMs: number,
): Promise<Said<Answer>> {
  try {
    const handle = client.workflow.getHandle(run.workflowId, run.runId);
    const answer = await client.withDeadline(Date.now() + waitMs, () => handle.query<Answer>(query));
    if (isInClear(answer))
      return {
        silence: `its answer ${NOT_FOR_THIS_FLOW}, and no worker gives one so: somebody else runs this workflow`,
      };
    if (!isUndecodable(answer)) return { answer };
    return {
      silence: `its answer can't be decoded (${answer.holdfastUndecodable}): give this command the worker's HOLDFAST_ENCRYPTION_KEYS`,
    };
  } catch (error) {
    return { silence: whySilent(error, query, waitMs) };
  }
}

function whySilent(error: unknown, query: string, waitMs: number): string {
  if (error instanceof QueryNotRegisteredError) return `flows of this type answer no query "${query}"`;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = isGrpcServiceError(cause) ? cause.code : undefined;
  if (code === DEADLINE_EXCEEDED || code === CANCELLED) {
    return `no worker answered within ${waitMs / 1_000} s; start one with npm run worker`;
  }
  if (code === FAILED_PRECONDITION) return `no worker could answer (${messageOf(cause)})`;
  return `the query failed (${messageOf(cause)})`;
}
