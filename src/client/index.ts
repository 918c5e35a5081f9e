export { connectHoldfast } from './connect.js';
export type { ConnectOptions } from './connect.js';
export { HoldfastClient } from './holdfast-client.js';
export type { FlowRef, WaitOptions } from './holdfast-client.js';
export type { CommandAnswer, PaymentRef } from './send-command.js';
export { HoldfastError } from './errors.js';
export type { HoldfastErrorType } from './errors.js';
export { createEventSink } from './event-sink.js';
export type { Delivery, EventSink } from './event-sink.js';
