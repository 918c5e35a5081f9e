import { type Client, WorkflowFailedError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { EndedFlow } from '../contract/engine-port.js';
import { isUndecodable } from '../contract/undecodable.js';

/** Summary of a closed workflow, or undefined while it runs. Rejects when Temporal does not answer. */
export async function readEndedFlow(client: Client, workflowId: string): Promise<EndedFlow | undefined> {
  const description = await client.workflow.getHandle(workflowId).describe();
  if (description.status.name === 'RUNNING') return undefined;
  const attribute = (name: string) =>
    description.typedSearchAttributes.get(defineSearchAttributeKey(name, SearchAttributeType.KEYWORD));
  const status = attribute('PaymentStatus');
  const paymentId = attribute('PaymentId');
  const completed = description.status.name === 'COMPLETED';
  // Read the result of this run: another run may have started meanwhile.
  const result = completed ? await resultOf(client, workflowId, description.runId) : undefined;
  return {
    ...(status !== undefined && { status }),
    ...(paymentId !== undefined && { paymentId }),
    ...(result !== undefined && { result }),
  };
}

async function resultOf(client: Client, workflowId: string, runId: string): Promise<unknown> {
  try {
    const result: unknown = await client.workflow.getHandle(workflowId, runId, { followRuns: false }).result();
    return isUndecodable(result) ? undefined : result;
  } catch (error) {
    if (error instanceof WorkflowFailedError) return undefined;
    throw error;
  }
}
