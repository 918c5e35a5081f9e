import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkerOptions } from '@temporalio/worker';
import { createActivities } from '../../activities/index.js';
import { createEnginePort } from '../../src/client/engine-port.js';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import type { ChargeInput } from '../../src/contract/charge.js';
import { DEFAULT_HOLD_MS } from '../../src/domain/hold.js';
import { createDispatcher, ProviderClient } from '../../src/provider/index.js';
import { DEFAULT_UNIT } from '../../sandbox/business-units.js';
import { SandboxControl } from '../../sandbox/control.js';
import { startSandbox } from '../../sandbox/server.js';
import { createBillingActivities } from '../../activities/billing.js';
import { createNotificationActivities } from '../../activities/notifications.js';
import { createNotificationWorkers } from '../../workers/create-notification-worker.js';
import { createBillingWorker, createPaymentWorker } from '../../workers/create-payment-worker.js';
import { registerSearchAttributes } from '../../src/client/set-up-namespace.js';
import { testDataConverter } from './data-converter.js';
import { followClock } from './follow-clock.js';
import { withLegacyLists } from './legacy-lists.js';
import { RequestLog } from './request-log.js';
import { bundlePath, testServerPath } from './temporal.js';
import { postByFetch, tellingOf } from './telling.js';
import { startCharge, type StartedCharge, tokenizedInput } from './virtual-charges.js';
import { withRealAnswers } from './real-answers.js';
import { awaitInSmallSteps } from './small-steps.js';
import { answerLocally, type Answering } from './local-address.js';
import { isSimulated } from './which-engine.js';
import { withoutDefaultTimeouts } from './without-default-timeouts.js';
import { quietRuntime } from './quiet-runtime.js';

export type { StartedCharge } from './virtual-charges.js';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/**
 * The real worker and the real sandbox on an engine whose clock skips whatever nobody waits for: days pass in
 * seconds. Activities and sandbox live by the engine's clock, so that windows close and keys expire at the
 * service as they would. Time only passes in `outcome` and `passUntil`, and for everything at once: one per
 * test file, one test at a time.
 */
export interface VirtualTime {
  readonly sandbox: SandboxControl;
  /** What the worker sent. */
  readonly requests: RequestLog;
  readonly holdfast: HoldfastClient;
  readonly client: Client;
  /** The service as another caller with the same credentials sees it: not in `requests`. */
  readonly provider: ProviderClient;
  /** Epoch ms on the engine's clock. */
  now(): Promise<number>;
  /** Lets time pass until `at`, epoch ms. */
  passUntil(at: number): Promise<void>;
  /** The same while no worker runs and exactly one flow waits for a task to be taken up: its first, or one that is due at `from`. */
  passUnserved(at: number, from?: number): Promise<void>;
  /** Input with a token, and a CVV where asked for, made now. */
  input(options?: { card?: string; cvv?: string }): Promise<ChargeInput>;
  /** Starts a charge as our client does, or as other programs do: without memo and search attributes. */
  start(input: ChargeInput, how?: 'client' | 'raw'): Promise<StartedCharge>;
  /** @param keys encryption keys of this one worker; those of all tests if absent */
  startWorker(keys?: string): Promise<void>;
  stopWorker(): Promise<void>;
  /** Every activity of this name stands still, from `reached` on, until they are released. */
  hold(activity: string): { reached: Promise<void>; release: () => void };
  /** Every activity of this name fails, until what this returns is called. */
  fail(activity: string): () => void;
  /** An address that answers whatever it is sent with a status. @returns its URL */
  listen(answer: Answering): Promise<string>;
  close(): Promise<void>;
}

export interface VirtualTimeOptions {
  /** Serves subscriptions as well. */
  billing?: boolean;
  sticky?: boolean;
  /** What the unit sends to cards in one call, in minor units by currency. Default: there is no limit. */
  perCall?: Readonly<Record<string, number>>;
}

export async function startVirtualTime(options: VirtualTimeOptions = {}): Promise<VirtualTime> {
  if (isSimulated()) return await (await import('../simulation/simulated-time.js')).startSimulatedTime(options);
  return await startSkippedTime(options);
}

