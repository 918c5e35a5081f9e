import { durationMs } from '../contract/fields.js';
import { DEFAULT_WAIT_MS, LONGEST_WAIT_MS } from '../contract/messages.js';
import { HoldfastError } from './errors.js';

export interface WaitOptions {
  /** How long to wait for an outcome before the answer is `unknown`: "10 seconds" (the default), or ms; at most 10 minutes. */
  waitFor?: string | number;
}

/** @throws HoldfastError `InvalidInput` */
export function waitOf(options: WaitOptions): number {
  const ms = durationMs(options.waitFor ?? DEFAULT_WAIT_MS);
  if (ms !== undefined && ms <= LONGEST_WAIT_MS) return ms;
  const fault = `waitFor: ${JSON.stringify(options.waitFor)} is not a duration of at most 10 minutes, such as "8 seconds"`;
  throw new HoldfastError('InvalidInput', `Nothing was started: ${fault}`, [fault]);
}
