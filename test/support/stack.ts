import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { addUnits, businessUnitsSetting, PLAIN_UNIT, type ProfileUnit } from '../../scripts/attack/profile-units.js';
import { freePort } from '../../scripts/stack/ports.js';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import { SandboxControl } from '../../src/sandbox/control.js';
import { connectClosably } from './closable-connection.js';
import { TEST_ENCRYPTION_KEYS, testDataConverter } from './data-converter.js';
import type { Spawned } from './spawned.js';
import { spawnProcess } from './spawned.js';
import { claimNamespace, temporalAddress } from './temporal.js';
import { isSimulated } from './which-engine.js';

export interface TestStackOptions {
  /** Webhook handler too, registered at the sandbox. Default true. */
  webhook?: boolean;
  /** How long `Pending` mocks take, in ms. Default 10 s, as the sandbox has it. */
  pendingMs?: number;
  /** Subscriptions too. Default false: their queue has a worker of its own. */
  billing?: boolean;
  /** Business units beside the default one, with how their service behaves. */
  units?: readonly ProfileUnit[];
  /** More environment for the worker. */
  workerEnv?: Record<string, string>;
  /** More environment for the webhook handler. */
  webhookEnv?: Record<string, string>;
  /** Another Temporal than the shared one. */
  temporal?: { address: string; namespace: string };
}

/**
 * Sandbox, webhook handler and worker as real processes in a namespace of their own, on the Temporal
 * server that all tests share.
 */
export interface TestStack {
  readonly namespace: string;
  readonly holdfast: HoldfastClient;
  readonly temporal: Client;
  readonly sandbox: SandboxControl;
  readonly sandboxUrl: string;
  readonly webhookUrl: string;
  worker(): Spawned;
  /** SIGKILL, then a new worker. */
  replaceWorker(): Promise<void>;
  stopWorker(): Promise<void>;
  /** `env` is for this one worker only: another key ring, say. */
  startWorker(env?: Record<string, string>): Promise<void>;
  killSandbox(): Promise<void>;
  close(): Promise<void>;
}

export async function startStack(options: TestStackOptions = {}): Promise<TestStack> {
  if (isSimulated()) {
    const { startSimulatedStack, whyNotSimulated } = await import('../simulation/simulated-stack.js');
    if (whyNotSimulated(options) === undefined) return await startSimulatedStack(options);
  }
  return await startProcesses(options);
}

async function startProcesses(options: TestStackOptions): Promise<TestStack> {
  const stateDir = mkdtempSync(join(tmpdir(), 'holdfast-stack-'));
  const engine = options.temporal ?? { address: temporalAddress(), namespace: await claimNamespace() };
  const units = [PLAIN_UNIT, ...(options.units ?? [])];
  const sandboxPort = await freePort();
  const base = {
    HOLDFAST_STATE_DIR: stateDir,
    HOLDFAST_LOG_LEVEL: 'warn',
    HOLDFAST_BILLING_CALLS_PER_SECOND: '1000',
    HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
    HOLDFAST_BUSINESS_UNITS: businessUnitsSetting(units),
    HOLDFAST_ENVIRONMENT: 'test',
    HOLDFAST_SANDBOX_PORT: String(sandboxPort),
    HOLDFAST_TASK_QUEUES: options.billing === true ? 'all' : 'payments',
    HOLDFAST_WEBHOOK_PORT: '0',
    HOLDFAST_WEBHOOK_METRICS_PORT: '0',
    HOLDFAST_WORKER_METRICS_PORT: '0',
    TEMPORAL_ADDRESS: engine.address,
    TEMPORAL_NAMESPACE: engine.namespace,
    // Handler and sandbox know each other's address, so one of the two is chosen before it runs.
    HOLDFAST_API_BASE_URL: `http://127.0.0.1:${sandboxPort}`,
  };
  const webhook =
    options.webhook === false
      ? undefined
      : await spawnProcess('dist/workers/webhook.js', { ...base, ...options.webhookEnv });
  const webhookUrl = webhook === undefined ? '' : new URL('/webhooks', webhook.url).href;
  const sandboxEnv = {
    ...base,
    ...(webhook !== undefined && { HOLDFAST_SANDBOX_WEBHOOK_URL: webhookUrl }),
    ...(options.pendingMs !== undefined && { HOLDFAST_SANDBOX_PENDING_MS: String(options.pendingMs) }),
  };
  let sandboxProcess = await spawnProcess('dist/src/sandbox/main.js', sandboxEnv);
  const sandboxUrl = sandboxProcess.url;
  const sandbox = new SandboxControl(sandboxUrl);
  await addUnits(sandbox, units, webhook === undefined ? undefined : webhookUrl);
  const workerEnv = { ...base, HOLDFAST_API_BASE_URL: sandboxUrl, ...options.workerEnv };
  const newWorker = (env: Record<string, string> = {}): Promise<Spawned> =>
    spawnProcess('dist/workers/worker.js', { ...workerEnv, ...env });
  let worker = await newWorker();

  const connection = await connectClosably(engine.address);
  const temporal = new Client({ connection, namespace: engine.namespace, dataConverter: testDataConverter() });

  const holdfast = new HoldfastClient(temporal);

  return {
    namespace: engine.namespace,
    holdfast,
    temporal,
    sandbox,
    sandboxUrl,
    webhookUrl,
    worker: () => worker,
    async replaceWorker() {
      await worker.kill();
      worker = await newWorker();
    },
    async stopWorker() {
      await worker.stop();
    },
    async startWorker(env) {
      worker = await newWorker(env);
    },
    async killSandbox() {
      await sandboxProcess.kill();
      const port = new URL(sandboxUrl).port;
      sandboxProcess = await spawnProcess('dist/src/sandbox/main.js', { ...sandboxEnv, HOLDFAST_SANDBOX_PORT: port });
    },
    async close() {
      await worker.stop();
      await webhook?.stop();
      await sandboxProcess.stop();
      // Not the bare connection: calls that a test has left alone are waited for.
      await holdfast.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
