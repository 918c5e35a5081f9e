import type { Client } from '@temporalio/client';
import { eventsOf } from '../client/earlier-runs.js';
import { decode } from '../client/ended-flow.js';
import { isOpen } from '../client/is-open.js';
import { BULK_SLICE, type BulkResult, type BulkSlice, type BulkSliceCall } from '../contract/bulk.js';
import { CommandError } from './errors.js';
import { printable } from './table.js';

interface Run {
  workflowId: string;
  runId: string;
  status: { name: string };
}

/** Of all runs, the latest of each subscription. `unknown`: a sentence for each run that has lost some. */
export async function resultsOf(
  client: Client,
  workflowId: string,
): Promise<{ results: BulkResult[]; unknown: string[] }> {
  const runs: (Run & { startTime: Date })[] = [];
  for await (const run of client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) runs.push(run);
  if (runs.length === 0) throw new CommandError(`No workflow ${workflowId} is known, or it is not listed yet.`);
  const latest = new Map<string, BulkResult>();
  const unknown: string[] = [];
  for (const run of runs.sort((one, other) => one.startTime.getTime() - other.startTime.getTime())) {
    const { results, lost } = await readRun(client, run);
    for (const result of results) latest.set(result.subscription, result);
    if (lost !== undefined) unknown.push(lost);
  }
  return { results: [...latest.values()], unknown };
}

/**
 * `lost`: its worker was gone amid a slice, and a stop, or who has ended the run, has kept another one from going on with
 * that slice. What it has reached is in no result.
 */
export async function readRun(
  client: Client,
  { workflowId, runId, status }: Run,
): Promise<{ results: BulkResult[]; lost: string | undefined }> {
  const converter = client.options.loadedDataConverter;
  const results: BulkResult[] = [];
  let slice: BulkSliceCall | undefined;
  let attempt = 1;
  for await (const event of eventsOf(client, workflowId, runId)) {
    const asked = event.activityTaskScheduledEventAttributes?.input?.payloads?.[0];
    if (asked !== undefined) slice = (await decode(asked, converter)) as BulkSliceCall;
    attempt = event.activityTaskStartedEventAttributes?.attempt ?? attempt;
    const answered = event.activityTaskCompletedEventAttributes?.result?.payloads?.[0];
    if (answered !== undefined) results.push(...((await decode(answered, converter)) as BulkSlice).results);
    // A later attempt may have been stopped before it came to all that an earlier one had reached.
    const isOver = answered !== undefined || event.activityTaskFailedEventAttributes != null;
    if (isOver && attempt === 1) slice = undefined;
  }
  const endedEarly = !isOpen(status) && status.name !== 'COMPLETED' && status.name !== 'CONTINUED_AS_NEW';
  return { results, lost: endedEarly && slice !== undefined ? sayLost(slice) : undefined };
}

function sayLost({ after }: BulkSliceCall): string {
  const which = after === undefined ? 'The first' : `After ${printable(after)} the next`;
  return (
    `${which} subscriptions, up to ${BULK_SLICE}, were being asked when a run ended early, and their worker had gone amid them: ` +
    'those that are in no result may have taken the command. Started again with the same words it asks all that are open and ' +
    'match still; look at the others with: npx holdfast list --business-unit <name>'
  );
}
