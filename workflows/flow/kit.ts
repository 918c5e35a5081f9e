/** What the story of a flow is written with. The files behind it are parts of the kit. */
export { isAttemptToBill } from './start-guard.js';
export { kept, stage } from './stages.js';
export { runFlow, runIdleFlow } from './open-flow.js';
export type { FlowState } from './state.js';
