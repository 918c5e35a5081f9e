import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { NativeConnection, WorkerDeploymentOptions, WorkerOptions } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { UnitTerms } from '../activities/index.js';
import { createBillingActivities } from '../activities/billing/index.js';
import { createActivities } from '../activities/index.js';
import { announcingIdentity } from '../src/client/announced-keys.js';
import { createEnginePort } from '../src/client/engine-port.js';
import { BILLING_TASK_QUEUE, DEPLOYMENT_NAME, PAYMENTS_TASK_QUEUE } from '../src/contract/names.js';
import { DEFAULT_HOLD_MS } from '../src/domain/hold.js';
import type { ProviderClient } from '../src/provider/index.js';
import { EncryptionCodec } from '../src/security/payload-codec.js';
import { bundleWorkflows } from './bundle-workflows.js';
import { eventSpans } from './event-spans.js';

/** Beyond this many, a flow that is only waiting is replayed when something reaches it. */
const MAX_CACHED_WORKFLOWS = 600;

/** They wait for weeks: a cached one is of no use. */
const MAX_CACHED_SUBSCRIPTIONS = 200;

export interface PaymentWorkerDeps {
  connection: NativeConnection;
  /** For the few things an activity asks of the engine. */
  client: Client;
  dataConverter: DataConverter;
  providers: ReadonlyMap<string, ProviderClient>;
  /** What the configuration says of each unit. Default: holds of 7 days, and each its own risk unit. */
  units?: ReadonlyMap<string, UnitTerms>;
  /** Whether a start in clear is refused. Default: no. */
  refusesClear?: boolean;
  /** How merchants are notified of what happens to subscriptions; absent: not at all. */
  notify?: { secret: string | undefined; overHttp: boolean };
  /** File made by `bundle-workflows.js`; bundled on the spot when absent. */
  bundlePath?: string;
  /** Set: the worker is one version of the deployment `holdfast`, and gets no work before that is made current. */
  buildId?: string;
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
    identity: announcingIdentity(`${process.pid}@${hostname()}`, keyIdsOf(deps.dataConverter)),
    activities: activitiesOf(deps),
    sinks: eventSpans,
    maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
    ...(deps.buildId !== undefined && { workerDeploymentOptions: versionOf(deps.buildId, 'AUTO_UPGRADE') }),
    // Calls under way get this long to hear their answer; what is lost is asked again with the same key.
    shutdownGraceTime: '5 seconds',
    shutdownForceTime: '7 seconds',
    ...deps.overrides,
  });
}

/**
 * Flows that may wait for days go on with the newest code, whose changes are patched; a subscription stays with the
 * code that its period began with. That is said by the worker and not by the workflow: the server takes no task from
 * a worker without a version whose workflow names such a behavior.
 */
function versionOf(buildId: string, defaultVersioningBehavior: 'AUTO_UPGRADE' | 'PINNED'): WorkerDeploymentOptions {
  return {
    version: { deploymentName: DEPLOYMENT_NAME, buildId },
    useWorkerVersioning: true,
    defaultVersioningBehavior,
  };
}

export interface BillingWorkerDeps extends PaymentWorkerDeps {
  /** Calls to the payment service, and other activities, that leave this queue per second, over all workers. */
  callsPerSecond: number;
}

/**
 * The worker of the billing queue: subscriptions and the payments that they start. What is due at once leaves no
 * faster than the queue's limit, and never takes the place of a buyer who waits.
 */
export async function createBillingWorker(deps: BillingWorkerDeps): Promise<Worker> {
  return await createPaymentWorker({
    ...deps,
    overrides: {
      taskQueue: BILLING_TASK_QUEUE,
      maxTaskQueueActivitiesPerSecond: deps.callsPerSecond,
      maxConcurrentActivityTaskExecutions: 20,
      maxConcurrentWorkflowTaskExecutions: 10,
      maxCachedWorkflows: MAX_CACHED_SUBSCRIPTIONS,
      ...(deps.buildId !== undefined && { workerDeploymentOptions: versionOf(deps.buildId, 'PINNED') }),
      ...deps.overrides,
    },
  });
}

/** The keys that this worker can decode with. */
function keyIdsOf({ payloadCodecs = [] }: DataConverter): string[] {
  return payloadCodecs.flatMap((codec) => (codec instanceof EncryptionCodec ? codec.keyIds : []));
}

/** Payments and billing: one worker's workflows may be of either kind. */
function activitiesOf(deps: PaymentWorkerDeps) {
  const needs = {
    providers: deps.providers,
    units: deps.units ?? defaultTerms(deps.providers.keys()),
    engine: createEnginePort(deps.client),
    refusesClear: deps.refusesClear ?? false,
    notifySecret: deps.notify?.secret,
    notifyOverHttp: deps.notify?.overHttp ?? false,
    now: Date.now,
  };
  return { ...createActivities(needs), ...createBillingActivities(needs) };
}

function defaultTerms(names: Iterable<string>): Map<string, UnitTerms> {
  return new Map([...names].map((name) => [name, { riskUnit: name, holdMs: DEFAULT_HOLD_MS }]));
}
