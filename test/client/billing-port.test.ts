import { type Client, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
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

test.each(['ProviderUnavailable', 'UnexpectedResponse'])(
  'one that fails with %s is to be given again',
  async (type) => {
    const { refund } = createBillingPort(refusing(type));
    await expect(refund({ ...CALL, commandId: 'a', amount: undefined })).rejects.toMatchObject({ type });
  },
);
