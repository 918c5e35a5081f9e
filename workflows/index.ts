/** The exported names are the registered workflow types (see `src/contract/names.ts`, `reconcile.ts`, `brakes.ts` and `bulk.ts`). */
export { analyseRisk } from './analyse-risk.js';
export { authorizeAndCapture } from './authorize-and-capture.js';
export { brakes } from './brakes.js';
export { bulk } from './bulk.js';
export { listCards, removeCard } from './cards.js';
export { charge } from './charge.js';
export { credit } from './credit.js';
export { notifications } from './notifications.js';
export { finding } from './finding.js';
export { outgoing } from './outgoing.js';
export { parkedEvent } from './parked-event.js';
export { paymentActions } from './payment-actions.js';
export { reconcile } from './reconcile.js';
export { resolvePending } from './resolve-pending.js';
export { storeCard } from './store-card.js';
export { subscription } from './subscription.js';
