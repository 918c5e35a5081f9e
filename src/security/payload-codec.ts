import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';
import { types } from 'node:util';
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import proto from '@temporalio/proto';
import {
  REFUSED_METADATA,
  SEALED_METADATA,
  UNDECODABLE_REASONS,
  undecodable,
  type UndecodableReason,
} from '../contract/payload-marks.js';
import type { KeyRing } from './key-ring.js';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** Metadata of an encrypted payload. Must not change after the first release: histories are kept for years. */
const ENCRYPTED_ENCODING = 'binary/encrypted';
const METADATA_KEYS = {
  encoding: 'encoding',
  keyId: 'encryption-key-id',
  format: 'holdfast-format',
  associatedData: 'holdfast-aad',
} as const;

/** Format 1: data = IV (12 bytes) | ciphertext | tag (16 bytes); the plaintext is the whole inner payload message. */
const FORMAT = '1';
/**
 * Metadata of the inner payload: the workflow id that it was encrypted for. It stands in the plaintext, so nobody without
 * the key can change it, and a reader that knows no workflow id, as the codec server, decodes the payload all the same.
 * A later format must read it too: the number of the format is not authenticated.
 */
const FLOW_METADATA = 'holdfast-flow';
/** Nothing is associated data: see docs/decisions/0025-a-payload-names-its-flow.md. */
const NO_ASSOCIATED_DATA = '0';
/** What the server puts behind the workflow id of a schedule's action, for each workflow that the schedule starts. */
const TIME_OF_A_SCHEDULE = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface EncryptionCodecOptions {
  /** Logs decoding failures without content. A pino logger fits. */
  logger?: { warn(fields: object, message: string): void };
  /** Marks payloads that are unencrypted or of another flow, so that flows refuse such commands. */
  refusesClear?: boolean;
}

/** Counts since the process started. */
export interface CodecCounts {
  undecodable: Record<UndecodableReason, number>;
  /** Payloads that were encrypted for another flow. */
  otherFlow: number;
}

/**
 * Encrypts whole payloads with AES-256-GCM and a random 96-bit IV each. Rotate a key well before 2^32 payloads, the
 * limit for random IVs (NIST SP 800-38D, 8.3). Each payload names the flow that it was encrypted for, where the SDK tells.
 *
 * Does not inspect or change content: only the schemas of the contract know which fields may hold a card number.
 */
export class EncryptionCodec implements PayloadCodec {
  readonly #keyRing: KeyRing;
  readonly #options: EncryptionCodecOptions;
  readonly #undecodable = new Map<UndecodableReason, number>();
  #otherFlow = 0;

  constructor(keyRing: KeyRing, options: EncryptionCodecOptions = {}) {
    this.#keyRing = keyRing;
    this.#options = options;
  }

  /** Ids of the keys that can decode; the first one encrypts. */
  get keyIds(): readonly string[] {
    return this.#keyRing.ids;
  }

  get counts(): CodecCounts {
    const entries = UNDECODABLE_REASONS.map((reason) => [reason, this.#undecodable.get(reason) ?? 0] as const);
    const undecodable = Object.fromEntries(entries) as Record<UndecodableReason, number>;
    return { undecodable, otherFlow: this.#otherFlow };
  }

  async encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return payloads.map((payload) => this.#encrypt(payload, flowOf(context)));
  }

  /**
   * Never throws: a payload that can't be decrypted becomes an `Undecodable`. Encrypted payloads get the mark of
   * `markSealed`. Payloads of other encodings pass through without that mark, and so does what was encrypted for another
   * flow than that of the context: who can write to Temporal can copy it.
   */
  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return payloads.map((payload) => {
      if (text(payload?.metadata?.[METADATA_KEYS.encoding]) !== ENCRYPTED_ENCODING)
        return this.#inClear(unsealed(payload));
      const opened = this.#decrypt(payload);
      if (typeof opened === 'string')
        return this.#marker(opened, text(payload.metadata?.[METADATA_KEYS.keyId]), context?.workflowId);
      const reader = flowOf(context);
      return isOther(opened.flow, reader) ? this.#ofOtherFlow(opened, reader) : sealed(opened.inner);
    });
  }

  /** A sentence if the keys can't be used, with what to do; undefined if what the first one encrypts is decoded again. */
  keyFault(): string | undefined {
    const data = Buffer.from('holdfast');
    try {
      const back = this.#decrypt(this.#encrypt({ metadata: {}, data }));
      if (typeof back !== 'string' && data.equals(back.inner.data ?? new Uint8Array())) return undefined;
    } catch {
      // Said below.
    }
    return `key "${this.#keyRing.currentId}" encrypts nothing that is decoded again: check HOLDFAST_ENCRYPTION_KEYS.`;
  }

  #inClear(payload: Payload): Payload {
    if (this.#options.refusesClear !== true) return payload;
    return withMetadata(payload, REFUSED_METADATA, '1');
  }

  /** Not `Undecodable`: with a copy anybody could hold up a flow, and so could a path of the SDK that names another flow. */
  #ofOtherFlow({ flow, inner }: Opened, workflowId: string | undefined): Payload {
    this.#otherFlow += 1;
    this.#options.logger?.warn(
      { workflowId, encryptedFor: flow },
      'A payload was encrypted for another flow: it counts as one in clear',
    );
    return this.#inClear(unsealed(inner));
  }

