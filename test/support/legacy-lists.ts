import type { Client } from '@temporalio/client';

/**
 * The client as the time-skipping test server can serve it. That server knows no `ListWorkflowExecutions`, only
 * the lists from before there were queries; `workflow.list` is answered from them, for the one query that a flow
 * causes: by workflow id.
 */
export function withLegacyLists(client: Client): Client {
  const { namespace } = client.options;
  async function* list({ query = '' }: { query?: string } = {}) {
    const wanted = /^WorkflowId = "([^"]+)"$/.exec(query)?.[1];
    if (wanted === undefined) throw new Error(`The test server can't answer the query: ${query}`);
    const lists = await Promise.all([
      client.workflowService.listOpenWorkflowExecutions({ namespace }),
      client.workflowService.listClosedWorkflowExecutions({ namespace }),
    ]);
    for (const { execution } of lists.flatMap(({ executions }) => executions ?? [])) {
      if (execution?.workflowId === wanted) yield { runId: execution.runId };
    }
  }
  const workflow = Object.create(client.workflow, { list: { value: list } }) as Client['workflow'];
  return Object.create(client, { workflow: { value: workflow } }) as Client;
}
