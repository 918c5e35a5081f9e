import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { createDataConverter } from '../security/data-converter.js';
import { parseKeyRing } from '../security/key-ring.js';
import { createEventSink, type EventSink, type EventSinkOptions } from './event-sink.js';
import { environmentNamed } from './namespace-environment.js';
import { createReadyCheck, type ReadyCheck } from './ready-check.js';
import { RECONNECT_SOON } from './reconnect.js';

export interface ConnectSinkOptions extends EventSinkOptions {
  /** Encryption keys in the format of `HOLDFAST_ENCRYPTION_KEYS`. Default: that variable. */
  encryptionKeys?: string;
  /** Overrides Temporal's environment configuration. */
  address?: string;
  namespace?: string;
}

export interface ConnectedSink extends EventSink {
  /** Readiness check for your server. */
  ready: ReadyCheck;
  close(): Promise<void>;
}

/**
 * Event sink for a webhook handler of your own. Reads Temporal's standard `TEMPORAL_*` variables and profile files and
 * connects with the first event. While Temporal is unavailable, events are refused and the service sends them again.
 * Events are also refused while the namespace is for another environment than `environment` (default:
 * HOLDFAST_ENVIRONMENT).
 * @throws KeyRingError when the encryption keys are missing or malformed: nothing is sent unencrypted
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