  #encrypt(payload: Payload, flow?: string): Payload {
    const keyId = this.#keyRing.currentId;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#keyRing.find(keyId) as KeyObject, iv);
    const own = without(unsealed(payload), FLOW_METADATA);
    const plaintext = PayloadMessage.encode(flow ? withMetadata(own, FLOW_METADATA, flow) : own).finish();
    const data = Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    return {
      metadata: {
        [METADATA_KEYS.encoding]: Buffer.from(ENCRYPTED_ENCODING),
        [METADATA_KEYS.keyId]: Buffer.from(keyId),
        [METADATA_KEYS.format]: Buffer.from(FORMAT),
        [METADATA_KEYS.associatedData]: Buffer.from(NO_ASSOCIATED_DATA),
      },
      data,
    };
  }

  #decrypt({ metadata, data }: Payload): Opened | UndecodableReason {
    const [keyId, format, associatedData] = (['keyId', 'format', 'associatedData'] as const).map((name) =>
      text(metadata?.[METADATA_KEYS[name]]),
    );
    if (keyId === undefined || format === undefined || associatedData === undefined) return 'malformed';
    if (format !== FORMAT || associatedData !== NO_ASSOCIATED_DATA) return 'unknown format';
    if (!types.isUint8Array(data) || data.length < IV_BYTES + TAG_BYTES) return 'malformed';
    const key = this.#keyRing.find(keyId);
    if (key === undefined) return 'unknown key id';
    const plaintext = open(key, data);
    if (plaintext === undefined) return 'authentication failed';
    try {
      const { metadata: innerMetadata, data: innerData, externalPayloads } = PayloadMessage.decode(plaintext);
      const inner = {
        metadata: innerMetadata,
        data: innerData,
        ...(externalPayloads.length > 0 ? { externalPayloads } : {}),
      };
      return { flow: text(innerMetadata[FLOW_METADATA]), inner: without(inner, FLOW_METADATA) };
    } catch {
      return 'malformed';
    }
  }

  /** Carries the mark of decrypted payloads, because anybody can send the marker's text unencrypted. */
  #marker(reason: UndecodableReason, keyId: string | undefined, workflowId: string | undefined): Payload {
    this.#undecodable.set(reason, (this.#undecodable.get(reason) ?? 0) + 1);
    const marker = undecodable(reason, keyId);
    this.#options.logger?.warn({ reason, keyId: marker.keyId, workflowId }, 'Payload could not be decoded');
    const metadata = { [METADATA_KEYS.encoding]: Buffer.from('json/plain') };
    return sealed({ metadata, data: Buffer.from(JSON.stringify(marker)) });
  }
}

interface Opened {
  /** The workflow id that it was encrypted for; undefined where the encoder knew none. */
  flow: string | undefined;
  inner: Payload;
}

/** What a payload is encrypted for; undefined: nobody has told, as the codec server, so nothing is compared. */
function flowOf(context: SerializationContext | undefined): string | undefined {
  if (context === undefined || context.workflowId) return context?.workflowId;
  // Somebody may start an activity without any workflow, with a copy of a call: its answer must be that of no flow.
  return context.type === 'activity' ? `activity/${context.activityId ?? ''}` : undefined;
}

/**
 * The workflows that a schedule starts read what was encrypted for its action, and for each other. Not the other way
 * round: anybody can start a workflow whose id is that of a flow with a time.
 */
function isOther(flow: string | undefined, reader: string | undefined): boolean {
  if (!flow || !reader || flow === reader) return false;
  const action = reader.replace(TIME_OF_A_SCHEDULE, '');
  return action === reader || (flow !== action && flow.replace(TIME_OF_A_SCHEDULE, '') !== action);
}

function sealed(payload: Payload): Payload {
  return withMetadata(payload, SEALED_METADATA, '1');
}

/** Removes the mark of decrypted payloads, with which an unencrypted payload would pass as one of ours. */
export function unsealed(payload: Payload): Payload {
  return without(payload, SEALED_METADATA);
}

function withMetadata(payload: Payload, name: string, value: string): Payload {
  return { ...payload, metadata: { ...payload?.metadata, [name]: Buffer.from(value) } };
}

function without(payload: Payload, name: string): Payload {
  if (payload?.metadata?.[name] === undefined) return payload;
  const { [name]: _taken, ...metadata } = payload.metadata;
  return { ...payload, metadata };
}

function open(key: KeyObject, sealed: Uint8Array): Buffer | undefined {
  const tagAt = sealed.length - TAG_BYTES;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(sealed.subarray(tagAt));
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, tagAt)), decipher.final()]);
  } catch {
    return undefined;
  }
}

function text(bytes: Uint8Array | null | undefined): string | undefined {
  return types.isUint8Array(bytes) ? Buffer.from(bytes).toString('utf8') : undefined;
}
