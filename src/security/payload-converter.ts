import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';
import {
  markRefused,
  markSealed,
  REFUSED_METADATA,
  SEALED_METADATA,
  undecodable,
  type UndecodableReason,
} from '../contract/payload-marks.js';

const READABLE = new Set(['binary/null', 'binary/plain', 'json/plain']);

/**
 * The SDK's default converter, except that an unreadable payload becomes a marker value: an error thrown in the
 * workflow sandbox would fail the workflow task for ever.
 *
 * Bundled into workflows, so it may import only `@temporalio/common` and the contract.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context, hint) => defaultPayloadConverter.toPayload(value, context, hint),
  fromPayload<T>(...[payload, context, hint]: Parameters<PayloadConverter['fromPayload']>): T {
    try {
      const value = defaultPayloadConverter.fromPayload<T>(payload, context, hint as never);
      if (payload.metadata?.[REFUSED_METADATA] !== undefined) return markRefused(value);
      return payload.metadata?.[SEALED_METADATA] === undefined ? value : markSealed(value);
    } catch {
      return undecodable(reasonFor(payload)) as T;
    }
  },
};

function reasonFor(payload: Payload): UndecodableReason {
  const encoding = payload.metadata?.['encoding'];
  if (encoding === undefined) return 'malformed';
  // The sandbox has no TextDecoder or Buffer; the known encodings are ASCII.
  return READABLE.has(String.fromCharCode(...encoding.slice(0, 64))) ? 'malformed' : 'unknown encoding';
}
