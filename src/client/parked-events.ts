import type { Client } from '@temporalio/client';
import type { TransactionEvent } from '../contract/messages.js';
import { WORKFLOW_TYPES } from '../contract/names.js';
import { isSealed, NOT_FOR_THIS_FLOW } from '../contract/payload-marks.js';
import { parkedEventInputSchema, type ParsedParkedEventInput } from '../contract/parked-event.js';
import { eventsOf } from './earlier-runs.js';
import { contextOf, decode } from './ended-flow.js';

/** Somebody else than a webhook handler has started the flow of this event, which refuses it too. */
class InClearError extends Error {}

/**
 * The events of a payment that wait for a person: they contradict how their flow has ended, or name a transaction that it
 * does not know. Without those in clear, and without copies. The list lags by seconds.
 * @throws UndecodableError without the key
 */
export async function parkedEventsOf(client: Client, paymentId: string): Promise<TransactionEvent[]> {
  const query = `WorkflowType = "${WORKFLOW_TYPES.parkedEvent}" AND PaymentId = "${paymentId}" AND NeedsOperator = true`;
  const events: TransactionEvent[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    try {
      events.push((await parkedInputOf(client, workflowId, runId)).event);
    } catch (error) {
      if (!(error instanceof InClearError)) throw error;
    }
  }
  return events;
}

/**
 * The event itself is stored only in the input of its workflow.
 * @throws UndecodableError without the key; Error for one that came in clear or is a copy, which anybody may have done
 */
export async function parkedInputOf(
  client: Client,
  workflowId: string,
  runId: string,
): Promise<ParsedParkedEventInput> {
  for await (const event of eventsOf(client, workflowId, runId)) {
    const [payload] = event.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    const input = await decode(payload, client.options.loadedDataConverter, {
      what: 'the event',
      context: contextOf(client, workflowId),
    });
    if (!isSealed(input))
      throw new InClearError(
        `the event of ${workflowId} ${NOT_FOR_THIS_FLOW}, and no webhook handler does that: it is no event of the service`,
      );
    return parkedEventInputSchema.parse(input);
  }
  throw new Error(`${workflowId} is no longer kept`);
}
