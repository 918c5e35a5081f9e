/** What the story of a flow is written with. The files behind it are parts of the kit. */
export { nextCommandOrMessage, untilAnswered } from './inbox.js';
export type { FlowTraits } from './new-state.js';
export { MANY_COMMANDS } from './refuse.js';
export { isAttemptToBill } from '../kit/start-guard.js';
export { kept, resumable } from './continue.js';
export { runFlow, runIdleFlow } from './open-flow.js';
export { type FlowState, type Message, type MoneyCommand, type Refusal } from './state.js';
export { ignore } from '../kit/run.js';
export { enter } from './explain.js';
export { publish } from '../kit/visibility.js';
