import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { inspect } from 'node:util';
import { KEY_ID } from '../contract/payload-marks.js';
import { loadOrCreateSecretFile } from './secret-file.js';

const KEY_BYTES = 32;

/** Lists every fault of a key ring. Never contains a key or a part of one. */
export class KeyRingError extends Error {
  override readonly name = 'KeyRingError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/**
 * AES-256 keys by id: the first encrypts, all decrypt. To rotate, add the new key after the old one in every process,
 * then move it to the front. Remove the old key only when no retained history was written with it.
 *
 * The keys are `KeyObject`s in private fields because the SDK writes the worker's options, including the codec, to its
 * debug log.
 */
export class KeyRing {
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #currentId: string;

  constructor(keys: readonly { id: string; key: Uint8Array }[]) {
    const first = keys[0];
    if (first === undefined) throw new KeyRingError(['a key ring needs at least one key']);
    this.#currentId = first.id;
    this.#keys = new Map(keys.map(({ id, key }) => [id, createSecretKey(key)]));
  }

  get currentId(): string {
    return this.#currentId;
  }

  get ids(): string[] {
    return [...this.#keys.keys()];
  }

  /** The key with this id, or undefined. Encrypt with the key of {@link currentId}. */
  find(id: string): KeyObject | undefined {
    return this.#keys.get(id);
  }

  toJSON(): { keyIds: string[] } {
    return { keyIds: this.ids };
  }

  [inspect.custom](): string {
    return `KeyRing { ${this.ids.join(', ')} }`;
  }
}

/**
 * Parses `id:base64[,id:base64]`.
 * @param source where the text comes from, for error messages
 * @throws KeyRingError that lists every fault
 */
export function parseKeyRing(text: string, source = 'HOLDFAST_ENCRYPTION_KEYS'): KeyRing {
  const keys: { id: string; key: Uint8Array }[] = [];
  const faults: string[] = [];
  const seen = new Map<string, string>();
  for (const [index, entry] of text.trim().split(',').entries()) {
    const result = parseEntry(entry.trim());
    const known = result.id === undefined ? '' : ` ("${result.id}")`;
    const label = `${source}: entry ${index + 1}${known}`;
    if (result.key === undefined) {
      faults.push(`${label} ${result.fault}`);
      continue;
    }
    const encoded = result.key.toString('base64');
    const twin = seen.get(encoded);
    if (twin !== undefined) faults.push(`${label} holds the same key as entry "${twin}"; make a new one`);
    if (keys.some(({ id }) => id === result.id)) faults.push(`${label} uses an id that is already taken`);
    seen.set(encoded, result.id);
    keys.push({ id: result.id, key: result.key });
  }
  if (faults.length > 0) throw new KeyRingError(faults);
  return new KeyRing(keys);
}

type Entry = { id: string; key: Buffer } | { id?: string; key?: undefined; fault: string };

const SHAPE = 'expected id:base64, such as k1:$(openssl rand -base64 32)';

function parseEntry(entry: string): Entry {
  if (entry === '') return { fault: `is empty; ${SHAPE}` };
  const colon = entry.indexOf(':');
  if (colon < 0) return { fault: `has no key id; ${SHAPE}` };
  const id = entry.slice(0, colon);
  if (!KEY_ID.test(id))
    return { fault: 'has an unusable key id; use 1-32 characters of A-Z a-z 0-9 _ . - before the colon' };
  const encoded = entry.slice(colon + 1);
  const key = Buffer.from(encoded, 'base64');
  // Buffer.from skips characters that are not base64, so a mistyped key would silently become a different key.
  const canonical = key.toString('base64');
  if (encoded !== canonical && encoded !== canonical.replace(/=+$/, '')) {
    return { id, fault: 'is not standard base64; make one with openssl rand -base64 32' };
  }
  if (key.length !== KEY_BYTES) {
    return { id, fault: `is ${key.length} bytes long; AES-256 needs ${KEY_BYTES}: openssl rand -base64 32` };
  }
  return { id, key };
}

/**
 * Key ring of the embedded mode, created at the first start. The file is never replaced: without it, all stored data is
 * unreadable.
 * @throws KeyRingError for a file with faults, SecretFileError for one that other users can read
 */
export function loadOrCreateKeyFile(path: string): KeyRing {
  const text = loadOrCreateSecretFile(path, () => `embedded-1:${randomBytes(KEY_BYTES).toString('base64')}`);
  return parseKeyRing(text, path);
}
