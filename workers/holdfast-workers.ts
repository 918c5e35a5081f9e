import type { DataConverter } from '@temporalio/common';
import type { NativeConnection, Worker } from '@temporalio/worker';
import { HoldfastClient } from '../src/client/holdfast-client.js';
import {
  type Config,
  describe,
  loadConfig,
  notifySettings,
  sayUnknown,
  secretsOf,
  unknownNames,
} from '../src/config/index.js';
import { BILLING_TASK_QUEUE, PAYMENTS_TASK_QUEUE } from '../src/contract/names.js';
import { createDataConverter } from '../src/security/data-converter.js';
import { createLogger, type Logger } from '../src/security/logging.js';
import {
  awaitNamespace,
  connectEngine,
  type EngineConnections,
  logReasons,
  refuseFaults,
  type Waiting,
} from './connect.js';
import { checkOwnWorker, createOwnWorker, type OwnWorker, ownDataConverter } from './own-worker.js';
import { builtBundlePath } from './bundle-workflows.js';
import { createNotificationWorkers } from './create-notification-worker.js';
import { createBillingWorker, createPaymentWorker } from './create-payment-worker.js';
import { createProviders, rateLimits, unitTerms } from './providers.js';
import { type OpenReferenceBook, openReferenceBook } from './reference-book.js';
import { statementsIn } from './statements.js';
import { refuseToBill, restoredOf, stopBillingInTime } from './restored.js';
import { reportCounts } from './report-counts.js';
import { reportUnits } from './unit-metrics.js';
import { type WatchedBrakes, watchBrakes } from './brakes.js';
import { logVersions } from './log-versions.js';

export type { OwnWorker } from './own-worker.js';

/** Of Temporal's settings, in ms. */
const REFRESH_EVERY_MS = 10_000;

export interface HoldfastWorkersOptions {
  own?: OwnWorker;
  /** Ends the wait for a server that is not there yet. */
  signal?: AbortSignal;
}

export interface HoldfastWorkers {
  /** Temporal's workers: those of the queues that HOLDFAST_TASK_QUEUES names, then your own. */
  readonly workers: readonly Worker[];
  readonly holdfast: HoldfastClient;
  /**
   * With these a further worker or client of yours shares connection and encryption. A further worker has not the
   * activity by which `executeFlow` joins a flow: only `own` has.
   */
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly dataConverter: DataConverter;
  /** Runs until all workers have stopped, then closes the connections. Rejects if a worker fails. */
  run(): Promise<void>;
  /** Takes no new work, also before `run`, which resolves when calls under way have ended. */
  shutdown(): void;
}

/** @throws RangeError, ConfigError, StartFault */
export async function createWorkers({ own, signal }: HoldfastWorkersOptions) {
  if (own !== undefined) await checkOwnWorker(own);
  // A variable of an unknown name may be one of the merchant's own: it is told, and no fault.
  const config = loadConfig(process.env, { isOwn: false });
  const logger = createLogger({ name: 'worker', level: config.logLevel, secrets: secretsOf(config) });
  for (const line of describe(config)) logger.info(line);
  for (const name of unknownNames(process.env)) logger.warn(sayUnknown(name));
  const stopping = signal ?? new AbortController().signal;
  // The merchant's process decides itself what to do about a namespace that is not right.
  const waiting = { connecting: logReasons(logger), checking: refuseFaults };
  const checked = await connectChecked(config, { logger, stopping, ...waiting });
  const { engine, dataConverter } = checked;
  const { namespace } = engine.client.options;
  const holdfast = new HoldfastClient(engine.client);
  const workers: Worker[] = [];
  const forOwn = ownDataConverter(dataConverter);
  try {
    workers.push(...(await workersOf(config, logger, checked)));
    if (own !== undefined) workers.push(await createOwnWorker(own, engine, forOwn, config.stopSeconds * 1_000));
  } catch (error) {
    await endUnused(workers);
    await engine.close();
    throw error;
  }
  let isStopped = false;
  const shutdown = (): void => {
    isStopped = true;
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    workers,
    holdfast,
    connection: engine.native(),
    namespace,
    dataConverter: forOwn,
    async run() {
      const running = workers.map((worker) => worker.run());
      if (isStopped) shutdown();
      const refreshing = setInterval(() => void refresh(engine, workers, logger), REFRESH_EVERY_MS).unref();
      const [codec] = dataConverter.payloadCodecs;
      const endReports = reportCounts(config, { client: engine.client, codec, logger });
      const queues = workers.map((worker) => worker.options.taskQueue);
      const endLog = logVersions(config, { client: engine.client, queues, logger });
      try {
        await Promise.all(running);
      } finally {
        clearInterval(refreshing);
        shutdown();
        // One may have failed while others still stop: the connection must outlive them.
        await Promise.allSettled(running);
        await Promise.all([endReports(), endLog()]);
        await engine.close();
      }
    },
    shutdown,
  } satisfies HoldfastWorkers;
}

