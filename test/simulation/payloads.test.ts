import { expect, test } from 'vitest';
import { notificationsWorkflowId, QUERY_NAMES } from '../../src/contract/names.js';
import { beginFlow, inputOf, sharedTime } from './rules/context.js';
import { beginWeekly } from './rules/weekly.js';

const time = sharedTime({ billing: true });

/** One that answers the query. */
async function endedFlow(queryType: string): Promise<string> {
  if (queryType === QUERY_NAMES.bills) {
    const { flow } = await beginWeekly(time);
    await flow.command('cancel', { when: 'now' });
    return flow.workflowId;
  }
  const notify = { url: await time.listen(() => 200) };
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { notify }));
  await flow.outcome();
  const notifications = notificationsWorkflowId(flow.workflowId);
  await time.client.workflow.getHandle(notifications).result();
  return queryType === QUERY_NAMES.notifications ? notifications : flow.workflowId;
}

const encodings = (payloads: readonly { metadata?: Record<string, Uint8Array> | null }[]): (string | undefined)[] =>
  payloads.map(({ metadata }) => metadata?.['encoding'] && Buffer.from(metadata['encoding']).toString());

test.each(Object.values(QUERY_NAMES))(
  'what leaves a worker is encrypted: the answer to the query %s of an ended flow, and its result',
  async (queryType) => {
    const workflowId = await endedFlow(queryType);
    const execution = { workflowId };
    const { workflowService, options } = time.client;
    const { queryResult } = await workflowService.queryWorkflow({
      namespace: options.namespace,
      execution,
      query: { queryType },
    });
    expect(encodings(queryResult?.payloads ?? [])).toEqual(['binary/encrypted']);
    const { events } = await time.client.workflow.getHandle(workflowId).fetchHistory();
    const result = events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result;
    expect(encodings(result?.payloads ?? [])).toEqual(['binary/encrypted']);
  },
);
