import type { Client } from '@temporalio/client';
import { WorkflowFailedError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { EndedFlow } from '../contract/engine-port.js';
import { isUndecodable } from '../contract/undecodable.js';

/** What a closed flow leaves behind, or undefined when it runs. Rejects when the engine did not answer. */
export async function readEndedFlow(client: Client, workflowId: string): Promise<EndedFlow | undefined> {
  const description = await client.workflow.getHandle(workflowId).describe();
  if (description.status.name === 'RUNNING') return undefined;
  const attribute = (name: string) =>
    description.typedSearchAttributes.get(defineSearchAttributeKey(name, SearchAttributeType.KEYWORD));
  const status = attribute('PaymentStatus');
  const paymentId = attribute('PaymentId');
  const completed = description.status.name === 'COMPLETED';
  // Of this very run: another one may have begun meanwhile.
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
