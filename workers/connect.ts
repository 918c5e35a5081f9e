import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { NativeConnection, TransportError, type Worker } from '@temporalio/worker';
import { lazyClient } from '../src/client/connect.js';
import { engineSettings, isSameServer } from '../src/client/engine-connection.js';
import type { Environment } from '../src/client/environment-mark.js';
import { checkNamespace, type NamespaceCheck, sayUnreachable } from '../src/client/namespace.js';
import { sayIfLapsed, whyEngineUnreachable } from '../src/client/why-unreachable.js';
import { describeError, type Logger } from '../src/security/logging.js';
import { StartFault } from './process.js';

const RETRY_MS = 2_000;

type Connected = Pick<Worker, 'connection' | 'getState'>;

export interface EngineConnections {
  /** By which workers poll: another one after certificates have been renewed. A getter would not outlive a copy of this object. */
  native(): NativeConnection;
  readonly client: Client;
  readonly connection: Connection;
  /**
   * Reads Temporal's settings again: a renewed API key or certificate holds from then on.
   * @returns what these workers no longer poll by, to be closed once nobody uses it
   * @throws Error if they can't be used: what there was stays
   */
  refresh(workers: readonly Connected[]): Promise<NativeConnection | undefined>;
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
  for (;;) {
    stopping.throwIfAborted();
    try {
      const engine = await connectOnce(dataConverter);
      waiting([]);
      return engine;
    } catch (error) {
      const why = await whyEngineUnreachable({ natively: error instanceof TransportError });
      waiting([sayUnreachable(why ?? describeError(error).message)]);
      await sleep(RETRY_MS, undefined, { signal: stopping });
    }
  }
}

async function connectOnce(dataConverter: DataConverter): Promise<EngineConnections> {
  let { connectionOptions: settings } = engineSettings();
  let native = await NativeConnection.connect(settings);
  const { client, connection } = lazyClient(dataConverter);
  try {
    await connection.ensureConnected();
  } catch (error) {
    await native.close();
    throw error;
  }
  return {
    native: () => native,
    client,
    connection,
    async refresh(workers) {
      const { connectionOptions: next } = engineSettings();
      const lapsed = sayIfLapsed(next.tls);
      if (lapsed !== undefined) throw new Error(lapsed);
      let replaced: NativeConnection | undefined;
      if (isSameServer(settings, next)) {
        if (next.apiKey !== settings.apiKey) await native.setApiKey(next.apiKey ?? '');
      } else {
        replaced = native;
        native = await NativeConnection.connect(next);
        moveTo(native, workers);
      }
      settings = next;
      return replaced;
    },
    async close() {
      await native.close();
      await connection.close();
    },
  };
}

const ENDED: readonly string[] = ['DRAINED', 'STOPPED', 'FAILED'];

/** Gives workers another connection. One that has ended, as that of the billing queue may while others go on, takes none. */
export function moveTo(connection: NativeConnection, workers: readonly Connected[]): void {
  for (const worker of workers) if (!ENDED.includes(worker.getState())) worker.connection = connection;
}

/** Waits until the namespace is one that a worker of this environment may serve. */
export async function awaitNamespace(
  engine: EngineConnections,
  environment: Environment,
  { logger, stopping, waiting }: { logger: Logger; stopping: AbortSignal; waiting: Waiting },
): Promise<NamespaceCheck> {
  for (;;) {
    stopping.throwIfAborted();
    const check = await checkEngine(engine, [], environment, true);
    waiting(check.faults);
    if (check.faults.length === 0) {
      for (const warning of [...check.warnings, check.unchecked ?? []].flat()) logger.warn(warning);
      return check;
    }
    await sleep(RETRY_MS, undefined, { signal: stopping });
  }
}

/**
 * Reads Temporal's settings again, and asks through both connections: workers poll by one, and calls of flows to Temporal
 * use the other.
 * @param attributes see `readNamespace`
 */
export async function checkEngine(
  engine: EngineConnections,
  workers: readonly Connected[],
  environment: Environment,
  attributes: boolean,
): Promise<NamespaceCheck> {
  let unusable: string | undefined;
  try {
    await (await engine.refresh(workers))?.close();
  } catch (error) {
    unusable = (await whyEngineUnreachable({ natively: true })) ?? describeError(error).message;
  }
  const { namespace } = engine.client.options;
  const why = (natively: boolean) => () => whyEngineUnreachable({ natively });
  const [polling, calling] = await Promise.all([
    checkNamespace(engine.native(), namespace, environment, { attributes: false, why: why(true) }),
    checkNamespace(engine.connection, namespace, environment, { attributes, why: why(false) }),
  ]);
  if (unusable !== undefined) return { faults: [sayUnreachable(unusable)], warnings: [] };
  return calling.faults.length > 0 ? calling : { ...calling, faults: polling.faults };
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
