import { type Client, isGrpcServiceError, QueryNotRegisteredError } from '@temporalio/client';
import { isUndecodable } from '../contract/undecodable.js';
import { messageOf } from './errors.js';

/** The answer of a flow, or a sentence that says why there is none. */
export type Said<Answer> = { answer: Answer } | { silence: string };

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
