export { createWebhookHandler } from './handler.js';
export type { WebhookDeps, WebhookHandler, WebhookLogger, WebhookResponse } from './handler.js';
export type { WebhookUnit } from './key-rings.js';
export { createWebhookMetrics } from './metrics.js';
export type { EventKind, EventResult, WebhookMetrics } from './metrics.js';
export { webhookListener } from './mount.js';
export type { NodeListenerOptions } from './mount.js';
export type { PaymentDetails, PaymentRead } from './route.js';
export { webhookPlugin } from './mount.js';
export type { WebhookPluginOptions } from './mount.js';
export type { Rejection, WebhookRequest } from './read-request.js';
export type { UnusableField } from './transaction-event.js';
export type { WaitEnd } from './await-end.js';
export { SERVICE_SENDERS } from '../security/senders.js';
export { createWebhookServer } from './server.js';
export type { WebhookServerDeps, WebhookServerOptions } from './server.js';
export { sign, signedText, verify } from './signature.js';
export type {
  Delivery,
  DisputedPayment,
  EndedFlow,
  EventPort,
  EventSink,
  StopSignal,
} from '../contract/engine-port.js';
export type { TransactionEvent } from '../contract/messages.js';
export type { ParkedEventInput } from '../contract/parked-event.js';
export type { InputOf, OutputOf, SharedSchema } from '../contract/shared-schema.js';
