import {
  type Client,
  type WorkflowExecutionInfo,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { OPEN } from '../client/is-open.js';
import { loadPart } from '../config/optional-packages.js';
import { BRAKES_WORKFLOW } from '../contract/brakes.js';
import { BULK_WORKFLOW } from '../contract/bulk.js';
import { NOTIFICATIONS_WORKFLOW, OUTGOING_WORKFLOW, WORKFLOW_TYPES } from '../contract/names.js';
import { RECONCILIATION_TYPES } from '../contract/reconcile.js';
import { STILL_OPEN } from './deploy-status.js';
import type { Engine } from './engine.js';
import { asJson, asLines, printable } from './table.js';
import { OURS } from './visibility-query.js';

export interface ReplayRequest {
  command: 'replay';
  json: boolean;
  /** Flows that have not ended. */
  open: boolean;
  /** Flows that have ended, the latest first. */
  recent: boolean;
  /** Also those that are pinned to a build, which go on with that one. */
  pinned: boolean;
  /** At most so many of each type, of open ones and of ended ones. */
  limit: number;
}

interface Output {
  print: (text: string) => void;
  printError: (text: string) => void;
}

interface Difference {
  workflowId: string;
  runId: string;
  difference: string;
}

export interface Summary {
  /** Histories replayed, by type of flow. */
  replayed: Record<string, number>;
  /** Open flows left out, because they are pinned to a build. */
  pinned: number;
  /** Runs left out, because a reset made them: a replay takes them for the run that was reset. */
  reset: number;
  /** Types of flow of which there are more than the limit: the oldest ones were not replayed. */
  leftOut: { open: string[]; ended: string[] };
  differences: Difference[];
}

/** Every type that workers register: open flows of one that is left out would go on with a build that nobody has tried on them. */
export const REPLAYED_TYPES: readonly string[] = [
  ...Object.values(WORKFLOW_TYPES),
  ...Object.values(RECONCILIATION_TYPES),
  BRAKES_WORKFLOW,
  BULK_WORKFLOW,
  NOTIFICATIONS_WORKFLOW,
  OUTGOING_WORKFLOW,
];

const PAGE = 100;
const READ_MS = 60_000;
/** Characters of a difference that are shown. */
const SHOWN = 400;

/**
 * `holdfast replay`: replays the namespace's own histories with the workflows of this build. It is the gate before the
 * build is made current: every open flow that is not pinned goes on with it then. Changes nothing. Resolves with the
 * exit code.
 */
export async function replayNamespace(
  engine: Engine,
  { json, ...request }: ReplayRequest,
  { print, printError }: Output,
): Promise<number> {
  // The native core is large, and no other command needs it.
  const packages = ['@temporalio/activity', '@temporalio/worker', '@temporalio/workflow'];
  const { replayHistories } = await loadPart(
    'holdfast replay',
    packages,
    () => import('../../workers/replay-histories.js'),
  );
  const { client } = engine;
  const summary: Summary = { replayed: {}, pinned: 0, reset: 0, leftOut: { open: [], ended: [] }, differences: [] };
  const histories = historiesOf(client, request, summary);
  for await (const { workflowId, runId, difference } of replayHistories(histories, client.options.dataConverter)) {
    if (difference === undefined) continue;
    const found = { workflowId, runId, difference: printable(difference).slice(0, SHOWN) };
    summary.differences.push(found);
    if (!json) print(asLines([`${printable(workflowId)}  run ${printable(runId)}: ${found.difference}`]));
  }
  if (json) print(asJson(summary));
  else say(summary, engine, { print, printError });
  return exitCodeOf(summary);
}

/** {@link STILL_OPEN}: nothing differs, and nobody has tried this code on every open flow. Of ended ones the latest are enough. */
export function exitCodeOf({ differences, leftOut }: Pick<Summary, 'differences' | 'leftOut'>): number {
  if (differences.length > 0) return 1;
  return leftOut.open.length > 0 ? STILL_OPEN : 0;
}

function say(
  { replayed, pinned, reset, leftOut, differences }: Summary,
  { namespace }: Engine,
  { print, printError }: Output,
): void {
  const counts = Object.entries(replayed);
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  const types = counts.map(([type, count]) => `${count} ${type}`).join(', ');
  print(asLines([`${all} histories replayed${types === '' ? '' : ` (${types})`}, ${differences.length} differ`]));
  if (pinned > 0)
    printError(
      `${pinned} open flows are pinned to a build and go on with that one: --pinned replays them too, which deploy drain --payments needs first.\n`,
    );
  if (reset > 0)
    printError(
      `${reset} runs were made by a reset, and are not replayed: Temporal replays them as the run that was reset.\n`,
    );
  for (const [state, types] of Object.entries(leftOut))
    if (types.length > 0)
      printError(
        `Of ${state} ${types.join(', ')} there are more, and older ones, than --limit: they were not replayed.\n`,
      );
  if (all + reset === 0) printError(`Namespace "${namespace}" has no such flow.\n`);
}

/** One after the other: the replay takes one at a time. What was deleted meanwhile is left out. */
export async function* historiesOf(
  client: Client,
  { open, recent, pinned, limit }: Omit<ReplayRequest, 'command' | 'json'>,
  summary: Summary,
) {
  const states = [...(open ? ['open' as const] : []), ...(recent ? ['ended' as const] : [])];
  for (const state of states) {
    for (const type of REPLAYED_TYPES) {
      const query = `${OURS} AND WorkflowType = "${type}" AND ${state === 'open' ? OPEN : `NOT (${OPEN})`}`;
      let left = limit;
      for await (const info of client.workflow.list({ query, pageSize: Math.min(PAGE, limit) })) {
        if (state === 'open' && !pinned && isPinned(info)) {
          summary.pinned += 1;
          continue;
        }
        if (left === 0) {
          summary.leftOut[state].push(type);
          break;
        }
        const history = await historyOf(client, info);
        if (history === undefined) continue;
        if (isMadeByReset(history)) {
          summary.reset += 1;
          continue;
        }
        left -= 1;
        summary.replayed[type] = (summary.replayed[type] ?? 0) + 1;
        yield { workflowId: info.workflowId, history };
      }
    }
  }
}

const BEHAVIOR = defineSearchAttributeKey('TemporalWorkflowVersioningBehavior', SearchAttributeType.KEYWORD);

function isPinned({ typedSearchAttributes }: WorkflowExecutionInfo): boolean {
  return typedSearchAttributes.get(BEHAVIOR) === 'Pinned';
}

/** What such a run has decided anew does not follow from its history under the id of the run that was reset. */
export function isMadeByReset({ events }: Awaited<ReturnType<WorkflowHandle['fetchHistory']>>): boolean {
  return events?.some((event) => Boolean(event.workflowTaskFailedEventAttributes?.newRunId)) === true;
}

async function historyOf(client: Client, { workflowId, runId }: WorkflowExecutionInfo) {
  const handle = client.workflow.getHandle(workflowId, runId);
  try {
    return await client.withDeadline(Date.now() + READ_MS, () => handle.fetchHistory());
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