async function startSkippedTime({ billing = false, sticky = true, perCall }: VirtualTimeOptions): Promise<VirtualTime> {
  quietRuntime();
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: testServerPath() } },
    client: { dataConverter: testDataConverter() },
  });
  awaitInSmallSteps(environment);
  const { client, nativeConnection: connection } = environment;
  await registerSearchAttributes(environment.connection, environment.namespace ?? 'default');
  const stateDir = mkdtempSync(join(tmpdir(), 'holdfast-time-'));
  const service = await startSandbox({ stateDir });
  const sandbox = new SandboxControl(service.url);
  const clock = followClock(environment, sandbox);

  const requests = new RequestLog(clock.now);
  const dispatcher = createDispatcher();
  const { appId, privateKey } = DEFAULT_UNIT;
  const through = (over: typeof dispatcher): ProviderClient =>
    new ProviderClient({
      baseUrl: service.url,
      environment: 'test',
      unit: { appId, privateKey, apiVersion: '1.3.0' },
      dispatcher: over,
    });
  const providers = new Map([['default', through(requests.noting(dispatcher))]]);
  const engine = createEnginePort(withRealAnswers(withLegacyLists(client)));

  const held = new Map<string, () => Promise<void>>();
  const addresses: (() => void)[] = [];
  let endWorker = async (): Promise<void> => {};
  const startWorker = async (keys?: string): Promise<void> => {
    const limits = perCall === undefined ? {} : { outgoing: { perCall, approveWithinMs: 72 * HOUR } };
    const units = new Map([['default', { riskUnit: 'default', holdMs: DEFAULT_HOLD_MS, ...limits }]]);
    const activities = {
      providers,
      units,
      engine,
      notifications: tellingOf(),
      post: postByFetch,
      now: clock.now,
    };
    const deps = {
      connection,
      client,
      dataConverter: testDataConverter(keys),
      providers,
      units,
      bundlePath: bundlePath(),
      overrides: {
        ...(!sticky && { maxCachedWorkflows: 0 }),
        activities: {
          ...createActivities(activities),
          ...createBillingActivities(activities),
          ...createNotificationActivities(activities),
        },
        interceptors: {
          activity: [
            ({ info }) => ({
              inbound: {
                async execute(call, next) {
                  await held.get(info.activityType)?.();
                  return await clock.adjustThen(() => next(call));
                },
              },
            }),
          ],
        },
      } satisfies Partial<WorkerOptions>,
    };
    const { overrides } = deps;
    const workers = [
      await createPaymentWorker(deps),
      ...(await createNotificationWorkers({ ...deps, overrides, notifications: activities.notifications })),
    ];
    if (billing) workers.push(await createBillingWorker({ ...deps, callsPerSecond: 1_000 }));
    const running = Promise.all(workers.map((worker) => withoutDefaultTimeouts(worker).run()));
    endWorker = async () => {
      for (const worker of workers) worker.shutdown();
      await running;
    };
  };
  const stopWorker = async (): Promise<void> => {
    await endWorker();
    endWorker = async () => {};
  };
  await startWorker();

  const passUntil = async (at: number): Promise<void> => {
    const ms = at - (await environment.currentTimeMs());
    if (ms > 0) await environment.sleep(ms);
    await clock.adjust();
  };
  const holdfast = new HoldfastClient(client);
  return {
    sandbox,
    requests,
    holdfast,
    client,
    provider: through(dispatcher),
    now: () => environment.currentTimeMs(),
    passUntil,
    async passUnserved(at, from = 0) {
      const passing = passUntil(at);
      while ((await environment.currentTimeMs()) < from) await sleep(20);
      // A task that nobody takes up holds the engine's clock: its hold is taken off for as long.
      await environment.connection.testService?.unlockTimeSkipping({});
      await passing;
      await environment.connection.testService?.lockTimeSkipping({});
    },
    async input(options) {
      await clock.adjust();
      return await tokenizedInput(sandbox, options);
    },
    start: (input, how) => startCharge({ client, holdfast, now: () => environment.currentTimeMs() }, input, how),
    startWorker,
    stopWorker,
    hold(activity) {
      let release = (): void => {};
      const released = new Promise<void>((resolve) => (release = resolve));
      const reached = new Promise<void>((resolve) => {
        held.set(activity, async () => {
          resolve();
          await released;
        });
      });
      return {
        reached,
        release() {
          held.delete(activity);
          release();
        },
      };
    },
    fail(activity) {
      held.set(activity, async () => {
        throw new Error('planted by the test');
      });
      return () => held.delete(activity);
    },
    async listen(answer) {
      const { url, close } = await answerLocally(answer);
      addresses.push(close);
      return url;
    },
    async close() {
      for (const closeAddress of addresses) closeAddress();
      await stopWorker();
      await environment.teardown();
      await dispatcher.close();
      await service.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
