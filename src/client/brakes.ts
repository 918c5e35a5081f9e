import { type Client, WithStartWorkflowOperation, type WorkflowExecutionDescription } from '@temporalio/client';
import { CALL_PRIORITIES } from '../contract/activities.js';
import {
  BRAKE_UPDATE,
  type BrakeRequest,
  BRAKES_MEMO,
  BRAKES_WORKFLOW,
  type Brakes,
  type BrakesAfter,
  brakeSchema,
  RELEASE_UPDATE,
  type ReleaseRequest,
  releaseSchema,
} from '../contract/brakes.js';
import { PAYMENTS_TASK_QUEUE } from '../contract/names.js';
import { isSealed } from '../contract/payload-marks.js';
import { brakeOf, brakesIn, NO_BRAKES } from '../domain/brakes.js';
import { described, otherRuns } from './earlier-runs.js';
import type { FlowCalls } from './flow-calls.js';
import { checkInput } from './start-options.js';

/** The stop switch of business units. */
export interface BrakeCommands {
  /**
   * Stops new payments, authorizations, charges, credits and bills of the unit, and captures and refunds where named;
   * never reads, voids, or what a hold's deadline asks for. It holds in all workers within 5 s. Repeated, it replaces
   * what is stopped, who and why.
   */
  brake: (request: BrakeRequest) => Promise<BrakesAfter>;
  /** Lets the unit go on. Changes nothing where it is not braked: `before` is missing then. */
  release: (request: ReleaseRequest) => Promise<BrakesAfter>;
  /** Which units are braked, and the last changes. Needs no worker. */
  list: () => Promise<Brakes>;
}

const FLOW = { workflowId: BRAKES_WORKFLOW };

export function brakeCommands(client: Client, calls: FlowCalls): BrakeCommands {
  const list = (): Promise<Brakes> => calls.guarded(FLOW, () => readBrakes(client));
  return {
    list,
    async brake(request) {
      const checked = checkInput(brakeSchema, request);
      const left = await list();
      return await calls.guarded(FLOW, () => update(client, BRAKE_UPDATE, checked, left));
    },
    async release(request) {
      const checked = checkInput(releaseSchema, request);
      const left = await list();
      if (brakeOf(left, checked.businessUnit) === undefined) return left;
      return await calls.guarded(FLOW, () => update(client, RELEASE_UPDATE, checked, left));
    },
  };
}

/**
 * Reads the brakes without a worker. Those of a flow that somebody has ended still count.
 * @throws Error when Temporal does not answer, or without the key
 */
async function readBrakes(client: Client): Promise<Brakes> {
  return (await read(client)).kept;
}

/**
 * The same for workers. A flow that somebody has ended, or replaced by one that was started in clear, begins again: the
 * namespace forgets what has ended, and the units would be released by nobody's word.
 * @param warn is told of such a start, until it is replaced
 */
export async function keepBrakes(client: Client, warn?: (what: string) => void): Promise<Brakes> {
  const { kept, run, foreign } = await read(client);
  if (foreign !== undefined && isOpen(foreign))
    warn?.(
      `Run ${foreign.runId} of workflow "${BRAKES_WORKFLOW}" was started without our keys: the brakes of before count`,
    );
  // What was read counts in any case, and the next look tries again.
  const tried = async (): Promise<void> => {
    if (foreign !== undefined && isOpen(foreign))
      await client.workflow.getHandle(BRAKES_WORKFLOW, foreign.runId).terminate('Started without our keys');
    const isToBegin = foreign !== undefined || (run !== undefined && !isOpen(run));
    if (isToBegin && kept.braked.length > 0) await client.workflow.start(BRAKES_WORKFLOW, startOptions(kept));
  };
  await tried().catch(() => undefined);
  return kept;
}

/** `foreign`: the latest run, where it is none of ours; the brakes are then those of the last run before it. */
interface ReadBrakes {
  kept: Brakes;
  run?: WorkflowExecutionDescription;
  foreign?: WorkflowExecutionDescription;
}

async function read(client: Client): Promise<ReadBrakes> {
  const run = await described(client, BRAKES_WORKFLOW, undefined);
  if (run === undefined) return { kept: NO_BRAKES };
  if (isOurs(run)) return { kept: brakesOf(run), run };
  // Visibility lags: without the latest run, the one before it may be missing as well.
  const { runs, showsOwn } = await otherRuns(client, BRAKES_WORKFLOW, run.runId);
  if (!showsOwn) throw new Error(`Visibility does not list run ${run.runId} of ${BRAKES_WORKFLOW} yet: it lags`);
  for (const runId of runs) {
    const before = await described(client, BRAKES_WORKFLOW, runId);
    if (before !== undefined && isOurs(before)) return { kept: brakesOf(before), foreign: run };
  }
  return { kept: NO_BRAKES, foreign: run };
}

/** Our clients and workers write the memo encrypted; whoever has access to Temporal can start a flow in clear. */
function isOurs({ memo }: WorkflowExecutionDescription): boolean {
  return isSealed(memo?.[BRAKES_MEMO]);
}

function brakesOf({ memo }: WorkflowExecutionDescription): Brakes {
  const kept = brakesIn(memo?.[BRAKES_MEMO]);
  if (kept === undefined)
    throw new Error(`The memo of workflow "${BRAKES_WORKFLOW}" can't be read: give the missing key`);
  return kept;
}

function isOpen({ status }: WorkflowExecutionDescription): boolean {
  return status.name === 'RUNNING' || status.name === 'PAUSED';
}

/** @param left what the flow begins with, where none is open */
async function update(client: Client, name: string, request: object, left: Brakes): Promise<BrakesAfter> {
  return await client.workflow.executeUpdateWithStart<(left: Brakes) => Promise<never>, BrakesAfter, [object]>(name, {
    args: [request],
    startWorkflowOperation: new WithStartWorkflowOperation<(left: Brakes) => Promise<never>>(
      BRAKES_WORKFLOW,
      startOptions(left),
    ),
  });
}

function startOptions(left: Brakes) {
  return {
    workflowId: BRAKES_WORKFLOW,
    taskQueue: PAYMENTS_TASK_QUEUE,
    args: [left] as [Brakes],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    memo: { [BRAKES_MEMO]: left },
    // It must not wait behind the payments that it is to stop.
    priority: { priorityKey: CALL_PRIORITIES.deadline },
    staticSummary: 'Stop switches of business units',
  } as const;
}
