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

/** Has forgotten every flow but those `kept`, and lists only `listed`. */
function engine(kept: readonly string[], listed: readonly string[]) {
  const queries: string[] = [];
  const describe = (workflowId: string) => () =>
    kept.includes(workflowId)
      ? Promise.resolve({ workflowId, status: { name: 'RUNNING' } })
      : Promise.reject(new WorkflowNotFoundError('not found', workflowId, undefined));
  const workflow = {
    getHandle: (workflowId: string) => ({ describe: describe(workflowId) }),
    async *list({ query }: { query: string }) {
      queries.push(query);
      for (const workflowId of listed) yield { workflowId };
    },
  };
  return { queries, port: createBillingPort({ workflow } as unknown as Client) };
}

test.each<[string, string[], string[], object]>([
  ['none', [], [], {}],
  ['the next one, which no list shows yet', ['2'], [], { later: 2 }],
  ['two later ones, the next of which is forgotten too', ['3', '4'], ['4', '3'], { later: 3 }],
  ['more than ten', ['12'], ['12'], { later: 12 }],
])(
  'a payment of a bill that Temporal has forgotten is told with the next one that it has: %s',
  async (_kept, ...of) => {
    const [kept, listed, later] = of;
    const idsOf = (numbers: string[]) => numbers.map((number) => `payment-club-7.1.${number}`);
    const { port, queries } = engine(idsOf(kept), idsOf(listed));
    expect(await port.readFlow('payment-club-7.1.1')).toEqual({ state: 'absent', ...later });
    expect(queries.every((query) => query === 'WorkflowId STARTS_WITH "payment-club-7.1."')).toBe(true);
  },
);

test('a payment of a subscription whose reference differs in case tells nothing', async () => {
  const { port } = engine([], ['payment-Club-7.1.2', 'payment-club-7.1.1']);
  expect(await port.readFlow('payment-club-7.1.1')).toEqual({ state: 'absent' });
});

test('one before it tells nothing, and of what is no payment of a bill nothing more is asked', async () => {
  const { port, queries } = engine(['payment-club-7.1.2'], ['payment-club-7.1.2']);
  expect(await port.readFlow('payment-club-7.1.3')).toEqual({ state: 'absent' });
  expect(queries).toHaveLength(1);
  expect(await port.readFlow('payment-order-7')).toEqual({ state: 'absent' });
  expect(queries).toHaveLength(1);
});
