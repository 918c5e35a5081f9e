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
  /** Encryption keys as in `HOLDFAST_ENCRYPTION_KEYS`, which is read when this is left out. */
  encryptionKeys?: string;
  /** Instead of `encryptionKeys`, for a caller that has its own. */
  dataConverter?: DataConverter;
  /** Overrides what Temporal's environment configuration says. */
  address?: string;
  namespace?: string;
  /** A namespace of the other one is refused. Default: what HOLDFAST_ENVIRONMENT says; unset, no namespace is refused. */
  environment?: Environment;
}

/**
 * Connects to Temporal by its standard `TEMPORAL_*` variables and profile files.
 * @throws KeyRingError when the encryption keys are missing or malformed: nothing is ever sent in clear
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

/** A live order that is started among those of test would be answered with test money. */
async function refuseOtherEnvironment({ connection, options }: Client, told: string | undefined): Promise<void> {
  const environment = environmentNamed(told);
  if (environment === undefined) return;
  const other = await otherEnvironment(connection, options.namespace, environment);
  if (other !== undefined) throw new HoldfastError('InvalidInput', other, [other]);
}
