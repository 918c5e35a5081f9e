import { expect, test } from 'vitest';
import { notificationsWorkflowId, QUERY_NAMES } from '../../src/contract/names.js';
import { beginFlow, inputOf, sharedTime } from './rules/context.js';

const time = sharedTime();

const encodings = (payloads: readonly { metadata?: Record<string, Uint8Array> | null }[]): (string | undefined)[] =>
  payloads.map(({ metadata }) => metadata?.['encoding'] && Buffer.from(metadata['encoding']).toString());

test.each(Object.values(QUERY_NAMES))(
  'what leaves a worker is encrypted: the answer to the query %s of an ended flow, and its result',
  async (queryType) => {
    const notify = { url: await time.listen(() => 200) };
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { notify }));
    await flow.outcome();
    const notifications = notificationsWorkflowId(flow.workflowId);
    await time.client.workflow.getHandle(notifications).result();
    const workflowId = queryType === QUERY_NAMES.notifications ? notifications : flow.workflowId;
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
