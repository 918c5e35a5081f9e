import { createHash, randomUUID } from 'node:crypto';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { messageOf } from '../contract/message-of.js';
import { bulkQuery } from '../client/bulk-port.js';
import { codeOf, GRPC } from '../client/grpc-codes.js';
import { isOpen } from '../client/is-open.js';
import { announcedKeys } from '../client/ready-check.js';
import {
  BULK_ID_MEMO,
  BULK_MEMO,
  BULK_UNDER_WAY,
  BULK_WORKFLOW,
  type BulkInput,
  type BulkStatus,
  bulkWorkflowId,
} from '../contract/bulk.js';
import { BILLING_TASK_QUEUE, QUERY_NAMES } from '../contract/names.js';
import type { BulkRequest } from './bulk-arguments.js';
import { readRun, resultsOf } from './bulk-results.js';
import type { Engine } from './engine.js';
import { CommandError } from './errors.js';
import { asJson, asLines, printable } from './table.js';

interface Output {
  print: (text: string) => void;
  printError: (text: string) => void;
}

/** The commands of `subscriptions bulk`. Resolves with the exit code. */
export async function runBulk({ client }: Engine, request: BulkRequest, output: Output): Promise<number> {
  try {
    return await run(client, request, output);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError) || !('name' in request)) throw error;
    throw new CommandError(`No bulk with the name "${printable(request.name)}" is under way or kept.`);
  }
}

async function run(client: Client, request: BulkRequest, output: Output): Promise<number> {
  switch (request.command) {
    case 'subscriptions bulk':
      return await start(client, request, output);
    case 'subscriptions bulk status':
      return await sayStatus(client, bulkWorkflowId(request), request.json, output);
    case 'subscriptions bulk results': {
      const { results, unknown } = await resultsOf(client, bulkWorkflowId(request));
      for (const result of results) output.print(`${JSON.stringify(result)}\n`);
      for (const sentence of unknown) output.printError(`${sentence}\n`);
      return 0;
    }
    case 'subscriptions bulk stop':
      await stop(client, bulkWorkflowId(request));
      output.printError('It ends after those that are under way; started again with the same words it goes on.\n');
      return 0;
  }
}

async function sayStatus(client: Client, workflowId: string, json: boolean, output: Output): Promise<number> {
  const described = await client.workflow.getHandle(workflowId).describe();
  output.print(await statusOf(client, described, json));
  const { lost } = isOpen(described.status) ? {} : await readRun(client, described);
  if (lost !== undefined) output.printError(`${lost}\n`);
  return 0;
}

/** Temporal takes a cancel of what has ended without a word. @throws CommandError for one that has ended */
async function stop(client: Client, workflowId: string): Promise<void> {
  const handle = client.workflow.getHandle(workflowId);
  const end = endOf(await handle.describe());
  if (end !== undefined) throw new CommandError(`Nothing was stopped: ${workflowId} ${SAID[end]}.`);
  await handle.cancel();
}

const SAID = { completed: 'is over', stopped: 'was stopped', failed: 'has failed' } as const;

/** undefined: it goes on. */
function endOf({ status }: Pick<WorkflowExecutionDescription, 'status'>): keyof typeof SAID | undefined {
  if (isOpen(status)) return undefined;
  if (status.name === 'COMPLETED') return 'completed';
  return status.name === 'CANCELLED' ? 'stopped' : 'failed';
}

/** A run that was stopped, or has failed, can't say so itself: its state is that of its last workflow task. */
async function statusOf(client: Client, described: WorkflowExecutionDescription, json: boolean): Promise<string> {
  const handle = client.workflow.getHandle(described.workflowId);
  const end = endOf(described);
  if (json) {
    const status = await handle.query<BulkStatus>(QUERY_NAMES.status);
    return asJson(end === undefined ? status : { ...status, status: end });
  }
  const text = printable(await handle.query<string>(QUERY_NAMES.explain));
  if (end === undefined || end === 'completed') return asLines([text]);
  // Before it stands what the operator wrote, who may have said the same.
  const at = text.lastIndexOf(BULK_UNDER_WAY);
  const shown = `${text.slice(0, at)}${SAID[end]}${text.slice(at + BULK_UNDER_WAY.length)}`;
  return asLines([`${shown} Started again with the same words it goes on.`]);
}

