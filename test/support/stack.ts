import { Client } from '@temporalio/client';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import { DEFAULT_UNIT, SandboxControl } from '../../sandbox/control.js';
import { connectClosably } from './closable-connection.js';
import { testDataConverter } from './data-converter.js';
import { askRun } from './run-service.js';
import type { Engine, Services } from '../../tools/stack/services.js';
import { startTestServices, type TestServicesOptions } from './test-services.js';
import { claimNamespace, temporalAddress } from './temporal.js';
import { isSimulated } from './which-engine.js';

export interface TestStackOptions extends TestServicesOptions {
  /** Another Temporal than the shared one. */
  temporal?: Engine;
  /** Only real processes will do: the test adds one of its own, or reads what they log. */
  real?: boolean;
}

/**
 * Sandbox, webhook handler and worker as real processes in a namespace of their own, on the Temporal
 * server that all tests share.
 */
export interface TestStack extends Omit<Services, 'engine'> {
  readonly namespace: string;
  readonly holdfast: HoldfastClient;
  readonly temporal: Client;
}

export async function startStack(options: TestStackOptions = {}): Promise<TestStack> {
  if (isSimulated()) {
    const { startSimulatedStack, whyNotSimulated } = await import('../simulation/simulated-stack.js');
    if (whyNotSimulated(options) === undefined) return await startSimulatedStack(options);
  }
  return await startOnProcesses(options);
}

async function startOnProcesses({ temporal, real: _real, ...options }: TestStackOptions): Promise<TestStack> {
  const engine = temporal ?? { address: await temporalAddress(), namespace: await claimNamespace() };
  const { engine: _engine, ...processes } = await startTestServices(options, engine);
  const clients = await connectTo(engine);
  return {
    ...processes,
    ...clients,
    async close() {
      await processes.close();
      // Not the bare connection: calls that a test has left alone are waited for.
      await clients.holdfast.close();
    },
  };
}

/** What a file may choose of a stack that it shares. Of each choice the run starts one. */
export type SharedStackOptions = Pick<TestStackOptions, 'webhook' | 'pendingMs' | 'real'> & {
  /** The default unit analyses the risk of its own payments, as `npm start` has it. Default false. */
  riskUnit?: boolean;
};

/**
 * A stack, subscriptions included, that other files use at the same time: for those that kill nothing, and whose faults
 * and questions name a reference, a payment or a transaction of theirs. Its processes end with the run.
 */
export async function sharedStack({
  webhook = true,
  pendingMs,
  real = false,
  riskUnit = false,
}: SharedStackOptions = {}): Promise<TestStack> {
  const workerEnv = { HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: { ...DEFAULT_UNIT, riskUnit: 'default' } }) };
  const options = {
    webhook,
    billing: true,
    ...(pendingMs !== undefined && { pendingMs }),
    ...(riskUnit && { workerEnv }),
  };
  // There it costs next to nothing to have one alone.
  if (isSimulated() && !real) return await startStack(options);
  const { engine, sandboxUrl, webhookUrl } = await askRun<Pick<Services, 'engine' | 'sandboxUrl' | 'webhookUrl'>>(
    '/stack',
    options,
  );
  const clients = await connectTo(engine);
  const refuse = (): never => {
    throw new Error('Other files use the processes of this stack: start one with startStack.');
  };
  return {
    ...clients,
    sandbox: new SandboxControl(sandboxUrl),
    sandboxUrl,
    webhookUrl,
    worker: refuse,
    replaceWorker: refuse,
    stopWorker: refuse,
    startWorker: refuse,
    close: () => clients.holdfast.close(),
  };
}

async function connectTo({
  address,
  namespace,
}: Engine): Promise<Pick<TestStack, 'namespace' | 'holdfast' | 'temporal'>> {
  const connection = await connectClosably(address);
  const temporal = new Client({ connection, namespace, dataConverter: testDataConverter() });
  return { namespace, temporal, holdfast: new HoldfastClient(temporal) };
}