/** Only a worker that runs can be stopped, and the connection can't be closed before. */
async function endUnused(workers: readonly Worker[]): Promise<void> {
  const running = workers.map((worker) => worker.run());
  for (const worker of workers) worker.shutdown();
  await Promise.allSettled(running);
}

/** What the workers polled by before stays open: the merchant's process may use it for something else. */
async function refresh(engine: EngineConnections, workers: readonly Worker[], logger: Logger): Promise<void> {
  try {
    await engine.refresh(workers);
  } catch (err) {
    logger.warn({ err }, "Temporal's settings can't be used; what was read before still holds");
  }
}

interface Connecting {
  logger: Logger;
  stopping: AbortSignal;
  /** Is told why Temporal can't be reached. */
  connecting: Waiting;
  /** Is told what is wrong with the namespace, and may throw: nothing is waited for then. */
  checking: Waiting;
}

/** What the workers of a process share. */
interface Checked {
  engine: EngineConnections;
  dataConverter: ReturnType<typeof createDataConverter>;
  referenceBook: OpenReferenceBook | undefined;
  brakes: WatchedBrakes;
  /** See `NamespaceCheck`. */
  unchecked: string | undefined;
}

/**
 * Connects, and waits until the namespace can keep the guarantees.
 * @throws StartFault after a restore, where bills could be paid again
 */
export async function connectChecked(
  config: Config,
  { logger, stopping, connecting, checking }: Connecting,
): Promise<Checked> {
  refuseToBill(config, Date.now());
  const refusesClear = config.plainPayloads === 'refuse';
  const dataConverter = createDataConverter(config.keyRing, { logger, refusesClear });
  const engine = await connectEngine(dataConverter, stopping, connecting);
  let brakes: WatchedBrakes | undefined;
  let referenceBook: OpenReferenceBook | undefined;
  // The brakes first: a look at them on a closed connection throws from the SDK's timer.
  const close = async (): Promise<void> => {
    await brakes?.close();
    await engine.close();
    await referenceBook?.close();
  };
  try {
    const { unchecked } = await awaitNamespace(engine, config.environment, {
      logger,
      stopping,
      waiting: checking,
    });
    const businessUnits = config.businessUnits.keys();
    brakes = await watchBrakes(engine.client, { logger, businessUnits, stopping, waiting: connecting });
    referenceBook = await openReferenceBook(config, engine.client.options.namespace, logger);
    return { engine: { ...engine, close }, dataConverter, referenceBook, brakes, unchecked };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The workers of the queues that the configuration names. */
export async function workersOf(
  config: Config,
  logger: Logger,
  { engine, dataConverter, referenceBook, brakes }: Checked,
): Promise<Worker[]> {
  const { taskQueues, billingCallsPerSecond, paymentsCallsPerSecond } = config;
  const bundlePath = builtBundlePath();
  const deps = {
    connection: engine.native(),
    client: engine.client,
    dataConverter,
    providers: createProviders(config),
    units: unitTerms(config),
    limits: rateLimits(config),
    referenceBook,
    brakeOf: (unit: string) => brakes.brakeOf(unit),
    restored: restoredOf(config),
    refusesClear: config.plainPayloads === 'refuse',
    stopMs: config.stopSeconds * 1_000,
    statements: statementsIn(config.statementsFolder),
    ...(config.buildId !== undefined && {
      version: { deploymentName: config.deploymentName, buildId: config.buildId },
    }),
    notifications: notifySettings(config),
    ...(bundlePath !== undefined && { bundlePath }),
  };
  const reported = {
    logger,
    namespace: engine.client.options.namespace,
    businessUnits: [...config.businessUnits.keys()],
  };
  const workers: Worker[] = [];
  try {
    if (taskQueues !== 'billing') {
      const observer = reportUnits({ ...reported, taskQueue: PAYMENTS_TASK_QUEUE });
      workers.push(await createPaymentWorker({ ...deps, callsPerSecond: paymentsCallsPerSecond, observer }));
      workers.push(...(await createNotificationWorkers(deps)));
    }
    if (taskQueues !== 'payments') {
      const observer = reportUnits({ ...reported, taskQueue: BILLING_TASK_QUEUE });
      const billing = await createBillingWorker({ ...deps, callsPerSecond: billingCallsPerSecond, observer });
      stopBillingInTime(config, billing, logger);
      workers.push(billing);
    }
  } catch (error) {
    await endUnused(workers);
    throw error;
  }
  return workers;
}
