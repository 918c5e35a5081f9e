import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { engineAddress } from '../src/client/connect.js';
import type { Environment } from '../src/client/environment-mark.js';
import { checkNamespace } from '../src/client/namespace.js';
import { describeError, type Logger } from '../src/security/logging.js';
import { StartFault } from './process.js';

const RETRY_MS = 2_000;

export interface EngineConnections {
  native: NativeConnection;
  client: Client;
  connection: Connection;
  close(): Promise<void>;
}

/** Is told what a process waits for, each a sentence with its mend, and with an empty list that it waits no longer. */
export type Waiting = (reasons: readonly string[]) => void;

/**
 * Connects to Temporal by Temporal's own environment configuration. Retries until that succeeds, since the engine may
 * start after the worker.
 */
export async function connectEngine(
  dataConverter: DataConverter,
  stopping: AbortSignal,
  waiting: Waiting,
): Promise<EngineConnections> {
  const { connectionOptions, namespace } = engineAddress();
  for (;;) {
    stopping.throwIfAborted();
    try {
      const native = await NativeConnection.connect(connectionOptions);
      const connection = await Connection.connect(connectionOptions);
      const client = new Client({ connection, dataConverter, namespace });
      waiting([]);
      return {
        native,
        client,
        connection,
        close: async () => {
          await native.close();
          await connection.close();
        },
      };
    } catch (error) {
      waiting([
        `Temporal cannot be reached at ${connectionOptions.address} (${describeError(error).message}): check that it runs, and TEMPORAL_ADDRESS.`,
      ]);
      await sleep(RETRY_MS, undefined, { signal: stopping });
    }
  }
}

/** Waits until the namespace is one that a worker of this environment may serve. */
export async function awaitNamespace(
  { connection, client }: EngineConnections,
  environment: Environment,
  { logger, stopping, waiting }: { logger: Logger; stopping: AbortSignal; waiting: Waiting },
): Promise<void> {
  for (;;) {
    stopping.throwIfAborted();
    const { faults, warnings } = await checkNamespace(connection, client.options.namespace, environment);
    waiting(faults);
    if (faults.length === 0) {
      for (const warning of warnings) logger.warn(warning);
      return;
    }
    await sleep(RETRY_MS, undefined, { signal: stopping });
  }
}

/** Refuses a namespace at once. @throws StartFault with every fault */
export const refuseFaults: Waiting = (reasons) => {
  if (reasons.length > 0) throw new StartFault(reasons.join('\n'));
};

const SAY_AGAIN_MS = 60_000;

/** Logs reasons when they are new, and every minute while they stay. */
export function logReasons(logger: Logger, now = () => performance.now()): Waiting {
  let said = '';
  let at = 0;
  return (reasons) => {
    const text = reasons.join(' ');
    if (text === said && (text === '' || now() - at < SAY_AGAIN_MS)) return;
    if (text !== '') logger.error(`Not ready: ${text}`);
    else logger.info('What this process waited for is mended');
    said = text;
    at = now();
  };
}
