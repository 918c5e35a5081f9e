import type { PayloadConverter } from '@temporalio/common';
import { isReadableElsewhere, whyUndecodable } from '../contract/payload-marks.js';
import { payloadConverter as ours } from './payload-converter.js';

/** Also the sign of a bundle that has this converter. */
export const LEFT_TO_ANOTHER = 'so the task is left to a worker that has its key';

/**
 * For workflows of merchants, which know nothing of markers: what another worker may be able to decode is an error. It
 * is thrown before any code of the workflow sees the value, so that the workflow task fails, and is tried again until a
 * worker with the key takes it. As a failed promise it could be caught, and a payment taken for a failed one. What no
 * worker can decode is still a marker, because a task that fails for ever would help nobody.
 *
 * Bundled into workflows, so it may import only `@temporalio/common` and the contract.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: ours.toPayload.bind(ours),
  fromPayload<T>(...call: Parameters<PayloadConverter['fromPayload']>): T {
    const value = ours.fromPayload<T>(...(call as Parameters<typeof ours.fromPayload<T>>));
    if (!isReadableElsewhere(value)) return value;
    throw new Error(`This worker can't decode a payload (${whyUndecodable(value)}), ${LEFT_TO_ANOTHER}`);
  },
};
