import { Client } from '@temporalio/client';
import type { LoadedDataConverter } from '@temporalio/common';
import type { Dispatcher } from 'undici';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { createActivities } from '../../activities/index.js';
import { createBillingActivities } from '../../activities/billing.js';
import { createNotificationActivities } from '../../activities/notifications.js';
import { createBulkActivities } from '../../activities/bulk.js';
import { createReconcileActivities } from '../../activities/reconcile.js';
import { type BulkheadOptions, placesOf, withBulkheads } from '../../activities/bulkhead.js';
import { RateLimit } from '../../activities/rate-limit.js';
import { keepBrakes } from '../../src/client/brakes.js';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import { createEnginePort } from '../../src/client/engine-port.js';
import { createBulkPort } from '../../src/client/bulk-port.js';
import { createReconcilePort } from '../../src/client/reconcile-port.js';
import { announcingIdentity } from '../../src/client/ready-check.js';
import {
  BILLING_TASK_QUEUE,
  DELIVERIES_TASK_QUEUE,
  NOTIFICATIONS_TASK_QUEUE,
  PAYMENTS_TASK_QUEUE,
  SEARCH_ATTRIBUTES,
} from '../../src/contract/names.js';
import { brakeOf, NO_BRAKES } from '../../src/domain/brakes.js';
import { notifySettings } from '../../src/config/index.js';
import type { NotifySettings } from '../../src/security/notify-settings.js';
import type { ReferenceBook } from '../../src/contract/reference-book.js';
import { createProviders, unitTerms } from '../../workers/providers.js';
import { restoredOf } from '../../workers/restored.js';
import { testDataConverter } from '../support/data-converter.js';
import { postByFetch } from '../support/telling.js';
import { connectTo } from './engine/connection.js';
import { type ArrivalRule, Engine, type Hop } from './engine/engine.js';
import type { Run } from './engine/run.js';
import { BUNDLE, workflowRuntime } from './worker/runtime.js';
import { SimulatedWorker } from './worker/worker.js';
import { activate, runClock } from './active.js';
import { createWorld, type World, type WorldOptions } from './world/world.js';

/** As in the worker program. */
const BULKHEAD = {
  places: placesOf({ tasks: 300, calls: 600 }),
  longestReturn: 10_000,
  opensFrom: 10,
  now: () => Date.now(),
};

export interface SimulationOptions extends WorldOptions {
  /** How long a hop of the engine takes, ms. Default 1. */
  latency?: (hop: Hop) => number;
  /** After how long a call that waits for news answers that there is none, ms. Default 20 s, as a server does. */
  longPollMs?: number;
  /** After how many events of a run the engine suggests to continue as new. Default: as a server does. */
  suggestRunAfter?: (run: Run) => number;
  /** The build whose workers get a run's new work. Default: workers are not versioned. */
  targetBuild?: (run: Run) => string;
  /** Chooses the moment of what comes to a run; see `Engine`. */
  arrive?: ArrivalRule;
  /** Encryption keys of every process; those of the world if absent. */
  keys?: string;
  /** Worker, client and handler see the engine's clock; the worker's own is ahead by so much. */
  workerAheadMs?: number;
  bundlePath?: string;
  /** Who is told of flows. Default: as the worker's configuration has it. */
  telling?: NotifySettings;
  /** What each worker's calls to one unit's service pass. Default: as the worker program has it. */
  bulkhead?: Partial<BulkheadOptions>;
  /** Calls per second of business units, for each worker. */
  limits?: Readonly<Record<string, number>>;
  referenceBook?: ReferenceBook;
  /** Subscriptions of one call of a bulk. */
  bulkSlice?: number;
  /** Of every worker that does not choose otherwise. */
  worker?: WorkerChoice;
  /** Wraps what a worker's calls to the payment service go through. */
  noting?: (dispatcher: Dispatcher) => Dispatcher;
}

interface WorkerChoice {
  /** Other encryption keys for this one worker. */
  keys?: string;
  /** What its configuration has besides. */
  env?: Readonly<Record<string, string>>;
  queues?: readonly string[];
  cache?: number;
  /** Its clock is ahead of the engine's by so much, ms; behind where negative. Default: that of all workers. */
  aheadMs?: number;
  beforeActivity?: (type: string) => Promise<void> | void;
  losesAnswer?: (workflowType: string) => boolean;
}

/** Everything of Holdfast in one process on virtual time, on an engine in memory. */
export interface Simulation {
  readonly world: World;
  readonly engine: Engine;
  readonly client: Client;
  readonly holdfast: HoldfastClient;
  /** Workers that live. */
  readonly workers: ReadonlySet<SimulatedWorker>;
  startWorker(choice?: WorkerChoice): SimulatedWorker;
  /** Every worker reads the brakes: as each does by itself every few seconds, which would make a year of time long. */
  readBrakes(): Promise<void>;
  /** A client of its own: its calls fall silent when the caller dies. */
  newClient(caller?: { isAlive: boolean }): Client;
  close(): Promise<void>;
}

