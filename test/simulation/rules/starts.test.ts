import { describe, expect, test } from 'vitest';
import { createEventSink } from '../../../src/client/event-sink.js';
import { createReconcilePort } from '../../../src/client/reconcile-port.js';
import { currencyOf } from '../../../src/client/start-actions.js';
import { BEFORE_NEW_REFERENCE } from '../../../src/contract/names.js';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { begin, beginActions, ledgerRows } from '../../support/virtual-flows.js';
import {
  beginFlow,
  DAY,
  DONE,
  failsWith,
  FLOW_TYPES,
  type FlowType,
  HOUR,
  inputOf,
  scheduledOf,
  SECOND,
  sharedTime,
  specOf,
  startRaw,
} from './context.js';

const time = sharedTime();

/** Risk flows have ids of their own, so that they can follow a payment of the same reference. */
const MONEY: readonly FlowType[] = FLOW_TYPES.filter((type) => type !== 'analyseRisk');

describe.each(FLOW_TYPES)('%s', (type) => {
  test('moves money once when it is started again by hand, after it has ended and its keys are forgotten', async () => {
    const input = await inputOf(time, type);
    const { reference } = input;
    const flow = await beginFlow(time, type, input);
    await flow.outcome();
    const onLedger = await movements(time, reference);
    expect(onLedger).toEqual(DONE[type]);
    await time.passUntil(flow.startedAt + 25 * HOUR);

    // Another token: the service would take the same money from it.
    const again = await startRaw(time, type, await inputOf(time, type, { reference }));
    await expect(again.result()).rejects.toMatchObject(failsWith('ReferenceConflict', 'has already been used by run'));
    expect(await movements(time, reference)).toEqual(onLedger);
  });

  test('answers as before, and takes commands, after such a second start of it was refused', async () => {
    const input = await inputOf(time, type);
    const flow = await beginFlow(time, type, input);
    const outcome = await flow.outcome();
    const before = await known(flow.workflowId);
    const again = await startRaw(time, type, { ...input, amount: 7_000, currency: 'EUR' });
    await expect(again.result()).rejects.toMatchObject(failsWith('ReferenceConflict'));
    expect(await ask(type, input)).toEqual(outcome);
    expect(await known(flow.workflowId)).toMatchObject(before);
    if (type === 'analyseRisk' || type === 'credit') return;
    const { paymentId = '' } = outcome as { paymentId?: string };
    const refund = { payment: input.reference, amount: 5_500, commandId: 'back' };
    expect(await time.holdfast.refund(refund)).toMatchObject({ status: 'succeeded', paymentId });
    const byId = { ...refund, payment: { payment: paymentId } };
    expect(await time.holdfast.refund(byId)).toMatchObject({ status: 'succeeded' });
    expect(await ledgerRows(time, paymentId)).toEqual([...DONE[type], 'refund Succeed 5500 USD']);
  });

  test.each([
    ['another workflow id that begins like its own', (id: string) => ({ workflowId: `${id}x` })],
    ['a retry policy', () => ({ retry: { maximumAttempts: 3 } })],
    ['a cron schedule', () => ({ cronSchedule: '@every 3600s' })],
    ['an execution time-out', () => ({ workflowExecutionTimeout: '1 day' })],
    ['a run time-out', () => ({ workflowRunTimeout: '1 day' })],
  ])('sends nothing when it is started with %s', async (_what, how) => {
    const input = await inputOf(time, type);
    const options = how(specOf(type, input).workflowId) as Parameters<typeof startRaw>[3];
    const flow = await startRaw(time, type, input, options);
    const run = time.client.workflow.getHandle(flow.workflowId, flow.firstExecutionRunId, { followRuns: false });
    await expect(run.result()).rejects.toMatchObject(failsWith('InvalidInput', 'must '));
    await flow.terminate().catch(() => undefined);
    expect(time.requests.posts(input.reference)).toEqual([]);
    expect(await movements(time, input.reference)).toEqual([]);
  });
});

