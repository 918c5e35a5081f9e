import { rmSync } from 'node:fs';
import { SandboxControl } from '../../sandbox/control.js';
import { addUnits, businessUnitsSetting, PLAIN_UNIT, type ProfileUnit } from './profile-units.js';
import { PROGRAMS, type ProgramName, type ReadyProcess, startReadyProcess } from './ready-process.js';

/** A Temporal server, and whose flows the services run there. */
export interface Engine {
  readonly address: string;
  readonly namespace: string;
}

export interface ServicesOptions {
  engine: Engine;
  /** A folder of the sandbox, and of the others if `env` names none: emptied first, and removed by `close`. */
  stateDir: string;
  /** Environment of all three. */
  env: NodeJS.ProcessEnv;
  /** Business units beside the default one, with how their service behaves. */
  units?: readonly ProfileUnit[];
  /** Webhook handler too, registered at the sandbox. Default true. */
  webhook?: boolean;
  /** More environment for one of them. */
  sandboxEnv?: Readonly<Record<string, string>>;
  webhookEnv?: Readonly<Record<string, string>>;
  workerEnv?: Readonly<Record<string, string>>;
  /** Aborting it sends SIGTERM to all. */
  signal?: AbortSignal;
}

/** Sandbox, webhook handler and worker as real processes beside a Temporal server that runs already. */
export interface Services {
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
  startWorker(env?: Readonly<Record<string, string>>): Promise<void>;
  /** SIGTERM to all, then SIGKILL after `limitMs` if given. */
  close(limitMs?: number): Promise<void>;
}

/** @throws Error with the output of a process that does not become ready; those that were are killed then */
export async function startServices(options: ServicesOptions): Promise<Services> {
  const removeState = (): void => rmSync(options.stateDir, { recursive: true, force: true });
  removeState();
  const started: ReadyProcess[] = [];
  const start = async (name: ProgramName, env: NodeJS.ProcessEnv): Promise<ReadyProcess> => {
    const { signal } = options;
    const one = await startReadyProcess(`dist/${PROGRAMS[name]}`, { env, ...(signal !== undefined && { signal }) });
    started.push(one);
    return one;
  };
  try {
    return await startWith(start, options, removeState);
  } catch (error) {
    await Promise.all(started.map((one) => one.kill()));
    removeState();
    throw error;
  }
}

type Start = (name: ProgramName, env: NodeJS.ProcessEnv) => Promise<ReadyProcess>;

async function startWith(start: Start, options: ServicesOptions, removeState: () => void): Promise<Services> {
  const { engine } = options;
  const units = [PLAIN_UNIT, ...(options.units ?? [])];
  const base = { ...environmentOf(options, units), HOLDFAST_STOP_SECONDS: '5' };
  // First, as it takes whatever port is free: the others are told its address.
  const sandboxProcess = await start('sandbox', {
    ...base,
    HOLDFAST_STATE_DIR: options.stateDir,
    ...options.sandboxEnv,
  });
  const sandboxUrl = sandboxProcess.url;
  const sandbox = new SandboxControl(sandboxUrl);
  const env = { ...base, HOLDFAST_API_BASE_URL: sandboxUrl };
  const webhook = options.webhook === false ? undefined : await start('webhook', { ...env, ...options.webhookEnv });
  const webhookUrl = webhook === undefined ? undefined : new URL('/webhooks', webhook.url).href;
  if (webhookUrl !== undefined) await sandbox.addWebhookEndpoint({ url: webhookUrl });
  await addUnits(sandbox, units, webhookUrl);
  const newWorker = (more: Readonly<Record<string, string>> = {}): Promise<ReadyProcess> =>
    start('worker', { ...env, ...options.workerEnv, ...more });
  let worker = await newWorker();
  return {
    engine,
    sandbox,
    sandboxUrl,
    webhookUrl: webhookUrl ?? '',
    worker: () => worker,
    async replaceWorker() {
      await worker.kill();
      worker = await newWorker();
    },
    async stopWorker() {
      await worker.stop();
    },
    async startWorker(more) {
      worker = await newWorker(more);
    },
    async close(limitMs) {
      // First, so that what it still has under way reaches the sandbox.
      await worker.stop(limitMs);
      await Promise.all([webhook?.stop(limitMs), sandboxProcess.stop(limitMs)]);
      removeState();
    },
  };
}

/** Environment of a process beside that engine. It listens on whatever ports are free, and logs warnings. */
export function environmentOf(
  { engine, stateDir, env }: Pick<ServicesOptions, 'engine' | 'stateDir' | 'env'>,
  units: readonly ProfileUnit[] = [PLAIN_UNIT],
): NodeJS.ProcessEnv {
  return {
    HOLDFAST_STATE_DIR: stateDir,
    ...env,
    HOLDFAST_BUSINESS_UNITS: businessUnitsSetting(units),
    HOLDFAST_LOG_LEVEL: 'warn',
    HOLDFAST_ENVIRONMENT: 'test',
    HOLDFAST_SANDBOX_PORT: '0',
    HOLDFAST_WEBHOOK_PORT: '0',
    HOLDFAST_WEBHOOK_METRICS_PORT: '0',
    HOLDFAST_WORKER_METRICS_PORT: '0',
    TEMPORAL_ADDRESS: engine.address,
    TEMPORAL_NAMESPACE: engine.namespace,
  };
}
