import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { createDataConverter } from '../security/data-converter.js';
import { parseKeyRing } from '../security/key-ring.js';
import { HoldfastError } from './errors.js';
import { HoldfastClient } from './holdfast-client.js';
import { environmentNamed, otherEnvironment, type Environment } from './namespace-environment.js';
import { RECONNECT_SOON } from './reconnect.js';

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

/**
 * Connects to Temporal with its standard `TEMPORAL_*` variables and profile files.
 * @throws KeyRingError when the encryption keys are missing or malformed: nothing is sent unencrypted
 * @throws HoldfastError `InvalidInput` for a namespace of the other environment
 */
export async function connectHoldfast(options: ConnectOptions = {}): Promise<HoldfastClient> {
  const dataConverter =
    options.dataConverter ??
    createDataConverter(parseKeyRing(options.encryptionKeys ?? process.env['HOLDFAST_ENCRYPTION_KEYS'] ?? ''));
  const config = loadClientConnectConfig();
  const connection = await Connection.connect({
    ...config.connectionOptions,
    channelArgs: RECONNECT_SOON,
    ...(options.address !== undefined && { address: options.address }),
  });
  const namespace = options.namespace ?? config.namespace;
  const client = new Client({ connection, dataConverter, ...(namespace !== undefined && { namespace }) });
  try {
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
