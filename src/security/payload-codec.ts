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
 * Format 1 uses no associated data. The SDK's codec calls know namespace and workflow id, but the codec server sees at
 * most a namespace header: payloads bound to that context could not be read in Temporal UI or from a copied history.
 * The flag is stored so that a later format can use associated data and still recognise old payloads.
 */
const NO_ASSOCIATED_DATA = '0';
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface EncryptionCodecOptions {
  /** Logs decoding failures without content. A pino logger fits. */
  logger?: { warn(fields: object, message: string): void };
  /** Marks unencrypted payloads, so that flows refuse such commands. */
  refusesClear?: boolean;
}

/** Failure counts since the process started. */
export interface CodecCounts {
  undecodable: Record<UndecodableReason, number>;
}

/**
 * Encrypts whole payloads with AES-256-GCM and a random 96-bit IV each. Rotate a key well before 2^32 payloads, the
 * limit for random IVs (NIST SP 800-38D, 8.3).
 *
 * Does not inspect or change content: only the schemas of the contract know which fields may hold a card number.
 */
export class EncryptionCodec implements PayloadCodec {
  readonly #keyRing: KeyRing;
  readonly #options: EncryptionCodecOptions;
  readonly #undecodable = new Map<UndecodableReason, number>();

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
    return { undecodable: Object.fromEntries(entries) as Record<UndecodableReason, number> };
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => this.#encrypt(payload));
  }

  /**
   * Never throws: a payload that can't be decrypted becomes an `Undecodable`. Encrypted payloads get the mark of
   * `markSealed`. Payloads of other encodings pass through without that mark.
   */
  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return payloads.map((payload) => {
      if (text(payload?.metadata?.[METADATA_KEYS.encoding]) !== ENCRYPTED_ENCODING)
        return this.#inClear(unsealed(payload));
      const result = this.#decrypt(payload);
      if (typeof result !== 'string') return result;
      return this.#marker(result, text(payload.metadata?.[METADATA_KEYS.keyId]), context?.workflowId);
    });
  }

  /** A sentence if the keys can't be used, with what to do; undefined if what the first one encrypts is decoded again. */
  keyFault(): string | undefined {
    const data = Buffer.from('holdfast');
    try {
      const back = this.#decrypt(this.#encrypt({ metadata: {}, data }));
      if (typeof back !== 'string' && data.equals(back.data ?? new Uint8Array())) return undefined;
    } catch {
      // Said below.
    }
    return `key "${this.#keyRing.currentId}" encrypts nothing that is decoded again: check HOLDFAST_ENCRYPTION_KEYS.`;
  }

  #inClear(payload: Payload): Payload {
    if (this.#options.refusesClear !== true) return payload;
    return { ...payload, metadata: { ...payload?.metadata, [REFUSED_METADATA]: Buffer.from('1') } };
  }

  #encrypt(payload: Payload): Payload {
    const keyId = this.#keyRing.currentId;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#keyRing.find(keyId) as KeyObject, iv);
    const plaintext = PayloadMessage.encode(unsealed(payload)).finish();
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

  #decrypt({ metadata, data }: Payload): Payload | UndecodableReason {
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
      return {
        metadata: { ...innerMetadata, [SEALED_METADATA]: Buffer.from('1') },
        data: innerData,
        ...(externalPayloads.length > 0 ? { externalPayloads } : {}),
      };
    } catch {
      return 'malformed';
    }
  }

  /** Carries the mark of decrypted payloads, because anybody can send the marker's text unencrypted. */
  #marker(reason: UndecodableReason, keyId: string | undefined, workflowId: string | undefined): Payload {
    this.#undecodable.set(reason, (this.#undecodable.get(reason) ?? 0) + 1);
    const marker = undecodable(reason, keyId);
    this.#options.logger?.warn({ reason, keyId: marker.keyId, workflowId }, 'Payload could not be decoded');
    return {
      metadata: { [METADATA_KEYS.encoding]: Buffer.from('json/plain'), [SEALED_METADATA]: Buffer.from('1') },
      data: Buffer.from(JSON.stringify(marker)),
    };
  }
}

/** Removes the mark of decrypted payloads, with which an unencrypted payload would pass as one of ours. */
export function unsealed(payload: Payload): Payload {
  if (payload?.metadata?.[SEALED_METADATA] === undefined) return payload;
  const { [SEALED_METADATA]: _forged, ...metadata } = payload.metadata;
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
