import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addUnits, businessUnitsSetting, PLAIN_UNIT, type ProfileUnit } from '../../tools/stack/profile-units.js';
import { SandboxControl } from '../../sandbox/control.js';
import { TEST_ENCRYPTION_KEYS } from './data-converter.js';
import { startReadyProcess, type ReadyProcess } from '../../tools/stack/ready-process.js';

export interface StackProcessesOptions {
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
}

/** A Temporal server, and whose flows the stack runs there. */
export interface Engine {
  readonly address: string;
  readonly namespace: string;
}

/** Sandbox, webhook handler and worker as real processes. */
export interface StackProcesses {
  readonly engine: Engine;
  readonly sandbox: SandboxControl;
  readonly sandboxUrl: string;
  /** Empty without a webhook handler. */
  readonly webhookUrl: string;
  worker(): ReadyProcess;
  /** SIGKILL, then a new worker. */
  replaceWorker(): Promise<void>;
  stopWorker(): Promise<void>;
  /** `env` is for this one worker only: another key ring, say. */
  startWorker(env?: Record<string, string>): Promise<void>;
  killSandbox(): Promise<void>;
  close(): Promise<void>;
}

/** @throws Error when a process does not become ready; those that were are stopped then */
export async function startStackProcesses(options: StackProcessesOptions, engine: Engine): Promise<StackProcesses> {
  const stateDir = mkdtempSync(join(tmpdir(), 'holdfast-stack-'));
  const running = new Set<ReadyProcess>();
  const start = async (file: string, env: Record<string, string>): Promise<ReadyProcess> => {
    const started = await startReadyProcess(file, { env });
    running.add(started);
    return started;
  };
  try {
    return await startIn(stateDir, start, options, engine);
  } catch (error) {
    await Promise.all([...running].map((started) => started.kill()));
    rmSync(stateDir, { recursive: true, force: true });
    throw error;
  }
}

async function startIn(
  stateDir: string,
  start: (file: string, env: Record<string, string>) => Promise<ReadyProcess>,
  options: StackProcessesOptions,
  engine: Engine,
): Promise<StackProcesses> {
  const units = [PLAIN_UNIT, ...(options.units ?? [])];
  const base = {
    HOLDFAST_STATE_DIR: stateDir,
    HOLDFAST_LOG_LEVEL: 'warn',
    HOLDFAST_BILLING_CALLS_PER_SECOND: '1000',
    HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
    HOLDFAST_BUSINESS_UNITS: businessUnitsSetting(units),
    HOLDFAST_ENVIRONMENT: 'test',
    HOLDFAST_TASK_QUEUES: options.billing === true ? 'all' : 'payments',
    HOLDFAST_WEBHOOK_PORT: '0',
    HOLDFAST_WEBHOOK_METRICS_PORT: '0',
    HOLDFAST_WORKER_METRICS_PORT: '0',
    TEMPORAL_ADDRESS: engine.address,
    TEMPORAL_NAMESPACE: engine.namespace,
  };
  const sandboxEnv = {
    ...base,
    HOLDFAST_SANDBOX_PORT: '0',
    ...(options.pendingMs !== undefined && { HOLDFAST_SANDBOX_PENDING_MS: String(options.pendingMs) }),
  };
  // First, as it takes whatever port is free: the others are told its address.
  let sandboxProcess = await start('dist/sandbox/main.js', sandboxEnv);
  const sandboxUrl = sandboxProcess.url;
  const sandbox = new SandboxControl(sandboxUrl);
  const knowing = { ...base, HOLDFAST_API_BASE_URL: sandboxUrl };
  const webhook =
    options.webhook === false
      ? undefined
      : await start('dist/workers/webhook.js', { ...knowing, ...options.webhookEnv });
  const webhookUrl = webhook === undefined ? '' : new URL('/webhooks', webhook.url).href;
  if (webhook !== undefined) await sandbox.addWebhookEndpoint({ url: webhookUrl });
  await addUnits(sandbox, units, webhook === undefined ? undefined : webhookUrl);
  const workerEnv = { ...knowing, ...options.workerEnv };
  const newWorker = (env: Record<string, string> = {}): Promise<ReadyProcess> =>
    start('dist/workers/worker.js', { ...workerEnv, ...env });
  let worker = await newWorker();
  return {
    engine,
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
      sandboxProcess = await start('dist/sandbox/main.js', { ...sandboxEnv, HOLDFAST_SANDBOX_PORT: port });
    },
    async close() {
      await worker.stop();
      await webhook?.stop();
      await sandboxProcess.stop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
