import { type Client, isGrpcServiceError } from '@temporalio/client';
import { rethrowKnownErrorTypes } from '@temporalio/client/lib/helpers.js';
import { BILLING_TASK_QUEUE, PAYMENTS_TASK_QUEUE } from '../contract/names.js';
import { codeOf, GRPC, unlessMissing } from './grpc-codes.js';

/** Versions that a server takes of one deployment, unless its `matching.maxVersionsInDeployment` says otherwise. */
export const MOST_VERSIONS = 100;
/** Deployments that a server takes of one namespace, unless its `matching.maxDeployments` says otherwise. */
const MOST_NAMED = 100;

/** In the order of Temporal's enum `WorkerDeploymentVersionStatus`. */
const STATUSES = ['unknown', 'inactive', 'current', 'ramping', 'draining', 'drained', 'created'] as const;

/** One version of the worker deployment. */
export interface Build {
  buildId: string;
  /** `inactive`, `created`: it was never made current. `drained`: as the server last saw, minutes ago at most. */
  status: (typeof STATUSES)[number];
  /** Of new work, in percent; of a ramping build only. */
  ramp: number | null;
  /** ISO 8601 UTC: since when it is current, ramping, or neither any more; else when its first worker polled. */
  since: string | null;
  workers: Workers;
}

/** Worker processes that have polled the queue within the last 90 s. */
export interface Workers {
  payments: number;
  billing: number;
}

export interface WorkerDeployment {
  builds: Build[];
  /** Workers on the same queues that are of no build. */
  unversioned: Workers;
}

type Engine = Pick<Client, 'workflowService' | 'options'>;

/**
 * The deployment's versions, the newest first; undefined if no versioned worker has polled yet, or the server has none.
 * @throws NamespaceNotFoundError
 */
export async function readDeployment(engine: Engine, deploymentName: string): Promise<WorkerDeployment | undefined> {
  const info = await deploymentInfo(engine, deploymentName);
  if (info === undefined) return undefined;
  const payments = await pollersOf(engine, PAYMENTS_TASK_QUEUE, deploymentName);
  const billing = await pollersOf(engine, BILLING_TASK_QUEUE, deploymentName);
  const workersOf = (build: string | undefined): Workers => ({
    payments: payments.get(build)?.size ?? 0,
    billing: billing.get(build)?.size ?? 0,
  });
  const builds = (info.versionSummaries ?? []).map((summary): Build => {
    const buildId = summary.deploymentVersion?.buildId ?? '';
    const status = STATUSES[summary.status ?? 0] ?? 'unknown';
    const changed =
      status === 'current'
        ? summary.currentSinceTime
        : status === 'ramping'
          ? summary.rampingSinceTime
          : (summary.lastDeactivationTime ?? summary.createTime);
    return {
      buildId,
      status,
      ramp: status === 'ramping' ? (info.routingConfig?.rampingVersionPercentage ?? 0) : null,
      since: isoOf(changed),
      workers: workersOf(buildId),
    };
  });
  return { builds, unversioned: workersOf(undefined) };
}

/** Of payments and billing, those on which a build of the deployment has ever polled: another one serves the other. */
export async function polledQueues(
  { workflowService, options }: Engine,
  deploymentName: string,
  { builds }: Pick<WorkerDeployment, 'builds'>,
): Promise<ReadonlySet<keyof Workers>> {
  const { namespace } = options;
  const polled = new Set<keyof Workers>();
  for (const { buildId } of builds) {
    const deploymentVersion = { deploymentName, buildId };
    const { versionTaskQueues } =
      (await unlessMissing(workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion }))) ?? {};
    for (const { name } of versionTaskQueues ?? []) {
      if (name === PAYMENTS_TASK_QUEUE) polled.add('payments');
      if (name === BILLING_TASK_QUEUE) polled.add('billing');
    }
    if (polled.size === 2) break;
  }
  return polled;
}

/** How many versions the deployment has; undefined as in {@link readDeployment}. */
export async function countVersions(engine: Engine, deploymentName: string): Promise<number | undefined> {
  return (await deploymentInfo(engine, deploymentName))?.versionSummaries?.length;
}

/** Those of the namespace, as its lists have them by now; a server without deployments has none. */
export async function deploymentNames({ workflowService, options }: Engine): Promise<string[]> {
  try {
    const { namespace } = options;
    const { workerDeployments } = await workflowService.listWorkerDeployments({ namespace, pageSize: MOST_NAMED });
    return (workerDeployments ?? []).map(({ name }) => name ?? '');
  } catch (error) {
    if (codeOf(error) === GRPC.unimplemented) return [];
    throw error;
  }
}

async function deploymentInfo({ workflowService, options }: Engine, deploymentName: string) {
  try {
    const { namespace } = options;
    const { workerDeploymentInfo } = await workflowService.describeWorkerDeployment({ namespace, deploymentName });
    return workerDeploymentInfo ?? undefined;
  } catch (error) {
    // A namespace that is not there is the same code, and must not pass for one without a deployment.
    if (isGrpcServiceError(error)) rethrowKnownErrorTypes(error);
    const code = codeOf(error);
    if (code === GRPC.notFound || code === GRPC.unimplemented) return undefined;
    throw error;
  }
}

/** A poll lasts a minute at most, and the server remembers pollers for five. */
const POLLED_WITHIN_MS = 90_000;
const WORKFLOW_TASKS = 1;

/** Identities of the worker processes on the queue, by build; undefined: of no build. */
async function pollersOf(
  { workflowService, options }: Engine,
  taskQueue: string,
  deploymentName: string,
): Promise<Map<string | undefined, Set<string>>> {
  const { namespace } = options;
  const asked = { namespace, taskQueue: { name: taskQueue }, taskQueueType: WORKFLOW_TASKS };
  const { pollers } = await workflowService.describeTaskQueue(asked);
  const byBuild = new Map<string | undefined, Set<string>>();
  for (const { identity, lastAccessTime, deploymentOptions: version } of pollers ?? []) {
    if (Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1_000 > POLLED_WITHIN_MS) continue;
    if (version?.deploymentName && version.deploymentName !== deploymentName) continue;
    const buildId = version?.deploymentName ? (version.buildId ?? '') : undefined;
    byBuild.set(buildId, (byBuild.get(buildId) ?? new Set()).add(identity ?? ''));
  }
  return byBuild;
}

function isoOf(time: { seconds?: unknown } | null | undefined): string | null {
  const seconds = Number(time?.seconds ?? 0);
  return seconds === 0 ? null : new Date(seconds * 1_000).toISOString();
}

/** How visibility names a build's version. */
export function versionName(deploymentName: string, buildId: string): string {
  return `${deploymentName}:${buildId}`;
}
