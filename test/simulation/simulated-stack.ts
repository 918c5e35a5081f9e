import { LONGEST_WAIT_MS } from '../../src/contract/engine-port.js';
import { PLAIN_UNIT } from '../../tools/stack/profile-units.js';
import { BILLING_TASK_QUEUE, PAYMENTS_TASK_QUEUE } from '../../src/contract/names.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import type { ReadyProcess } from '../../tools/stack/ready-process.js';
import type { TestStack, TestStackOptions } from '../support/stack.js';
import { createSimulation, type Simulation, type SimulationOptions } from './simulation.js';
import type { SimulatedWorker } from './worker/worker.js';
import { SANDBOX_URL, WEBHOOK_URL } from './world/world.js';

/** What a simulated process can be told by its environment. */
const KNOWN_ENV = new Set([
  'HOLDFAST_BUSINESS_UNITS',
  'HOLDFAST_ENCRYPTION_KEYS',
  'HOLDFAST_NOTIFY_HOSTS',
  'HOLDFAST_NOTIFY_PRIVATE',
  'HOLDFAST_NOTIFY_SECRET',
  'HOLDFAST_TASK_QUEUES',
]);

/** A year of waiting would be a million and a half of a server's long polls. */
const LONG_POLL_MS = 20 * 86_400_000;

/** Why these options want real processes; undefined when they can be simulated. */
export function whyNotSimulated({
  workerEnv = {},
  webhookEnv = {},
  temporal,
  real = false,
}: TestStackOptions): string | undefined {
  if (real) return 'it asks for real processes';
  if (temporal !== undefined) return 'it names a Temporal of its own';
  const unknown = [...Object.keys(workerEnv), ...Object.keys(webhookEnv)].filter((name) => !KNOWN_ENV.has(name));
  return unknown.length === 0 ? undefined : `it sets ${unknown.join(', ')}`;
}

let stacks = 0;

/**
 * The stack of `startStack` without a process, a port or a server, on virtual time.
 *
 * @param more replaces what the simulation is given besides
 */
export async function startSimulatedStack(
  options: TestStackOptions = {},
  more: Partial<SimulationOptions> = {},
): Promise<TestStack> {
  const why = whyNotSimulated(options);
  if (why !== undefined) throw new Error(`This stack can't be simulated: ${why}`);
  const simulation = await createSimulation({
    seed: `stack ${(stacks += 1)}`,
    startAt: Date.now(),
    units: [PLAIN_UNIT, ...(options.units ?? [])],
    webhooks: options.webhook !== false,
    keys: TEST_ENCRYPTION_KEYS,
    longPollMs: LONG_POLL_MS,
    waitForEndMs: LONGEST_WAIT_MS,
    ...(options.pendingMs !== undefined && { settings: { pendingMs: options.pendingMs } }),
    worker: {
      queues: options.billing === true ? [PAYMENTS_TASK_QUEUE, BILLING_TASK_QUEUE] : [PAYMENTS_TASK_QUEUE],
      ...(options.workerEnv !== undefined && { env: options.workerEnv }),
    },
    ...more,
  });
  return stackOn(simulation, options);
}

/** A simulation in the form of the stack that tests know, with a first worker. */
export function stackOn(simulation: Simulation, options: Pick<TestStackOptions, 'webhook'> = {}): TestStack {
  const { world, engine } = simulation;
  let worker = simulation.startWorker();
  const startWorker = (env?: Readonly<Record<string, string>>): void => {
    worker = simulation.startWorker(env === undefined ? {} : { env });
  };
  return {
    namespace: engine.namespace,
    holdfast: simulation.holdfast,
    temporal: simulation.client,
    sandbox: world.control,
    sandboxUrl: SANDBOX_URL,
    webhookUrl: options.webhook === false ? '' : WEBHOOK_URL,
    worker: () => asProcess(worker),
    async replaceWorker() {
      worker.kill();
      startWorker();
    },
    stopWorker: () => worker.stop(),
    async startWorker(env) {
      startWorker(env);
    },
    close: () => simulation.close(),
  };
}

function asProcess(worker: SimulatedWorker): ReadyProcess {
  return {
    url: '',
    get process(): never {
      throw new Error('A simulated worker has no process');
    },
    logs: () => '',
    async kill() {
      worker.kill();
    },
    async stop() {
      await worker.stop();
      return 0;
    },
  };
}
