import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { createDataConverter } from '../security/data-converter.js';
import { parseKeyRing } from '../security/key-ring.js';
import { createEventSink, type EventSink, type EventSinkOptions } from './event-sink.js';
import { environmentNamed } from './namespace-environment.js';
import { createReadyCheck, type ReadyCheck } from './ready-check.js';
import { RECONNECT_SOON } from './reconnect.js';

export interface ConnectSinkOptions extends EventSinkOptions {
  /** Encryption keys as in `HOLDFAST_ENCRYPTION_KEYS`, which is read when this is left out. */
  encryptionKeys?: string;
  /** Overrides what Temporal's environment configuration says. */
  address?: string;
  namespace?: string;
}

export interface ConnectedSink extends EventSink {
  /** For the readiness of your server. */
  ready: ReadyCheck;
  close(): Promise<void>;
}

/**
 * Where a webhook handler of your own puts its events, by Temporal's standard `TEMPORAL_*` variables and profile files.
 * Connects when the first event comes: while Temporal is away events are refused, and the service sends them again. So they are
 * while the namespace is one for another environment than `environment`, or else HOLDFAST_ENVIRONMENT, says.
 * @throws KeyRingError when the encryption keys are missing or malformed: nothing is ever sent in clear
 */
export function connectEventSink(options: ConnectSinkOptions = {}): ConnectedSink {
  const keys = parseKeyRing(options.encryptionKeys ?? process.env['HOLDFAST_ENCRYPTION_KEYS'] ?? '');
  const config = loadClientConnectConfig();
  const connection = Connection.lazy({
    ...config.connectionOptions,
    channelArgs: RECONNECT_SOON,
    ...(options.address !== undefined && { address: options.address }),
  });
  const namespace = options.namespace ?? config.namespace;
  const dataConverter = createDataConverter(keys);
  const client = new Client({ connection, dataConverter, ...(namespace !== undefined && { namespace }) });
  const environment = environmentNamed(options.environment);
  const sink = createEventSink(client, { ...options, ...(environment !== undefined && { environment }) });
  return { ...sink, ready: createReadyCheck(client, { keyId: keys.currentId }), close: () => connection.close() };
}
