import type { TransactionEvent } from './messages.js';

/** Records an event that carries a trace. A type instead of an interface: the SDK requires index signatures. */
export type EventSinks = {
  events: { received(event: Pick<TransactionEvent, 'hash' | 'eventType' | 'traceparent'>): void };
};
