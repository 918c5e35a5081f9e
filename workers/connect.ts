import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';
import { RECONNECT_SOON } from '../src/client/reconnect.js';
import type { Logger } from '../src/security/logging.js';

const RETRY_MS = 2_000;

export interface EngineConnections {
  native: NativeConnection;
  client: Client;
  connection: Connection;
  close(): Promise<void>;
}

/**
 * Connects to Temporal by Temporal's own environment configuration. Retries until that succeeds, since the engine may
 * start after the worker.
 */
export async function connectEngine(
  dataConverter: DataConverter,
  logger: Logger,
  stopping: AbortSignal,
): Promise<EngineConnections> {
  const config = loadClientConnectConfig();
  for (;;) {
    stopping.throwIfAborted();
    try {
      const native = await NativeConnection.connect(config.connectionOptions);
      const connection = await Connection.connect({ ...config.connectionOptions, channelArgs: RECONNECT_SOON });
      const client = new Client({
        connection,
        dataConverter,
        ...(config.namespace !== undefined && { namespace: config.namespace }),
      });
      return {
        native,
        client,
        connection,
        close: async () => {
          await native.close();
          await connection.close();
        },
      };
    } catch (err) {
      logger.warn({ err, address: config.connectionOptions.address }, 'Temporal is not there yet; trying again');
      await sleep(RETRY_MS, undefined, { signal: stopping });
    }
  }
}