async function start(
  client: Client,
  { input, dryRun, json }: Extract<BulkRequest, { command: 'subscriptions bulk' }>,
  { print, printError }: Output,
): Promise<number> {
  const count = await counted(client, input);
  const matching = `${count} open subscriptions of business unit "${input.businessUnit}" match`;
  if (dryRun) {
    print(json ? asJson({ matching: count }) : asLines([`${matching}. Nothing was started.`]));
    return 0;
  }
  if ((await announcedKeys(client, [BILLING_TASK_QUEUE])).length === 0)
    throw new CommandError(
      `No worker polls queue "${BILLING_TASK_QUEUE}": start one (HOLDFAST_TASK_QUEUES=all or billing).`,
    );
  const workflowId = bulkWorkflowId(input);
  const isFresh = await startOrJoin(client, workflowId, input);
  if (!isFresh) await requireGoingOn(client, workflowId, input);
  if (json) print(asJson({ workflowId, matching: count, started: isFresh }));
  else print(asLines([isFresh ? `${workflowId} is under way: ${matching}.` : `${workflowId} was started before.`]));
  printError(`It goes on if you leave. npx holdfast subscriptions bulk status ${input.name}\n`);
  return 0;
}

/** @throws CommandError for a query that Temporal does not understand */
async function counted(client: Client, input: BulkInput): Promise<number> {
  try {
    return (await client.workflow.count(bulkQuery(input, Date.now()))).count;
  } catch (error) {
    if (input.query === undefined) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    if (codeOf(cause) !== GRPC.invalidArgument) throw error;
    throw new CommandError(`Nothing was started. --query can't be used: ${printable(messageOf(cause))}`);
  }
}

/** @throws CommandError for one that ends, or has ended: who began it again must not believe that it goes on */
async function requireGoingOn(client: Client, workflowId: string, { name }: BulkInput): Promise<void> {
  const described = await client.workflow.getHandle(workflowId).describe();
  const end = endOf(described);
  if (end === 'completed')
    throw new CommandError(
      `Nothing was started: ${workflowId} is over (npx holdfast subscriptions bulk status ${name}). ` +
        'Give this one another name, to do the same once more.',
    );
  if (end !== undefined || described.raw.workflowExtendedInfo?.cancelRequested === true)
    throw new CommandError(`Nothing was started: ${workflowId} is being stopped. Start it again once it has ended.`);
}

/** False: the same bulk was started before. One that was stopped goes on. @throws CommandError for another of its name */
async function startOrJoin(client: Client, workflowId: string, input: BulkInput): Promise<boolean> {
  const { rate: _rate, ...same } = input;
  const hash = createHash('sha256').update(JSON.stringify(same)).digest('hex');
  const memo = await client.workflow
    .getHandle(workflowId)
    .describe()
    .then((known) => known.memo)
    .catch((error: unknown) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });
  const known = memo?.[BULK_MEMO];
  if (known !== undefined && known !== hash)
    throw new CommandError(`Nothing was started. Another bulk has the name "${input.name}": give this one its own.`);
  const kept = memo?.[BULK_ID_MEMO];
  const id = known === undefined ? randomUUID() : typeof kept === 'string' ? kept : undefined;
  const named = id === undefined ? input : { ...input, id };
  try {
    await client.workflow.start(BULK_WORKFLOW, {
      workflowId,
      taskQueue: BILLING_TASK_QUEUE,
      args: [named],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      memo: { [BULK_MEMO]: hash, ...(id !== undefined && { [BULK_ID_MEMO]: id }) },
      typedSearchAttributes: [
        { key: defineSearchAttributeKey('BusinessUnit', SearchAttributeType.KEYWORD), value: input.businessUnit },
      ],
      staticSummary: `Bulk ${input.name}, ${input.action.do}`,
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}
