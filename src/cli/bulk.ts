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
      await client.workflow.getHandle(bulkWorkflowId(request)).cancel();
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

/** A run that was stopped, or has failed, can't say so itself: its state is that of its last workflow task. */
async function statusOf(
  client: Client,
  { workflowId, status: run }: WorkflowExecutionDescription,
  json: boolean,
): Promise<string> {
  const handle = client.workflow.getHandle(workflowId);
  const ended = isOpen(run) || run.name === 'COMPLETED' ? undefined : run.name === 'CANCELLED' ? 'stopped' : 'failed';
  if (json) {
    const status = await handle.query<BulkStatus>(QUERY_NAMES.status);
    return asJson(ended === undefined ? status : { ...status, status: ended });
  }
  const text = printable(await handle.query<string>(QUERY_NAMES.explain));
  if (ended === undefined) return asLines([text]);
  const said = ended === 'stopped' ? 'was stopped' : 'has failed';
  return asLines([`${text.replace(BULK_UNDER_WAY, said)} Started again with the same words it goes on.`]);
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
    throw new CommandError(`Nothing was started. --query can't be used: ${printable(messageOf(cause))}`);
  }
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