export async function createSimulation(options: SimulationOptions): Promise<Simulation> {
  // Loading takes real time, in which no virtual time may pass.
  const runtime = await workflowRuntime(options.bundlePath ?? BUNDLE);
  const world = await createWorld(options);
  const keys = options.keys ?? world.encryptionKeys;
  // The last is the server's own, by which it shows patches.
  const searchAttributes = new Set([...Object.keys(SEARCH_ATTRIBUTES), 'TemporalChangeVersion']);
  const { latency, longPollMs, suggestRunAfter, targetBuild } = options;
  const engine = new Engine({
    searchAttributes,
    ...(latency && { latency }),
    ...(longPollMs !== undefined && { longPollMs }),
    ...(suggestRunAfter !== undefined && { suggestRunAfter }),
    ...(targetBuild !== undefined && { targetBuild }),
  });
  if (options.arrive !== undefined) engine.arrive = options.arrive;
  const newClient = (caller?: { isAlive: boolean }, onCall?: () => void): Client =>
    new Client({
      connection: connectTo(engine, caller, onCall) as never,
      namespace: engine.namespace,
      dataConverter: testDataConverter(keys),
    });
  const workers = new Set<SimulatedWorker>();
  let brakes = NO_BRAKES;
  let count = 0;

  function startWorker(choice: WorkerChoice = {}): SimulatedWorker {
    const env = { ...options.worker?.env, ...choice.env };
    const chosen = { ...options.worker, ...choice };
    const { queues = [PAYMENTS_TASK_QUEUE, BILLING_TASK_QUEUE], cache, beforeActivity, losesAnswer } = chosen;
    const own = chosen.keys ?? env['HOLDFAST_ENCRYPTION_KEYS'] ?? keys;
    const config = world.configured(env);
    const life = { isAlive: true };
    const client = newClient(life);
    const dispatcher = world.connect(`worker ${(count += 1)}`);
    const needs = {
      providers: withBulkheads(createProviders(config, options.noting?.(dispatcher) ?? dispatcher), {
        ...BULKHEAD,
        limits: new Map(
          Object.entries(options.limits ?? {}).map(([unit, most]) => [unit, new RateLimit(most, BULKHEAD.now)]),
        ),
        ...options.bulkhead,
      }),
      units: unitTerms(config),
      engine: createEnginePort(client),
      bulk: createBulkPort(client),
      ...(options.bulkSlice !== undefined && { bulkSlice: options.bulkSlice }),
      reconcile: createReconcilePort(client),
      referenceBook: options.referenceBook,
      brakeOf: (unit: string) => brakeOf(brakes, unit),
      refusesClear: config.plainPayloads === 'refuse',
      restored: restoredOf(config),
      notifications: options.telling ?? notifySettings(config),
      post: postByFetch,
      now: () => Date.now() + (chosen.aheadMs ?? options.workerAheadMs ?? 0),
    };
    const worker = new SimulatedWorker({
      identity: announcingIdentity(`worker ${count}`, config.keyRing.ids, config.restoredTo),
      engine,
      runtime,
      converter: loadDataConverter(testDataConverter(own, config.plainPayloads === 'refuse')) as LoadedDataConverter,
      activities: {
        ...createActivities(needs),
        ...createBillingActivities(needs),
        ...createNotificationActivities(needs),
        ...createReconcileActivities(needs),
        ...createBulkActivities(needs),
      } as never,
      queues: queues.includes(PAYMENTS_TASK_QUEUE)
        ? [...queues, NOTIFICATIONS_TASK_QUEUE, DELIVERIES_TASK_QUEUE]
        : queues,
      beforeActivity,
      losesAnswer,
      ...(cache !== undefined && { cache }),
      onDeath: () => {
        life.isAlive = false;
        dispatcher.kill();
        workers.delete(worker);
      },
    });
    workers.add(worker);
    return worker;
  }

  // What a test asks for is waited for, even after the test.
  const client = newClient(undefined, () => runClock('the answer to a call'));
  const holdfast = new HoldfastClient(client);
  await world.connectWebhooks(newClient());
  activate(world.time);
  world.time.run();
  return {
    world,
    engine,
    client,
    holdfast,
    workers,
    startWorker,
    newClient,
    async readBrakes() {
      brakes = (await keepBrakes(client)).kept;
    },
    async close() {
      activate(undefined);
      for (const worker of workers) worker.kill();
      engine.matching.end();
      await world.close();
    },
  };
}
