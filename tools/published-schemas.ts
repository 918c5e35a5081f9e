import { FLOW_INPUTS } from './published/flow-inputs.js';
import { MESSAGES, SUBSCRIPTION_COMMANDS } from './published/messages.js';
import type { Published } from './published/published.js';

/** What callers in other languages send, by file name: workflow inputs and the arguments of messages. */
export const PUBLISHED_SCHEMAS: Readonly<Record<string, Published>> = {
  ...FLOW_INPUTS,
  ...MESSAGES,
  ...SUBSCRIPTION_COMMANDS,
};
