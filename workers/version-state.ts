import type { Client } from '@temporalio/client';
import { codeOf, GRPC } from '../src/client/grpc-codes.js';

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
