import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair, SearchAttributeType } from '@temporalio/common';
import { FLOWS } from '../contract/flows.js';
import { MEMO_KEYS } from '../contract/names.js';
import { needsPerson, type ParkedEventInput, type ParkReason } from '../contract/parked-event.js';
import { cutAttribute } from '../contract/search-attributes.js';

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

/** The memo of a parked event, which lists show. Encrypted, as every memo. */
export interface ParkedEventNote {
  /** The event id that the service shows. */
  eventId?: string;
  eventType: string;
  created: string;
  transactionId?: string;
  reference?: string;
  /** Why it was parked. */
  reason: ParkReason;
}

/**
 * Starts `parkedEvent` for an event. `once`: parking the event again finds the first flow, open or ended. `again`: an
 * operator restarts it after it has ended.
 */
export async function startParkedEvent(
  client: Client,
  input: ParkedEventInput,
  how: 'once' | 'again',
): Promise<'parked' | 'known'> {
  const { event, reason } = input;
  const { type, title, taskQueue, workflowId } = FLOWS.parkedEvent;
  try {
    await client.workflow.start(type, {
      workflowId: workflowId(input),
      taskQueue,
      args: [input],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: how === 'once' ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
      memo: { [MEMO_KEYS.parkedEvent]: noteOf(input) },
      typedSearchAttributes: attributesOf(input),
      staticSummary: `${title} ${event.eventType}: ${reason}`,
    });
    return 'parked';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'known';
    throw error;
  }
}

function attributesOf({ event, reason }: ParkedEventInput): SearchAttributePair[] {
  return [
    { key: keyword('PaymentStatus'), value: 'parked' },
    { key: keyword('WaitingFor'), value: 'flow' },
    { key: keyword('PaymentId'), value: cutAttribute(event.paymentId) },
    { key: keyword('BusinessUnit'), value: event.businessUnit },
    { key: defineSearchAttributeKey('NeedsOperator', SearchAttributeType.BOOL), value: needsPerson(reason) },
  ];
}

function noteOf({ event, reason }: ParkedEventInput): ParkedEventNote {
  const { eventId, eventType, created, transactionId, reconciliationId } = event;
  return {
    ...(eventId !== undefined && { eventId }),
    eventType,
    created,
    reason,
    ...(transactionId !== undefined && { transactionId }),
    ...(reconciliationId !== undefined && { reference: reconciliationId }),
  };
}
