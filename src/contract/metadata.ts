import { utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { freeText } from './card-data.js';
import { SharedSchema } from './shared-schema.js';

const MOST_KEYS = 20;
/** Each notification holds it, and hundreds of them must fit into one message of the engine. */
const MOST_BYTES = 4_096;

/** What the merchant notes about a flow, for their own use. It is never sent to the payment service. */
export const metadataSchema = new SharedSchema(
  z
    .record(freeText(40), freeText(500), {
      error: ({ code, issues }) =>
        code === 'invalid_key' ? `as a key: ${issues?.map(({ message }) => message).join(', ')}` : undefined,
    })
    .refine((notes) => Object.keys(notes).length <= MOST_KEYS, { error: `has more than ${MOST_KEYS} keys` })
    .refine((notes) => utf8ToBytes(JSON.stringify(notes)).length <= MOST_BYTES, {
      error: `takes more than ${MOST_BYTES} bytes as JSON`,
    }),
);
