import type { Client } from '@temporalio/client';
import type { TransactionEvent } from '../contract/messages.js';
import { WORKFLOW_TYPES } from '../contract/names.js';
import { parkedEventInputSchema, type ParsedParkedEventInput } from '../contract/parked-event.js';
import { eventsOf } from './earlier-runs.js';
import { decode } from './ended-flow.js';

/**
 * The events of a payment that wait for a person: they contradict how their flow has ended, or name a transaction that it
 * does not know. The list lags by seconds.
 * @throws UndecodableError without the key
 */
export async function parkedEventsOf(client: Client, paymentId: string): Promise<TransactionEvent[]> {
  const query = `WorkflowType = "${WORKFLOW_TYPES.parkedEvent}" AND PaymentId = "${paymentId}" AND NeedsOperator = true`;
  const events: TransactionEvent[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query }))
    events.push((await parkedInputOf(client, workflowId, runId)).event);
  return events;
}

/**
 * The event itself is stored only in the input of its workflow.
 * @throws UndecodableError without the key
 */
export async function parkedInputOf(
  client: Client,
  workflowId: string,
  runId: string,
): Promise<ParsedParkedEventInput> {
  for await (const event of eventsOf(client, workflowId, runId)) {
    const [payload] = event.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    return parkedEventInputSchema.parse(await decode(payload, client.options.loadedDataConverter, 'the event'));
  }
  throw new Error(`${workflowId} is no longer kept`);
}