describe.each(MONEY)('a %s that is under way', (type) => {
  test.each(MONEY.filter((other) => other !== type))('keeps its reference from a %s', async (other) => {
    const input = await inputOf(time, type, { card: CARDS.pendsThenSucceeds });
    const { reference } = input;
    const flow = await beginFlow(time, type, input);
    const asked = ask(other, await inputOf(time, other, { reference }));
    await expect(asked).rejects.toMatchObject({ type: 'ReferenceConflict' });
    await time.passUntil(flow.startedAt + 4 * SECOND);
    // Whatever it is to be: what is there is its own first transaction, and nothing of the other.
    expect((await movements(time, reference)).map((line) => line.replace(/ \w+ /, ' '))).toEqual([
      `${(DONE[type][0] ?? '').split(' ')[0]} 6000 USD`,
    ]);
  });

  test('answers who asks with another sum, currency or card that the reference is taken, and to ask it first', async () => {
    const input = await inputOf(time, type, { card: CARDS.pendsThenSucceeds });
    const { reference } = input;
    const flow = await beginFlow(time, type, input);
    const { paymentMethod } = (await inputOf(time, type)) as unknown as { paymentMethod: object };
    for (const change of [{ amount: 6_001 }, { currency: 'EUR' }, { paymentMethod }]) {
      await expect(ask(type, { ...input, ...change })).rejects.toMatchObject({
        type: 'ReferenceConflict',
        message: expect.stringContaining(BEFORE_NEW_REFERENCE),
      });
    }
    expect(await ask(type, input)).toMatchObject({ reference, amount: 6_000, currency: 'USD' });
    await time.passUntil(flow.startedAt + 4 * SECOND);
    expect(await movements(time, reference)).toHaveLength(1);
  });
});

/** What events, reconciliations and disputes go by. */
async function known(workflowId: string): Promise<object> {
  const ended = await createEventSink(time.client).endedFlow(workflowId);
  const [facts] = await createReconcilePort(time.client).flowsById([workflowId]);
  const currency = await currencyOf(time.client, [workflowId]);
  expect({ ended, facts, currency }).toMatchObject({ ended: { result: {} }, facts: { result: {} }, currency: 'USD' });
  return { ended, facts };
}

function ask(type: FlowType, input: object): Promise<object> {
  const { holdfast } = time;
  const quick = { waitFor: 0 };
  switch (type) {
    case 'charge':
      return holdfast.charge(input as Parameters<typeof holdfast.charge>[0], quick);
    case 'authorizeAndCapture':
      return holdfast.authorize(input as Parameters<typeof holdfast.authorize>[0], quick);
    case 'credit':
      return holdfast.credit(input as Parameters<typeof holdfast.credit>[0], quick);
    case 'storeCard':
      return holdfast.storeCard(input as Parameters<typeof holdfast.storeCard>[0], quick);
    default:
      return holdfast.analyseRisk(input as Parameters<typeof holdfast.analyseRisk>[0], quick);
  }
}

test('a flow that another program started tries nothing inside its first task, where a lost one could not be told', async () => {
  const input = await inputOf(time, 'charge');
  const raw = await startRaw(time, 'charge', input);
  await raw.result();
  expect(await scheduledOf(time, raw.workflowId)).toEqual(['findEarlierRun', 'createPayment', 'createCharge']);
  const ours = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await ours.outcome();
  expect(await scheduledOf(time, ours.workflowId)).toEqual([]);
  expect(await movements(time, input.reference)).toEqual(DONE.charge);
});

test('a refund that is repeated after the actions of its payment have closed and opened again refunds nothing', async () => {
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = (await charge.outcome()) as { paymentId?: string };
  const actions = { paymentId, currency: 'USD', paymentReference: charge.reference };
  const first = await beginActions(time, actions);
  const refund = { commandId: 'return-1', amount: 5_500 };
  const given = await first.ask('refund', refund);
  expect(given).toMatchObject({ status: 'succeeded', amount: 5_500 });
  await time.passUntil(first.startedAt + 31 * DAY);
  const again = await beginActions(time, actions);
  expect(await again.ask('refund', refund)).toEqual(given);
  await time.passUntil(again.startedAt + 31 * DAY);
  const last = await beginActions(time, actions);
  await expect(last.ask('refund', { ...refund, amount: 5_000 })).rejects.toMatchObject(
    failsWith('ReferenceConflict', 'with another request'),
  );
  expect(await ledgerRows(time, paymentId)).toEqual(['charge Succeed 6000 USD', 'refund Succeed 5500 USD']);
});

test('two types of flow that begin at the same time under one reference move the money of one of them', async () => {
  const charge = await inputOf(time, 'charge');
  const credit = await inputOf(time, 'credit', { reference: charge.reference });
  const flow = await begin(time, specOf('charge', charge));
  await expect(begin(time, specOf('credit', credit))).rejects.toThrow(/already started/i);
  await flow.outcome();
  expect(await movements(time, charge.reference)).toEqual(DONE.charge);
});
