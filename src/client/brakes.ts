import { randomUUID } from 'node:crypto';
import {
  type Client,
  WithStartWorkflowOperation,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
import { CALL_PRIORITIES } from '../contract/activities.js';
import {
  BRAKE_UPDATE,
  type BrakeRequest,
  BRAKES_MEMO,
  BRAKES_WORKFLOW,
  type Brakes,
  type BrakesAfter,
  brakeSchema,
  givenTo,
  RELEASE_UPDATE,
  type ReleaseRequest,
  releaseSchema,
} from '../contract/brakes.js';
import { PAYMENTS_TASK_QUEUE } from '../contract/names.js';
import { isSealed, isUndecodable, whyUndecodable } from '../contract/payload-marks.js';
import { brakedAt, brakeOf, brakesIn, NO_BRAKES } from '../domain/brakes.js';
import { described } from './earlier-runs.js';
import { ofWorker } from './ended-flow.js';
import { HoldfastError } from './errors.js';
import type { FlowCalls } from './flow-calls.js';
import { checkInput } from './start-options.js';
import { isOpen } from './is-open.js';

/** The stop switch of business units. */
export interface BrakeCommands {
  /**
   * Stops new payments, authorizations, charges, credits and bills of the unit, and captures and refunds where named;
   * never reads, voids, or what a hold's deadline asks for. It holds in all workers within 5 s. Repeated, it replaces
   * what is stopped, who and why.
   */
  brake: (request: BrakeRequest) => Promise<BrakesAfter>;
  /**
   * Lets the unit go on. Changes nothing where it is not braked: `before` is missing then. Give `since` where it may be given
   * again: it lifts no brake that somebody has set meanwhile.
   */
  release: (request: ReleaseRequest) => Promise<BrakesAfter>;
  /** Which units are braked, and the last changes. Needs no worker. */
  list: () => Promise<Brakes>;
}

const FLOW = { workflowId: BRAKES_WORKFLOW };

export function brakeCommands(client: Client, calls: FlowCalls): BrakeCommands {
  const list = (): Promise<Brakes> => calls.guarded(FLOW, () => readBrakes(client));
  // A run that was set back must not be what is changed.
  const keep = (): Promise<KeptBrakes> => calls.guarded(FLOW, () => keepBrakes(client).catch(changedNothing));
  return {
    list,
    async brake(request) {
      const checked = checkInput(brakeSchema, request);
      const left = await keep();
      return await calls.guarded(FLOW, async () => ofWorker(await update(client, BRAKE_UPDATE, checked, left)));
    },
    async release(request) {
      const checked = checkInput(releaseSchema, request);
      const left = await keep();
      const brake = brakeOf(left.kept, checked.businessUnit);
      if (brake === undefined) return left.kept;
      const named = { since: brakedAt(left.kept, brake), ...checked };
      return await calls.guarded(FLOW, async () => ofWorker(await update(client, RELEASE_UPDATE, named, left)));
    },
  };
}

function changedNothing(error: unknown): never {
  if (!(error instanceof HoldfastError)) throw error;
  throw new HoldfastError(error.type, `Nothing was braked or released. ${error.message}`);
}

/**
 * Reads the brakes without a worker. Those of a flow that somebody has ended, or set back, still count.
 * @throws Error when Temporal does not answer; HoldfastError `UnexpectedResponse` without the key
 */
async function readBrakes(client: Client): Promise<Brakes> {
  return (await read(client)).kept;
}

/** What was read, and from which run: the next look compares. */
export interface KeptBrakes {
  kept: Brakes;
  runId?: string;
}

/**
 * The same for workers. A flow that somebody has ended, has set back by a reset, or has replaced by one that was started
 * in clear or with a copy of older brakes, begins again: the namespace forgets what has ended, and the units would be
 * released by nobody's word.
 * @param warn is told of such a start, until it is replaced
 * @param known what this worker has read before
 */
export async function keepBrakes(
  client: Client,
  warn?: (what: string) => void,
  known?: KeptBrakes,
): Promise<KeptBrakes> {
  const { kept, run, why } = await read(client, known);
  const goesOn = run !== undefined && isOpen(run.status);
  if (why !== undefined && goesOn)
    warn?.(`Run ${run.runId} of workflow "${BRAKES_WORKFLOW}" ${why}: the brakes of before count`);
  // What was read counts in any case, and the next look tries again.
  const tried = async (): Promise<void> => {
    if (why !== undefined && goesOn) await client.workflow.getHandle(BRAKES_WORKFLOW, run.runId).terminate(`It ${why}`);
    const isToBegin = (why !== undefined || !goesOn) && (kept.braked.length > 0 || why === SET_BACK);
    if (isToBegin) await client.workflow.start(BRAKES_WORKFLOW, startOptions(kept));
  };
  await tried().catch(() => undefined);
  return { kept, ...(run !== undefined && why === undefined && { runId: run.runId }) };
}

const IN_CLEAR = 'was started without our keys';
const SET_BACK = 'was set back';

interface ReadBrakes {
  kept: Brakes;
  /** The latest. */
  run?: WorkflowExecutionDescription;
  /** What is wrong with it: the brakes are then not its own. */
  why?: typeof IN_CLEAR | typeof SET_BACK;
}

async function read(client: Client, known?: KeptBrakes): Promise<ReadBrakes> {
  const run = await described(client, BRAKES_WORKFLOW, undefined);
  const before = known?.kept ?? NO_BRAKES;
  if (run === undefined) return { kept: before };
  if (!isOurs(run)) return { kept: newer(await lastListed(client, run.runId, true), before), run, why: IN_CLEAR };
  const own = brakesOf(run);
  // A run does not go back, but another one may: after a reset, or with a copy of what an earlier one has kept.
  if (run.runId === known?.runId) return { kept: own, run };
  const listed = await lastListed(client, run.runId).catch(() => NO_BRAKES);
  const kept = newer(own, newer(listed, before));
  return kept === own ? { kept, run } : { kept, run, why: SET_BACK };
}

/**
 * The newest of what any run of ours but the latest has kept. That one may be listed with a change that has come since it
 * was described: it would be taken for one that was set back, and be ended with what it has taken since.
 * @param isToBeListed whether the latest must be listed: visibility lags, and the one before it may be missing as well
 * @throws Error too where the last of them can't be read
 */
async function lastListed(client: Client, latest: string, isToBeListed = false): Promise<Brakes> {
  let newest = NO_BRAKES;
  let isListed = !isToBeListed;
  let lastRead = 0;
  let unread: WorkflowExecutionInfo | undefined;
  for await (const run of client.workflow.list({ query: `WorkflowId = "${BRAKES_WORKFLOW}"` })) {
    isListed ||= run.runId === latest;
    if (run.runId === latest || !isOurs(run)) continue;
    const kept = brakesIn(run.memo?.[BRAKES_MEMO]);
    const at = run.startTime.getTime();
    if (kept !== undefined) {
      newest = newer(newest, kept);
      lastRead = Math.max(lastRead, at);
    } else if (unread === undefined || at > unread.startTime.getTime()) unread = run;
  }
  if (!isListed) throw new Error(`Visibility does not list run ${latest} of ${BRAKES_WORKFLOW} yet: it lags`);
  // One under a key of long ago may be listed beside those after it.
  if (unread !== undefined && unread.startTime.getTime() >= lastRead) brakesOf(unread);
  return newest;
}

/** The one with the later change; else the first. */
function newer(first: Brakes, second: Brakes): Brakes {
  if (first === NO_BRAKES) return second;
  const at = ({ changes }: Brakes): string => changes.at(-1)?.at ?? '';
  return at(second) > at(first) ? second : first;
}

/** Our clients and workers write the memo encrypted; whoever has access to Temporal can start a flow in clear. */
function isOurs({ memo }: Pick<WorkflowExecutionInfo, 'memo'>): boolean {
  return isSealed(memo?.[BRAKES_MEMO]);
}

function brakesOf({ memo }: Pick<WorkflowExecutionInfo, 'memo'>): Brakes {
  const noted = memo?.[BRAKES_MEMO];
  const kept = brakesIn(noted);
  if (kept !== undefined) return kept;
  const why = isUndecodable(noted) ? `${whyUndecodable(noted)}; give it the missing key` : 'it is malformed';
  throw new HoldfastError(
    'UnexpectedResponse',
    `Which units are braked can't be read here from the memo of workflow "${BRAKES_WORKFLOW}" (${why})`,
  );
}

/** @param left what the flow begins with, where none is open; a run that a reset has made takes what names it alone */
async function update(
  client: Client,
  name: string,
  request: object,
  { kept, runId = '' }: KeptBrakes,
): Promise<BrakesAfter> {
  return await client.workflow.executeUpdateWithStart<(left: Brakes) => Promise<never>, BrakesAfter, [object]>(name, {
    args: [request],
    updateId: `${givenTo(runId)}${randomUUID()}`,
    startWorkflowOperation: new WithStartWorkflowOperation<(left: Brakes) => Promise<never>>(
      BRAKES_WORKFLOW,
      startOptions(kept),
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
