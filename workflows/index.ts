/** The exported names are the registered workflow types (see `src/contract/names.ts`). */
export { charge } from './charge.js';
export { resolvePending } from './resolve-pending.js';
