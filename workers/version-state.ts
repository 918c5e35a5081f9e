import type { Client } from '@temporalio/client';
import { codeOf, GRPC } from '../src/client/grpc-codes.js';
import { BILLING_TASK_QUEUE, PAYMENTS_TASK_QUEUE } from '../src/contract/names.js';
import type { Logger } from '../src/security/logging.js';

/** By the API's `WorkerDeploymentVersionStatus`. A version that nobody has made current yet is inactive. */
const STATES: readonly VersionState[] = ['unknown', 'inactive', 'current', 'ramping', 'draining', 'drained'];
export type VersionState = 'unknown' | 'inactive' | 'current' | 'ramping' | 'draining' | 'drained';

/** Which build of which worker deployment. */
export interface Version {
  deploymentName: string;
  buildId: string;
}

export async function readVersionState(
  { workflowService, options: { namespace } }: Client,
  deploymentVersion: Version,
): Promise<VersionState> {
  try {
    const described = await workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion });
    return STATES[described.workerDeploymentVersionInfo?.status ?? 0] ?? 'unknown';
  } catch (error) {
    // Until the first poll of a build the server does not know it.
    return codeOf(error) === GRPC.notFound ? 'inactive' : 'unknown';
  }
}

/** What a state means for a worker of this build; undefined where there is nothing to say. */
export function sayState(state: VersionState, { deploymentName, buildId }: Version): string | undefined {
  const version = `Build "${buildId}" of deployment "${deploymentName}"`;
  switch (state) {
    case 'inactive':
      return (
        `${version} is not current: this worker gets no work until it is: temporal worker deployment set-current-version ` +
        `--deployment-name ${deploymentName} --build-id ${buildId}`
      );
    case 'draining':
      return `${version} is draining: this worker gets nothing but what began with it`;
    case 'drained':
      return `${version} is drained: nothing waits for this worker, it can be stopped`;
    default:
      return undefined;
  }
}

/** Logs what states mean, as they are read one after the other: that a build gets no work each time, anything else once. */
export function logStates(logger: Logger): (state: VersionState, means: string | undefined) => void {
  let isFirst = true;
  let said: string | undefined;
  return (state, means) => {
    // A build that has just started can't be current yet.
    if (state === 'inactive' && !isFirst) logger.warn(means);
    else if (means !== undefined && state !== 'inactive' && means !== said) logger.info(means);
    said = means;
    isFirst = false;
  };
}

/** The others have activities alone, which no build is current for. */
const VERSIONED_QUEUES: readonly string[] = [PAYMENTS_TASK_QUEUE, BILLING_TASK_QUEUE];
const WORKFLOW_TASKS = 1;

/**
 * Why workers of no build get nothing from these task queues, each a sentence with its mend. None where they get at least
 * a share, or the server has no versions.
 * @throws Error if that can't be read
 */
export async function whyPassedOver(
  { workflowService, options: { namespace } }: Pick<Client, 'workflowService' | 'options'>,
  taskQueues: readonly string[],
): Promise<string[]> {
  const reasons: string[] = [];
  for (const name of VERSIONED_QUEUES.filter((queue) => taskQueues.includes(queue))) {
    const asked = { namespace, taskQueue: { name }, taskQueueType: WORKFLOW_TASKS };
    const { versioningInfo: info } = await workflowService.describeTaskQueue(asked);
    const { deploymentName, buildId } = info?.currentDeploymentVersion ?? {};
    if (!deploymentName || !buildId) continue;
    // A ramp away from builds, by which workers of none get their share.
    if (!info?.rampingDeploymentVersion?.buildId && (info?.rampingVersionPercentage ?? 0) > 0) continue;
    reasons.push(
      `build "${buildId}" of deployment "${deploymentName}" is current on task queue "${name}": this worker, of no build, gets ` +
        'nothing from it: set HOLDFAST_BUILD_ID, or give all work to workers of no build: temporal worker deployment ' +
        `set-current-version --deployment-name ${deploymentName} --unversioned.`,
    );
  }
  return reasons;
}
