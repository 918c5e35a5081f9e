import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BILLING_TASK_QUEUE, subscriptionWorkflowId, WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { SubscriptionInput } from '../../src/contract/subscription.js';
import { later, monthly, subscribe } from '../support/subscriptions.js';
import { startVirtualTime, type VirtualTime } from '../support/virtual-time.js';

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime({ billing: true });
});
afterAll(async () => {
  await time?.close();
});

/** Started as other programs do: nothing has looked at the input before the flow. */
async function refusalOf(input: object): Promise<unknown> {
  const { reference } = input as SubscriptionInput;
  const handle = await time.client.workflow.start(WORKFLOW_TYPES.subscription, {
    taskQueue: BILLING_TASK_QUEUE,
    workflowId: subscriptionWorkflowId(reference),
    args: [input],
  });
  return await handle.result().then(
    () => 'was taken',
    (error: { cause?: { type?: string; details?: unknown[] } }) => [error.cause?.type, error.cause?.details?.[0]],
  );
}

describe('a raw start', () => {
  test.each([
    ['the customer', randomUUID()],
    ['a customer whose id is no UUID', 'cus_1001'],
  ])('is told all at once: what is wrong with fields, with %s and with the card', async (_name, customerId) => {
    const input = { ...(await monthly(time)), amount: 0.5, timeZone: 'Rome', interval: { every: 0, unit: 'month' } };
    const faults = await refusalOf({ ...input, customerId, token: randomUUID() });
    const named = ['interval.every', 'amount', 'timeZone', 'customerId', 'token'];
    expect(faults).toEqual([
      'InvalidInput',
      expect.arrayContaining(named.map((name) => expect.stringContaining(name))),
    ]);
    expect((faults as [string, string[]])[1]).toHaveLength(named.length);
  });

  test('is told that the day is over along with a card that is not there', async () => {
    const input = await monthly(time);
    expect(await refusalOf({ ...input, anchor: later(input.anchor, -10), token: randomUUID() })).toEqual([
      'InvalidInput',
      [expect.stringMatching(/^anchor: .* is in the past/), expect.stringMatching(/^token: /)],
    ]);
  });

  test('with the card of another customer is refused, and nothing is billed', async () => {
    const [input, other] = [await monthly(time), await monthly(time)];
    const refused = ['InvalidInput', [expect.stringMatching(/^token: /)]];
    expect(await refusalOf({ ...input, token: other.token })).toEqual(refused);
    expect(await time.sandbox.ledger()).toEqual([]);
  });

  test('with an anchor of the past says what becomes of the periods since, and is taken', async () => {
    const input = await monthly(time, { interval: { every: 1, unit: 'week' }, missedPeriods: 'skip', periods: 4 });
    const flow = await subscribe(time, { ...input, anchor: later(input.anchor, -14) });
    expect(await flow.ended()).toMatchObject({ billedPeriods: 2, missedPeriods: 2 });
  });
});

test('a service that does not answer, or rejects our key, delays the start and refuses nobody', async () => {
  const faults = await Promise.all(
    [503, 401].map((status) =>
      time.sandbox.addFault({ action: 'status', method: 'GET', path: '/customers/*', status }),
    ),
  );
  const { [1]: rejected, [0]: down } = faults;
  const input = { ...(await monthly(time)), periods: 1 };
  const flow = await subscribe(time, input);
  await time.passUntil((await time.now()) + 60_000);
  await time.sandbox.removeFault(down?.id ?? '');
  await time.passUntil((await time.now()) + 120_000);
  expect(await flow.status()).toMatchObject({ status: 'started', waitingFor: 'credentials', needsOperator: true });
  await time.sandbox.removeFault(rejected?.id ?? '');
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
});

test('a cancel while the card is still being looked up ends it, and commands are answered', async () => {
  const fault = await time.sandbox.addFault({ action: 'status', method: 'GET', path: '/customers/*', status: 503 });
  const flow = await subscribe(time, await monthly(time));
  const early = flow.command('pause');
  await time.client.workflow.getHandle(flow.workflowId).cancel();
  expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 0 });
  // Whichever of the two came first; an error would be no answer.
  expect(await early).toMatchObject({ status: expect.stringMatching(/^(paused|cancelled)$/), billedPeriods: 0 });
  await time.sandbox.removeFault(fault.id);
});

test('a command to a subscription that is refused is refused with it, and holds nothing up', async () => {
  const fault = await time.sandbox.addFault({ action: 'status', method: 'GET', path: '/customers/*', status: 503 });
  const flow = await subscribe(time, { ...(await monthly(time)), customerId: randomUUID() });
  const early = flow.command('pause').catch((error: { cause?: { message?: string } }) => error.cause?.message);
  await flow.worksOn();
  await time.sandbox.removeFault(fault.id);
  await expect(flow.ended()).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
  expect(await early).toContain('the subscription was refused');
});
