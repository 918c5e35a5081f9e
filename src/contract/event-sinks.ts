import type { TransactionEvent } from './messages.js';

/** What a worker records of an event that carries a trace. A type and no interface: the SDK asks for index signatures. */
export type EventSinks = {
  events: { heard(event: Pick<TransactionEvent, 'hash' | 'eventType' | 'traceparent'>): void };
};
