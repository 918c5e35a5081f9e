import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { UnitTerms } from '../activities/index.js';
import { createActivities } from '../activities/index.js';
import { createEnginePort } from '../src/client/engine-port.js';
import { PAYMENTS_TASK_QUEUE } from '../src/contract/names.js';
import { DEFAULT_HOLD_MS } from '../src/domain/hold.js';
import type { ProviderClient } from '../src/provider/index.js';
import { bundleWorkflows } from './bundle-workflows.js';
import { eventSpans } from './event-spans.js';

/** Beyond this many, a flow that is only waiting is replayed when something reaches it. */
const MAX_CACHED_WORKFLOWS = 600;

export interface PaymentWorkerDeps {
  connection: NativeConnection;
  /** For the few things an activity asks of the engine. */
  client: Client;
  dataConverter: DataConverter;
  providers: ReadonlyMap<string, ProviderClient>;
  /** What the configuration says of each unit. Default: holds of 7 days, and each its own risk unit. */
  units?: ReadonlyMap<string, UnitTerms>;
  /** File made by `bundle-workflows.js`; bundled on the spot when absent. */
  bundlePath?: string;
  /** For tests and benchmarks. */
  overrides?: Partial<WorkerOptions>;
}

/** The prebuilt bundle beside the compiled code, if there is one. */
export function builtBundlePath(): string | undefined {
  const path = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  return existsSync(path) ? path : undefined;
}

/** The worker that serves payment flows: used by the process and by tests alike. */
export async function createPaymentWorker(deps: PaymentWorkerDeps): Promise<Worker> {
  const workflowBundle =
    deps.bundlePath === undefined ? { code: await bundleWorkflows() } : { codePath: deps.bundlePath };
  return await Worker.create({
    connection: deps.connection,
    namespace: deps.client.options.namespace,
    taskQueue: PAYMENTS_TASK_QUEUE,
    workflowBundle,
    dataConverter: deps.dataConverter,
    activities: createActivities({
      providers: deps.providers,
      units: deps.units ?? defaultTerms(deps.providers.keys()),
      engine: createEnginePort(deps.client),
      now: Date.now,
    }),
    sinks: eventSpans,
    maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
    // Calls under way get this long to hear their answer; what is lost is asked again with the same key.
    shutdownGraceTime: '5 seconds',
    shutdownForceTime: '7 seconds',
    ...deps.overrides,
  });
}

function defaultTerms(names: Iterable<string>): Map<string, UnitTerms> {
  return new Map([...names].map((name) => [name, { riskUnit: name, holdMs: DEFAULT_HOLD_MS }]));
}
