import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { flowRow, type FlowRow } from '../../src/cli/flow-row.js';
import { listFlows } from '../../src/cli/list.js';

/** Flows as visibility has them: no worker is needed. */
export interface FlowReader {
  /** The newest, those that are open first. */
  list(limit: number): Promise<FlowRow[]>;
  find(workflowId: string): Promise<FlowRow | undefined>;
}

const FIND_MS = 5_000;
const ANY = { stuck: false, open: false, statuses: [], waitingFor: [], businessUnits: [] };

export function flowReader(client: Client): FlowReader {
  return {
    async list(limit) {
      return (await listFlows(client, { ...ANY, limit }, new Date())).rows;
    },
    async find(workflowId) {
      try {
        const describe = () => client.workflow.getHandle(workflowId).describe();
        return flowRow(await client.withDeadline(Date.now() + FIND_MS, describe), new Date());
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      }
    },
  };
}
