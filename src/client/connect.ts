import { Client, type Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { createDataConverter } from '../security/data-converter.js';
import { parseKeyRing } from '../security/key-ring.js';
import { type Environment, environmentNamed, otherEnvironment } from './environment-mark.js';
import { type EngineAddress, engineSettings, followingConnection } from './engine-connection.js';
import { HoldfastError } from './errors.js';
import { HoldfastClient } from './holdfast-client.js';

export interface ConnectOptions {
  /** Encryption keys in the format of `HOLDFAST_ENCRYPTION_KEYS`. Default: that variable. */
  encryptionKeys?: string;
  /** Replaces `encryptionKeys` for a caller that has its own data converter. */
  dataConverter?: DataConverter;
  /** Overrides Temporal's environment configuration. */
  address?: string;
  namespace?: string;
  /** A namespace of the other environment is refused. Default: HOLDFAST_ENVIRONMENT; if unset, none is refused. */
  environment?: Environment;
}

/** A client whose connection is opened with the first call. */
export function lazyClient(
  dataConverter: DataConverter,
  options: EngineAddress = {},
): { client: Client; connection: Connection } {
  const { namespace } = engineSettings(options);
  const connection = followingConnection(() => engineSettings(options).connectionOptions);
  return { client: new Client({ connection, dataConverter, namespace }), connection };
}

/**
 * Connects to Temporal with its standard `TEMPORAL_*` variables and profile files.
 * @throws KeyRingError when the encryption keys are missing or malformed: nothing is sent unencrypted
 * @throws HoldfastError `InvalidInput` for a namespace of the other environment
 */
export async function connectHoldfast(options: ConnectOptions = {}): Promise<HoldfastClient> {
  const dataConverter =
    options.dataConverter ??
    createDataConverter(parseKeyRing(options.encryptionKeys ?? process.env['HOLDFAST_ENCRYPTION_KEYS'] ?? ''));
  const { client, connection } = lazyClient(dataConverter, options);
  try {
    await connection.ensureConnected();
    await refuseOtherEnvironment(client, options.environment);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return new HoldfastClient(client);
}

/** A live order that is started in a test namespace would be paid with test money. */
async function refuseOtherEnvironment({ connection, options }: Client, told: string | undefined): Promise<void> {
  const environment = environmentNamed(told);
  if (environment === undefined) return;
  const other = await otherEnvironment(connection, options.namespace, environment);
  if (other !== undefined) throw new HoldfastError('InvalidInput', other, [other]);
}
