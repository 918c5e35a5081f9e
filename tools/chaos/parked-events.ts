import type { Client } from '@temporalio/client';
import type { RetryNow } from '../../src/contract/messages.js';
import { parkedEventWorkflowId, QUERY_NAMES, UPDATE_NAMES } from '../../src/contract/names.js';

const ANSWER_MS = 5_000;
const PARKED = parkedEventWorkflowId('');

/**
 * What an operator does once an outage is over: an event that found neither its flow nor the service during the faults
 * would look again minutes later.
 */
export async function wakeParked(temporal: Client, workflowIds: readonly string[]): Promise<void> {
  for (const workflowId of workflowIds.filter((id) => id.startsWith(PARKED))) {
    const request: RetryNow = {};
    await temporal
      .withDeadline(Date.now() + ANSWER_MS, () =>
        temporal.workflow.getHandle(workflowId).executeUpdate(UPDATE_NAMES.retryNow, { args: [request] }),
      )
      // It may just have ended; whoever is left is asked again.
      .catch(() => undefined);
  }
}

/** Why a flow is still open, in its own words. */
export async function whyOpen(temporal: Client, workflowId: string): Promise<string> {
  const said = await temporal
    .withDeadline(Date.now() + ANSWER_MS, () =>
      temporal.workflow.getHandle(workflowId).query<string>(QUERY_NAMES.explain),
    )
    .catch((error: unknown) => `it does not say why (${String(error)})`);
  return `${workflowId}: the flow is still open. ${said}`;
}
