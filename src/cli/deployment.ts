import type { Client } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { OPEN } from '../client/is-open.js';
import { sayMissing } from '../client/namespace.js';
import {
  deploymentNames,
  readDeployment,
  versionName,
  type Build,
  type WorkerDeployment,
} from '../client/worker-deployment.js';
import { BILLING_TASK_QUEUE, DEPLOYMENT_NAME, PAYMENTS_TASK_QUEUE, type WorkflowType } from '../contract/names.js';
import type { Engine } from './engine.js';
import { CommandError } from './errors.js';
import { printable } from './table.js';
import { quoted } from '../client/visibility-words.js';

/** ms for each answer of the server. */
export const ASK_MS = 15_000;

/** The deployment of the workers, as their own configuration names it. */
export function deploymentNameOf(env: NodeJS.ProcessEnv): string {
  return env['TEMPORAL_DEPLOYMENT_NAME']?.trim() || DEPLOYMENT_NAME;
}

/**
 * Undefined where the namespace has no deployment at all.
 * @throws CommandError if there is no such namespace, or it has other deployments: the workers are versioned under another
 * name then, as Temporal's Worker Controller does, and an operator who takes them for unversioned stops those that flows need
 */
export async function askForDeployment(engine: Engine, name: string): Promise<WorkerDeployment | undefined> {
  const { client, namespace, address } = engine;
  try {
    return await client.withDeadline(Date.now() + ASK_MS, async () => {
      const deployment = await readDeployment(client, name);
      if (deployment !== undefined) return deployment;
      const others = (await deploymentNames(client)).filter((other) => other !== name);
      if (others.length > 0) throw new CommandError(sayOthers(engine, name, others));
      return undefined;
    });
  } catch (error) {
    if (error instanceof NamespaceNotFoundError) throw new CommandError(`At ${address} ${sayMissing(namespace)}`);
    throw error;
  }
}

/** The sentence for where {@link askForDeployment} finds none. */
export function sayUnversioned({ namespace, address }: Engine, name: string): string {
  return (
    `Namespace "${namespace}" at ${address} has no worker deployment "${printable(name)}": its workers are not versioned ` +
    '(HOLDFAST_BUILD_ID is not set, or the server has no versions), so a new worker takes over whatever the old ones leave.'
  );
}

function sayOthers({ namespace, address }: Engine, name: string, others: readonly string[]): string {
  return (
    `Namespace "${namespace}" at ${address} has no worker deployment "${printable(name)}", but ` +
    `${others.map((other) => `"${printable(other)}"`).join(', ')}: name the one of Holdfast's workers in TEMPORAL_DEPLOYMENT_NAME. ` +
    'If none is theirs, they are not versioned.'
  );
}

/** @throws CommandError that names the builds there are */
export function buildNamed({ builds }: WorkerDeployment, buildId: string): Build {
  const build = builds.find((one) => one.buildId === buildId);
  if (build !== undefined) return build;
  const known = builds.map((one) => printable(one.buildId)).join(', ');
  throw new CommandError(`No build "${printable(buildId)}" is known: there is ${known || 'none'}.`);
}

/** Gets new work: all of it, or that of a part of the flows. At a ramp of 0 % the server still says `ramping`. */
export function getsNewWork({ status, ramp }: Build): boolean {
  return status === 'current' || (status === 'ramping' && ramp !== 0);
}

/** Open flows whose last task a build's worker has done. */
const openOn = (deployment: string, buildId: string): string =>
  `${OPEN} AND TemporalWorkerDeploymentVersion = ${quoted(versionName(deployment, buildId))}`;

/** Those that need a worker of that build: subscriptions, and their payments. */
export function pinnedQuery(deployment: string, buildId: string): string {
  return `${openOn(deployment, buildId)} AND TemporalWorkflowVersioningBehavior = "Pinned"`;
}

/** Those of them on the queue of payments: somebody has pinned each by hand. */
export function pinnedByHandQuery(deployment: string, buildId: string): string {
  return `${pinnedQuery(deployment, buildId)} AND TaskQueue = "${PAYMENTS_TASK_QUEUE}"`;
}

/** Those of them of one type that wait on the queue of billing. */
export function pinnedOfType(deployment: string, buildId: string, type: WorkflowType): string {
  return `${pinnedQuery(deployment, buildId)} AND WorkflowType = "${type}" AND TaskQueue = "${BILLING_TASK_QUEUE}"`;
}

/** Those that another build goes on with as soon as there is something to do. */
export function othersQuery(deployment: string, buildId: string): string {
  return `${openOn(deployment, buildId)} AND TemporalWorkflowVersioningBehavior != "Pinned"`;
}

export async function countFlows(client: Client, query: string): Promise<number> {
  const { count } = await client.withDeadline(Date.now() + ASK_MS, () => client.workflow.count(query));
  return count;
}
