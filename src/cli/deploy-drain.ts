import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, isGrpcServiceError, ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { messageOf } from '../contract/message-of.js';
import { PAYMENTS_TASK_QUEUE, SIGNAL_NAMES, WORKFLOW_TYPES, type WorkflowType } from '../contract/names.js';
import type { WorkerDeployment } from '../client/worker-deployment.js';
import { STILL_OPEN } from './deploy-status.js';
import {
  askForDeployment,
  buildNamed,
  countFlows,
  deploymentNameOf,
  getsNewWork,
  pinnedByHandQuery,
  pinnedOfType,
  pinnedQuery,
  sayUnversioned,
} from './deployment.js';
import type { Engine, Surroundings } from './engine.js';
import { CommandError } from './errors.js';
import { flowRow, type FlowRow } from './flow-row.js';
import { asJson, asLines, flowTable, printable } from './table.js';

export interface DeployDrainRequest {
  command: 'deploy drain';
  json: boolean;
  build: string;
  /** Subscriptions, or payments, that are told in a second. */
  rate: number;
  /** Seconds that it waits for them to move. */
  wait: number;
  /** Also gives the payments that are pinned to the build to the build that gets new work. */
  payments: boolean;
}

interface Output extends Pick<Surroundings, 'env'> {
  print: (text: string) => void;
  printError: (text: string) => void;
}

/** What it prints with `--json`. */
export interface Drained {
  deployment: string;
  build: string;
  /** Subscriptions that were told to move on. */
  told: number;
  /** Of the told ones, how many are gone from the build. */
  moved: number;
  /** Payments that another build goes on with from now on. */
  payments: number;
  /** Flows that could not be told, and why. */
  failed: { workflowId: string; why: string }[];
  /** How many flows only a worker of this build goes on with. */
  pinned: number;
  /** Those of them that wait for a worker of payments, and not of billing. */
  pinnedByHand: number;
  /** The first of them. */
  open: FlowRow[];
}

const SHOWN = 20;
const PAGE = 100;
const LOOK_EVERY_MS = 1_000;
const CALL_MS = 15_000;

/**
 * `holdfast deploy drain`: tells every subscription that is pinned to a build to move on, and waits until they have.
 * Safe at any time, and to be repeated: who has moved is not told again. Resolves with the exit code: 0 once nothing is
 * pinned to the build, else {@link STILL_OPEN}.
 * @throws CommandError if they would have nowhere to go
 */
export async function drainBuild(
  engine: Engine,
  request: DeployDrainRequest,
  { print, printError, env }: Output,
): Promise<number> {
  const name = deploymentNameOf(env);
  const deployment = await askForDeployment(engine, name);
  if (deployment === undefined) throw new CommandError(sayUnversioned(engine, name));
  refuse(deployment, request.build);
  const drained = await drain(engine.client, name, request, (text) => printError(`${text}\n`));
  if (request.json) print(asJson(drained));
  else print(asLines(drainedText(drained, request)));
  return drained.pinned === 0 ? 0 : STILL_OPEN;
}

/** Whoever moves goes to the build that gets new work: there has to be another one, with a worker that takes it. */
function refuse(deployment: WorkerDeployment, buildId: string): void {
  const build = buildNamed(deployment, buildId);
  const shown = printable(buildId);
  if (getsNewWork(build)) {
    throw new CommandError(
      `Build ${shown} is ${build.status}: what is told to move on would come back to it. Make another build current, and end its ramp, first.`,
    );
  }
  const next = deployment.builds.filter(getsNewWork);
  if (!next.some(({ status }) => status === 'current'))
    throw new CommandError('No build is current: make one current first, to which subscriptions can move.');
  for (const { buildId: target, workers } of next) {
    if (workers.billing > 0) continue;
    throw new CommandError(
      `Build ${printable(target)} gets new work, but no worker of it serves subscriptions: they would wait there for nobody. ` +
        'Start one with HOLDFAST_TASK_QUEUES=billing or all.',
    );
  }
}

