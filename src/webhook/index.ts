export { createWebhookHandler } from './handler.js';
export type { WebhookDeps, WebhookHandler, WebhookLogger, WebhookResponse } from './handler.js';
export { createWebhookMetrics } from './metrics.js';
export { createWebhookServer } from './server.js';
export { sign, signedText, verify } from './signature.js';
