import { Client, type Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { isSealed } from '../contract/payload-marks.js';
import { createDataConverter, decodePayload, encodePayload } from '../security/data-converter.js';
import { parseKeyRing } from '../security/key-ring.js';
import { type Environment, environmentNamed, otherEnvironment } from './environment-mark.js';
import { type EngineAddress, engineSettings, followingConnection } from './engine-connection.js';
import { HoldfastError } from './errors.js';
import { HoldfastClient } from './holdfast-client.js';
import { sayUnreadable } from './namespace.js';
import { sayUnreadableSettings, whyEngineUnreachable } from './why-unreachable.js';

export interface ConnectOptions {
  /** Encryption keys in the format of `HOLDFAST_ENCRYPTION_KEYS`. Default: that variable. */
  encryptionKeys?: string;
  /** Replaces `encryptionKeys` for a caller that has workers: `dataConverter` of what `createHoldfastWorkers` returns. */
  dataConverter?: DataConverter;
  /** Overrides Temporal's environment configuration. */
  address?: string;
  namespace?: string;
  /** A namespace of the other environment is refused. Default: HOLDFAST_ENVIRONMENT; if unset, none is refused. */
  environment?: Environment;
}

/**
 * A client whose connection is opened with the first call.
 * @throws HoldfastError `InvalidInput` for settings of Temporal that can't be read
 */
export function lazyClient(
  dataConverter: DataConverter,
  options: EngineAddress = {},
): { client: Client; connection: Connection } {
  try {
    const { namespace } = engineSettings(options);
    const connection = followingConnection(() => engineSettings(options).connectionOptions);
    return { client: new Client({ connection, dataConverter, namespace }), connection };
  } catch (error) {
    const fault = `Temporal can't be reached: ${sayUnreadableSettings(error)}`;
    throw new HoldfastError('InvalidInput', fault, [fault]);
  }
}

/**
 * Connects to Temporal with its standard `TEMPORAL_*` variables and profile files, for 10 seconds at most.
 * @throws KeyRingError when the encryption keys are missing or malformed: nothing is sent unencrypted
 * @throws HoldfastError `EngineUnavailable` when Temporal can't be reached, with the reason; `InvalidInput` for settings of
 * Temporal that can't be read, a namespace of the other environment, or an `environment` that is neither "test" nor "live"
 */
export async function connectHoldfast(options: ConnectOptions = {}): Promise<HoldfastClient> {
  const dataConverter =
    options.dataConverter ??
    createDataConverter(parseKeyRing(options.encryptionKeys ?? process.env['HOLDFAST_ENCRYPTION_KEYS'] ?? ''));
  const environment = environmentOrRefuse(options.environment);
  const { client, connection } = lazyClient(dataConverter, options);
  try {
    if (options.dataConverter !== undefined) await requireMarks(client);
    await connection.ensureConnected();
    if (environment !== undefined) await refuseOtherEnvironment(client, environment);
  } catch (error) {
    await connection.close();
    if (error instanceof HoldfastError) throw error;
    const why = await whyEngineUnreachable(options);
    throw new HoldfastError('EngineUnavailable', sayUnreadable(error, client.options.namespace, why));
  }
  return new HoldfastClient(client);
}

/** Answers count only encrypted: with another converter each would be refused after its flow had begun. */
async function requireMarks({ options: { loadedDataConverter } }: Client): Promise<void> {
  const payload = await encodePayload(loadedDataConverter, {});
  if (isSealed(await decodePayload(loadedDataConverter, payload))) return;
  const fault =
    'dataConverter: what it decodes is not marked as encrypted, so that no answer could be believed; give encryptionKeys, ' +
    'or the dataConverter that createHoldfastWorkers returns';
  throw new HoldfastError('InvalidInput', fault, [fault]);
}

/** @throws HoldfastError `InvalidInput` for a word that is neither "test" nor "live" */
export function environmentOrRefuse(told: string | undefined): Environment | undefined {
  try {
    return environmentNamed(told);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new HoldfastError('InvalidInput', error.message, [error.message]);
  }
}

/** A live order that is started in a test namespace would be paid with test money. */
async function refuseOtherEnvironment({ connection, options }: Client, environment: Environment): Promise<void> {
  const other = await otherEnvironment(connection, options.namespace, environment);
  if (other !== undefined) throw new HoldfastError('InvalidInput', other, [other]);
}
