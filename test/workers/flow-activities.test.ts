import { describe, expect, test } from 'vitest';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { FLOWS } from '../../src/contract/flows.js';
import { ASK_FLOW_ACTIVITY, MEMO_KEYS } from '../../src/contract/names.js';
import { markSealed, undecodable } from '../../src/contract/payload-marks.js';
import { flowActivities } from '../../workers/flow-activities.js';
import { ofNoFlow, QUIET } from '../activities/support.js';
import { MINIMAL } from '../contract/examples.js';

const FINGERPRINT = FLOWS.charge.fingerprint(FLOWS.charge.schema.parse(MINIMAL));
const SUCCEEDED = markSealed({ status: 'succeeded', reference: 'order-1001' });

/** An engine with this flow, or with none. It fails at any start, since nothing else is in it. */
function engineWith(flow: { type: string; answer: object } | undefined): Client {
  const known = <Answer>(answer: (there: { type: string; answer: object }) => Answer): Promise<Answer> =>
    flow === undefined
      ? Promise.reject(new WorkflowNotFoundError('workflow not found', 'payment-order-1001', undefined))
      : Promise.resolve(answer(flow));
  const handle = {
    describe: () => known(({ type }) => ({ type, memo: { [MEMO_KEYS.fingerprint]: FINGERPRINT } })),
    executeUpdate: () => known(({ answer }) => answer),
  };
  const withDeadline = (_at: number, call: () => Promise<unknown>) => call();
  return { workflow: { getHandle: () => handle }, withDeadline } as unknown as Client;
}

async function ask(client: Client, flow: unknown, input: unknown): Promise<unknown> {
  return await new MockActivityEnvironment({}, { logger: QUIET })
    .run(flowActivities(client)[ASK_FLOW_ACTIVITY], flow as never, input as never)
    .catch((error: unknown) => error);
}

test('is asked for a workflow alone: anybody who has access to Temporal can start an activity without one', async () => {
  const asked = ofNoFlow(() => flowActivities(engineWith(undefined))[ASK_FLOW_ACTIVITY]('charge', MINIMAL));
  await expect(asked).rejects.toMatchObject({ type: 'InvalidInput', nonRetryable: true });
});

describe('a workflow of a merchant that joins a flow', () => {
  test('is told how it has ended, or that it has not', async () => {
    const answer = (status: string) =>
      ask(engineWith({ type: 'charge', answer: markSealed({ ...SUCCEEDED, status }) }), 'charge', MINIMAL);
    expect(await answer('succeeded')).toEqual({ outcome: SUCCEEDED, final: true });
    for (const status of ['pending', 'underReview', 'authorized'])
      expect(await answer(status)).toMatchObject({ outcome: { status }, final: false });
  });

  test('starts none where it is gone, because its payment may have been made', async () => {
    const failure = await ask(engineWith(undefined), 'charge', MINIMAL);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({
      type: 'FlowNotFound',
      message: expect.stringContaining('look the payment up') as string,
    });
  });

  test('is told that another workflow has the id, instead of asking that for ever', async () => {
    const failure = await ask(engineWith({ type: 'order', answer: SUCCEEDED }), 'charge', MINIMAL);
    expect(failure).toMatchObject({ type: 'ReferenceConflict', message: expect.stringContaining('"order"') as string });
  });

  test('finds every fault of its input where other refusals have them', async () => {
    const failure = await ask(engineWith(undefined), 'charge', { ...MINIMAL, amount: 0.5, currency: 'XXX' });
    expect(failure).toMatchObject({
      type: 'InvalidInput',
      details: [[/^amount/, /^currency/].map((path) => expect.stringMatching(path) as string)],
    });
  });

  const lacking = markSealed(undecodable('unknown key id', 'k2'));
  test.each([
    [lacking, lacking],
    ['charge', lacking],
    [lacking, MINIMAL],
  ])('is asked again by a worker that has the key of its question', async (flow, input) => {
    const failure = await ask(engineWith({ type: 'charge', answer: SUCCEEDED }), flow, input);
    expect(failure).toMatchObject({ name: 'Error', message: expect.stringContaining('unknown key id "k2"') as string });
    expect(failure).not.toBeInstanceOf(ApplicationFailure);
  });
});
