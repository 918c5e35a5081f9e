import { type Client, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createBillingPort } from '../../src/client/billing-port.js';

const CALL = { payment: 'club-7.1.1', paymentId: undefined, currency: 'EUR', businessUnit: 'default' };

/** An engine with an open flow, which refuses every command so. */
function refusing(type: string): Client {
  const failure = ApplicationFailure.nonRetryable('nothing was sent', type);
  const client = {
    withDeadline: (_at: number, call: () => Promise<unknown>) => call(),
    workflow: {
      getHandle: (workflowId: string) => ({
        describe: () => Promise.resolve({ workflowId, runId: 'own', status: { name: 'RUNNING' } }),
        startUpdate: () => Promise.reject(new WorkflowUpdateFailedError('refused', failure)),
      }),
    },
  };
  return client as unknown as Client;
}

test.each(['StateConflict', 'InvalidInput', 'NotFound'])(
  'a refund that is refused with %s is refused',
  async (type) => {
    const { refund } = createBillingPort(refusing(type));
    expect(await refund({ ...CALL, commandId: 'a', amount: undefined })).toEqual({ refused: 'nothing was sent' });
  },
);

test.each(['ProviderUnavailable', 'UnexpectedResponse', 'RateLimited'])(
  'one that fails with %s is to be given again',
  async (type) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { refund } = createBillingPort(refusing(type));
    const failing = expect(refund({ ...CALL, commandId: 'a', amount: undefined })).rejects.toMatchObject({ type });
    // A flow that takes no more now is asked again until then.
    await vi.advanceTimersByTimeAsync(60_000);
    await failing;
  },
);

test('a payment of a bill is known to have been made by a later one of that bill, and by none that differs in case', async () => {
  const listed = (...ids: string[]) => {
    const absent = {
      describe: () => Promise.reject(new WorkflowNotFoundError('absent', 'payment-club-7.1.1', undefined)),
    };
    const list = () => ids.map((workflowId) => ({ workflowId }));
    return createBillingPort({ workflow: { getHandle: () => absent, list } } as unknown as Client);
  };
  const read = async (...ids: string[]) => await listed(...ids).readFlow('payment-club-7.1.1');
  expect(await read('payment-club-7.1.3', 'payment-club-7.1.2')).toEqual({ state: 'absent', later: 2 });
  expect(await read('payment-Club-7.1.2', 'payment-club-7.1.1')).toEqual({ state: 'absent' });
});
