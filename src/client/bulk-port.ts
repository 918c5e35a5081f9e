import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from '@temporalio/client';
import { messageOf } from '../contract/message-of.js';
import type { BulkInput, BulkPort, BulkResult, BulkTarget } from '../contract/bulk.js';
import { FAILURE_TYPES, SIGNAL_NAMES, subscriptionWorkflowId, WORKFLOW_TYPES } from '../contract/names.js';
import { refundOfBill } from './billing-port.js';
import { Deadlines } from './deadlines.js';
import { eventsOf } from './earlier-runs.js';
import { decode } from './ended-flow.js';
import { HoldfastError } from './errors.js';
import { FlowCalls } from './flow-calls.js';
import { isOpen, OPEN } from './is-open.js';
import { keyword } from './start-options.js';
import { type SubscriptionCommands, subscriptionCommands } from './subscription-commands.js';
import { oneOf } from './visibility-words.js';

const PAGE = 1_000;
/** Workflow ids of one question. */
const IDS = 100;
const TRIES = 3;
const TRY_AGAIN_MS = 1_000;
/** No answer: whoever is asked again, under the same id, acts once. */
const NO_ANSWER: ReadonlySet<string> = new Set([
  'EngineUnavailable',
  FAILURE_TYPES.providerUnavailable,
  FAILURE_TYPES.rateLimited,
  FAILURE_TYPES.unexpectedResponse,
]);
const PREFIX = subscriptionWorkflowId('');

/** ms. Lists may lag for so long. */
const LISTS_LAG_MS = 300_000;

/**
 * Open subscriptions of the bulk's unit. What the caller's query says besides, it can't widen: see `targets`.
 * @param now to find those also that have just continued as new: their next run may not be listed yet
 */
export function bulkQuery(
  { businessUnit, query, action }: Pick<BulkInput, 'businessUnit' | 'query' | 'action'>,
  begun: number,
  now?: number,
): string {
  const orContinued = (at: number): string =>
    `(${OPEN} OR (ExecutionStatus = "ContinuedAsNew" AND CloseTime > "${new Date(at - LISTS_LAG_MS).toISOString()}"))`;
  const clauses = [
    `WorkflowType = "${WORKFLOW_TYPES.subscription}"`,
    now === undefined || action.do === 'moveOn' ? OPEN : orContinued(now),
    `BusinessUnit = "${businessUnit}"`,
    ...(query === undefined ? [] : [`(${query})`]),
    // A run that began later has moved already.
    ...(action.do === 'moveOn' ? [`StartTime < "${new Date(begun).toISOString()}"`] : []),
  ];
  return clauses.join(' AND ');
}

/** The Temporal calls of a bulk, over an ordinary client. */
export function createBulkPort(client: Client): BulkPort {
  const deadlines = new Deadlines(client);
  const calls = new FlowCalls(client, deadlines);
  const commands = subscriptionCommands(calls, (call) => refundOfBill(client, deadlines, call));
  return {
    async inputOf(workflowId, runId) {
      for await (const event of eventsOf(client, workflowId, runId)) {
        const payload = event.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
        return await decode(payload, client.options.loadedDataConverter);
      }
      throw new Error(`The history of ${workflowId} is gone`);
    },

    async targets(input, begun) {
      const listed = await listedFor(client, input, bulkQuery(input, begun, Date.now()));
      const found = new Map(listed.filter(({ status }) => isOpen(status)).map((one) => [one.workflowId, one]));
      const continued = listed.filter(({ workflowId }) => !found.has(workflowId));
      for (const one of await asTheyAreNow(client, input, begun, continued)) found.set(one.workflowId, one);
      const targets = [...found.values()].map(({ workflowId, runId }) => ({ workflowId, runId }));
      return targets.sort((one, other) => (one.workflowId < other.workflowId ? -1 : 1));
    },

    async command(input, target) {
      const subscription = target.workflowId.slice(PREFIX.length);
      for (let tries = 1; ; tries += 1) {
        try {
          return (await give(client, commands, calls, input, target)) ? { subscription, result: 'done' } : undefined;
        } catch (error) {
          const why = messageOf(error);
          const isAnswer = error instanceof HoldfastError && !NO_ANSWER.has(error.type);
          if (isAnswer) return { subscription, result: 'refused', why } satisfies BulkResult;
          if (tries === TRIES) return { subscription, result: 'failed', why } satisfies BulkResult;
          await sleep(TRY_AGAIN_MS);
        }
      }
    },
  };
}