async function drain(
  client: Client,
  deployment: string,
  { build, rate, wait, payments }: DeployDrainRequest,
  progress: (text: string) => void,
): Promise<Drained> {
  const failed: Drained['failed'] = [];
  const queryOf = (type: WorkflowType): string => pinnedOfType(deployment, build, type);
  const each = async (type: WorkflowType, tell: (one: One) => Promise<void>): Promise<number> => {
    let count = 0;
    const pace = paced(rate);
    for await (const { workflowId, runId } of client.workflow.list({ query: queryOf(type), pageSize: PAGE })) {
      await pace();
      try {
        if (await reached(client, () => tell({ workflowId, runId }))) count += 1;
      } catch (error) {
        failed.push({ workflowId, why: messageOf(error) });
      }
      if (count > 0 && count % 1_000 === 0) progress(`${count} have been told`);
    }
    return count;
  };
  // The run is named: one that has moved meanwhile is not told again.
  const told = await each(WORKFLOW_TYPES.subscription, async ({ workflowId, runId }) => {
    await client.workflow.getHandle(workflowId, runId).signal(SIGNAL_NAMES.moveOn);
  });
  const released = payments ? await each(WORKFLOW_TYPES.charge, (one) => release(client, one)) : 0;
  const until = Date.now() + wait * 1_000;
  let pinned = await countFlows(client, pinnedQuery(deployment, build));
  while (pinned > 0 && Date.now() < until) {
    await sleep(Math.min(LOOK_EVERY_MS, Math.max(1, until - Date.now())));
    pinned = await countFlows(client, pinnedQuery(deployment, build));
  }
  const stayed = await countFlows(client, queryOf(WORKFLOW_TYPES.subscription));
  const moved = Math.max(0, told - stayed);
  return {
    deployment,
    build,
    told,
    moved,
    payments: released,
    failed,
    pinned,
    pinnedByHand: pinned === 0 ? 0 : await countFlows(client, pinnedByHandQuery(deployment, build)),
    open: await firstOf(client, deployment, build),
  };
}

interface One {
  workflowId: string;
  runId: string;
}

/** Their code is that of the payments queue, which every build goes on with. */
async function release({ workflowService, options }: Client, { workflowId, runId }: One): Promise<void> {
  await workflowService.updateWorkflowExecutionOptions({
    namespace: options.namespace,
    workflowExecution: { workflowId, runId },
    workflowExecutionOptions: { versioningOverride: { autoUpgrade: true } },
    updateMask: { paths: ['versioning_override'] },
  });
}

const NOT_FOUND = 5;

/** False: the run has ended meanwhile. */
async function reached(client: Client, tell: () => Promise<void>): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + CALL_MS, tell);
    return true;
  } catch (error) {
    const cause = error instanceof ServiceError ? error.cause : error;
    if (error instanceof WorkflowNotFoundError || (isGrpcServiceError(cause) && Number(cause.code) === NOT_FOUND))
      return false;
    throw error;
  }
}

/** Waits so long that no more than `rate` go through it in a second. */
function paced(rate: number): () => Promise<void> {
  let next = 0;
  return async () => {
    const now = performance.now();
    next = Math.max(next, now);
    if (next > now) await sleep(next - now);
    next += 1_000 / rate;
  };
}

async function firstOf(client: Client, deployment: string, build: string): Promise<FlowRow[]> {
  const rows: FlowRow[] = [];
  for await (const info of client.workflow.list({ query: pinnedQuery(deployment, build), pageSize: SHOWN })) {
    rows.push(flowRow(info, new Date()));
    if (rows.length === SHOWN) break;
  }
  return rows;
}

function drainedText(drained: Drained, request: DeployDrainRequest): string[] {
  const { told, moved, payments, failed, pinned, pinnedByHand, open } = drained;
  const build = printable(request.build);
  const lines = [`${plural(told, 'subscription')} of build ${build} told to move on; ${moved} moved.`];
  if (payments > 0) lines.push(`${plural(payments, 'payment')} given to the build that gets new work.`);
  for (const { workflowId, why } of failed.slice(0, SHOWN))
    lines.push(`${printable(workflowId)} could not be told: ${printable(why)}`);
  if (failed.length > SHOWN) lines.push(`... and ${failed.length - SHOWN} more could not be told.`);
  if (pinned === 0) return [...lines, `Nothing is pinned to build ${build}: its workers may stop.`];
  lines.push('', `${plural(pinned, 'flow')} still pinned to build ${build}:`, ...flowTable(open));
  if (pinned > open.length) lines.push(`... and ${pinned - open.length} more.`);
  const byHand = `${plural(pinnedByHand, 'payment')} of queue ${PAYMENTS_TASK_QUEUE} that somebody has pinned`;
  const queues = pinnedByHand === 0 ? 'billing' : pinnedByHand === pinned ? 'payments' : 'all';
  lines.push(
    '',
    (queues === 'payments' ? '' : 'They move once what is under way has ended. ') +
      (pinnedByHand === 0 ? '' : `${byHand} ${pinnedByHand === 1 ? 'stays until it ends' : 'stay until they end'}. `) +
      `Keep a worker of this build with HOLDFAST_TASK_QUEUES=${queues} until then, and run this again.`,
  );
  return lines;
}

function plural(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
