import { proxySinks } from '@temporalio/workflow';
import type { EventSinks } from '../../src/contract/event-sinks.js';
import type { TransactionEvent } from '../../src/contract/messages.js';

/** Continues the trace in which the event came. Writes nothing into the history. */
export function noteEvent({ hash, eventType, traceparent }: TransactionEvent): void {
  if (traceparent === undefined) return;
  proxySinks<EventSinks>().events.heard({ hash, eventType, traceparent });
}
