import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { HoldfastClient } from '../../src/client/holdfast-client.js';

/** A Temporal that knows no flow. */
function emptyEngine(): Client {
  const unknown = (workflowId: string) => () =>
    Promise.reject(new WorkflowNotFoundError(`workflow not found for ID: ${workflowId}`, workflowId, undefined));
  const getHandle = (id: string) => ({ query: unknown(id), describe: unknown(id), executeUpdate: unknown(id) });
  const withDeadline = (_at: number, call: () => Promise<unknown>) => call();
  return { workflow: { getHandle }, withDeadline } as unknown as Client;
}

test('a reference alone is that of a payment, and who asks for a subscription by it is told how it is named', async () => {
  const holdfast = new HoldfastClient(emptyEngine());
  for (const asked of [holdfast.status('club-7'), holdfast.retryNow('club-7')])
    await expect(asked).rejects.toMatchObject({
      type: 'FlowNotFound',
      message:
        'No payment with reference "club-7" is known; name another flow, such as a subscription, by { workflowId }',
    });
  await expect(holdfast.status({ workflowId: 'subscription-club-7' })).rejects.toMatchObject({
    type: 'FlowNotFound',
    message: expect.not.stringContaining('workflowId }'),
  });
});
