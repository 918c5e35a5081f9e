import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import { markSealed } from '../../src/contract/payload-marks.js';

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

/** A Temporal with a subscription that answers each command with this result. */
function answering(result: object, sent: unknown[]): Client {
  const getHandle = () => ({
    describe: () => Promise.resolve({ runId: 'own' }),
    executeUpdate: (_name: string, { args }: { args: [{ commandId: string }] }) => {
      sent.push(args[0].commandId);
      return Promise.resolve(markSealed({ status: 'active', result }));
    },
  });
  const withDeadline = (_at: number, call: () => Promise<unknown>) => call();
  return { workflow: { getHandle }, withDeadline } as unknown as Client;
}

test.each(['pending', 'unknown'])('a refund of a period that is %s names the id to repeat it with', async (status) => {
  const sent: string[] = [];
  const { subscription } = new HoldfastClient(answering({ status }, sent));
  const { commandId } = await subscription.refundPeriod('club-7', { period: 3 });
  expect(new Set(sent)).toEqual(new Set([commandId]));
  expect(await subscription.refundPeriod('club-7', { commandId: 'own' })).toMatchObject({ commandId: 'own' });
});

test('one that is known needs no repeat', async () => {
  const { subscription } = new HoldfastClient(answering({ status: 'succeeded' }, []));
  expect(await subscription.refundPeriod('club-7')).not.toHaveProperty('commandId');
});