/** Subscriptions of the bulk's unit, whatever the caller's query adds. */
async function listedFor(client: Client, { businessUnit }: BulkInput, query: string): Promise<WorkflowExecutionInfo[]> {
  const listed: WorkflowExecutionInfo[] = [];
  for await (const one of client.workflow.list({ query, pageSize: PAGE })) {
    const isOurs = one.type === WORKFLOW_TYPES.subscription && one.workflowId.startsWith(PREFIX);
    if (isOurs && one.typedSearchAttributes.get(keyword('BusinessUnit')) === businessUnit) listed.push(one);
  }
  return listed;
}

/**
 * The caller's query was true of runs that have continued as new, and may not be true of those after them: who has paid
 * meanwhile must not be cancelled for being past due. Only whose next run is not listed yet is taken by the last one.
 */
async function asTheyAreNow(
  client: Client,
  input: BulkInput,
  begun: number,
  continued: readonly WorkflowExecutionInfo[],
): Promise<WorkflowExecutionInfo[]> {
  if (input.query === undefined) return [...continued];
  const taken: WorkflowExecutionInfo[] = [];
  for (let start = 0; start < continued.length; start += IDS) {
    const some = continued.slice(start, start + IDS);
    const named = oneOf(
      'WorkflowId',
      some.map(({ workflowId }) => workflowId),
    );
    const open = new Set<string>();
    for await (const { workflowId } of client.workflow.list({ query: `${named} AND ${OPEN}` })) open.add(workflowId);
    taken.push(...some.filter(({ workflowId }) => !open.has(workflowId)));
    // After the other question: whoever is listed by now must not be passed over for having come between the two.
    if (open.size > 0) taken.push(...(await listedFor(client, input, `${named} AND ${bulkQuery(input, begun)}`)));
  }
  return taken;
}

/** False if the subscription is left alone. @throws HoldfastError */
async function give(
  client: Client,
  commands: SubscriptionCommands,
  calls: FlowCalls,
  { name, id, action, who, why }: BulkInput,
  { workflowId, runId }: BulkTarget,
): Promise<boolean> {
  const reference = workflowId.slice(PREFIX.length);
  const given = { commandId: id === undefined ? `bulk-${name}` : `bulk-${name}-${id}`, who, why };
  switch (action.do) {
    case 'moveOn':
      await moveOn(client, { workflowId, runId });
      return true;
    case 'changeCard': {
      const { subscription } = await calls.query<{ subscription?: { card: { token: string } } }>(
        { workflowId },
        'status',
      );
      const token = subscription?.card.token.toLowerCase();
      // An attempt before this one may have changed it.
      if (action.cards.some(({ to }) => to.toLowerCase() === token)) return true;
      const card = action.cards.find(({ from }) => from.toLowerCase() === token);
      if (card === undefined) return false;
      await commands.changeCard(reference, { ...given, token: card.to });
      return true;
    }
    case 'pause':
    case 'resume':
    case 'cancel': {
      const { do: command, ...request } = action;
      const give = commands[command] as (reference: string, request: object) => Promise<unknown>;
      await give(reference, { ...given, ...request });
      return true;
    }
  }
}

/** A run that has ended has moved by itself. */
async function moveOn(client: Client, { workflowId, runId }: BulkTarget): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId, runId).signal(SIGNAL_NAMES.moveOn);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
