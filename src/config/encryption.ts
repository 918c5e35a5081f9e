import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { KeyRingError, loadOrCreateKeyFile, parseKeyRing } from '../security/key-ring.js';
import { loadOrCreateSecretFile, readSecretFile, SecretFileError } from '../security/secret-file.js';
import { shown, type Faults } from './config-error.js';
import type { EnvironmentReader } from './environment.js';
import type { EncryptionSettings, Settings } from './types.js';

const KEYS = 'HOLDFAST_ENCRYPTION_KEYS';
const TOKEN = 'HOLDFAST_CODEC_TOKEN';
const CAPABILITY = 'HOLDFAST_CODEC_UI_CAPABILITY';
const ORIGINS = 'HOLDFAST_UI_ORIGINS';
const DEFAULT_ORIGINS = ['http://127.0.0.1:8233', 'http://localhost:8233'];

/** Files of the embedded mode, under the state directory, mode 0600. */
export const SECRET_FILES = {
  encryptionKeys: 'keys/encryption-keys',
  codecToken: 'keys/codec-token',
  codecUiCapability: 'keys/codec-ui-capability',
} as const;

/** Undefined only if a fault was added. Call it after everything else: the embedded mode makes a file. */
export function readEncryption(
  reader: EnvironmentReader,
  settings: Settings,
  faults: Faults,
): EncryptionSettings | undefined {
  return addingFaults(faults, () => {
    const text = reader.text(KEYS);
    if (text !== undefined) return { keyRing: parseKeyRing(text, KEYS), keySource: KEYS };
    if (!settings.embedded) {
      faults.add(
        `${KEYS} is not set: give id:base64[,id:base64], such as k1:$(openssl rand -base64 32); keep it safe, no history can be read without it`,
      );
      return undefined;
    }
    if (faults.any) return undefined;
    const keySource = join(settings.stateDir, SECRET_FILES.encryptionKeys);
    return { keyRing: loadOrCreateKeyFile(keySource), keySource };
  });
}

/** Token and capability of the codec server: from the environment, or a file of the embedded mode. */
export function readCodecSecrets(
  reader: EnvironmentReader,
  settings: Settings,
  faults: Faults,
): { codecToken: string; codecUiCapability: string } {
  const token = readSecret(
    reader,
    settings,
    faults,
    TOKEN,
    SECRET_FILES.codecToken,
    /^[\x21-\x7e]{16,500}$/,
    '16-500 visible ASCII characters',
  );
  const capability = readSecret(
    reader,
    settings,
    faults,
    CAPABILITY,
    SECRET_FILES.codecUiCapability,
    /^[A-Za-z0-9_-]{22,100}$/,
    '22-100 characters of A-Z a-z 0-9 _ -',
  );
  return { codecToken: token, codecUiCapability: capability };
}

function readSecret(
  reader: EnvironmentReader,
  { embedded, stateDir }: Settings,
  faults: Faults,
  variable: string,
  fileName: string,
  shape: RegExp,
  hint: string,
): string {
  const path = join(stateDir, fileName);
  const secret = addingFaults(faults, () => {
    const given = reader.text(variable);
    if (given !== undefined) return given;
    if (!embedded || faults.any) return readSecretFile(path);
    return loadOrCreateSecretFile(path, () => randomBytes(32).toString('base64url'));
  });
  if (secret === undefined) {
    if (!embedded)
      faults.add(`${variable} is not set and there is no ${path}: give ${hint}, such as $(openssl rand -hex 32)`);
    return '';
  }
  if (!shape.test(secret)) faults.add(`${variable} (or ${path}) can't be used: it needs ${hint}`);
  return secret;
}

/** Exact origins: a browser compares them character by character, so anything else would never match. */
export function readUiOrigins(reader: EnvironmentReader, faults: Faults): readonly string[] {
  const value = reader.text(ORIGINS);
  if (value === undefined) return DEFAULT_ORIGINS;
  const origins = value.split(',').map((origin) => origin.trim());
  for (const origin of origins) {
    if (!isOrigin(origin)) {
      faults.add(
        `${ORIGINS}: ${shown(origin)} is not an origin; use scheme, host and port only, such as http://127.0.0.1:8233`,
      );
    }
  }
  return origins;
}

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Turns what key ring and secret files throw into faults. */
function addingFaults<T>(faults: Faults, read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof KeyRingError) for (const fault of error.faults) faults.add(fault);
    else if (error instanceof SecretFileError) faults.add(error.message);
    else throw error;
    return undefined;
  }
}
