import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Worker } from '@temporalio/worker';
import type { ChargeInput, FinalChargeOutcome } from '../../src/contract/charge.js';
import { paymentWorkflowId, SIGNAL_NAMES } from '../../src/contract/names.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { testDataConverter } from '../support/data-converter.js';
import { flowProblems } from '../support/flow-health.js';
import { eventIds, flowOf, plantOnce, resetToTask, startUnasked, untilEvent } from '../support/flows.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { startStack, type TestStack } from '../support/stack.js';
import { bundlePath } from '../support/temporal.js';
import { quietRuntime } from '../support/quiet-runtime.js';

/** What is slow, by how much (in ms), and how the first workflow task fares by it. */
interface Slowness {
  payment?: number;
  charge?: number;
  /** While that takes: the same question again, a call to wake up and a cancel. */
  meddledWith?: true;
  /** Nobody asks: then nothing of the history stands between the two halves of a heartbeat. */
  unasked?: true;
  /** The path that is refused with 400 in the end. */
  refused?: '/payments' | '*/charges';
  /** Default `succeeded`; in all other cases nothing was charged. */
  ends?: 'cancelled' | 'refused' | 'notExecuted';
}

/** Longer than the 8 s after which a workflow task with a local call under way heartbeats. */
const LOST: [string, Slowness][] = [
  ['the payment took half a minute', { payment: 30_000 }],
  ['the payment was answered soon after a new worker had asked again', { payment: 20_000 }],
  ['the charge took half a minute', { charge: 30_000 }],
  ['the charge was answered soon after a new worker had asked again', { charge: 20_000 }],
  ['people meddled with its charge meanwhile', { charge: 20_000, meddledWith: true }],
];
const KEPT: [string, Slowness][] = [
  ['nothing was slow', {}],
  ['the payment outlived a heartbeat', { payment: 9_000 }],
  ['the charge outlived a heartbeat', { charge: 9_000 }],
  ['payment and charge outlived one together', { payment: 2_500, charge: 7_000 }],
  ['people meddled with its payment', { payment: 9_000, meddledWith: true, ends: 'cancelled' }],
  ['people meddled with its charge', { charge: 9_000, meddledWith: true }],
  ['nobody asked and the payment outlived a heartbeat', { payment: 9_000, unasked: true }],
  ['nobody asked and the charge outlived a heartbeat', { charge: 9_000, unasked: true }],
  [
    'nobody asked and its payment was refused after a heartbeat',
    { payment: 9_000, unasked: true, refused: '/payments', ends: 'notExecuted' },
  ],
  [
    'nobody asked and its charge was refused after a slow payment',
    { payment: 9_000, unasked: true, refused: '*/charges', ends: 'refused' },
  ],
];

let stack: TestStack;
const inputs = new Map<string, ChargeInput>();

beforeAll(async () => {
  quietRuntime();
  stack = await startStack({ pendingMs: 3_600_000, webhook: false, real: true });
  const lost = await Promise.all(LOST.map(start));
  // One workflow task has completed and none has done anything: that is a heartbeat.
  await Promise.all(lost.map((input) => untilEvent(stack, input, 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED')));
  await stack.replaceWorker();
  const kept = await Promise.all(KEPT.map(start));
  await Promise.allSettled([...lost, ...kept].map((input) => flowOf(stack, input).result()));
}, 120_000);
afterAll(async () => {
  await stack?.close();
});

/** Asks, and lets the answer go: it is looked up when the flow has ended. */
async function start([name, slowness]: [string, Slowness]): Promise<ChargeInput> {
  const { payment, charge, meddledWith, unasked, refused } = slowness;
  const input = await chargeInput(stack.sandbox, CARDS.succeeds);
  inputs.set(name, input);
  const delays = [
    ...(payment === undefined ? [] : [{ path: '/payments', delay_ms: payment }]),
    ...(charge === undefined ? [] : [{ path: '*/charges', delay_ms: charge }]),
  ];
  const planted = [];
  for (const delay of delays)
    planted.push(await plantOnce(stack, input, { action: 'delay', method: 'POST', ...delay }));
  if (refused !== undefined) {
    const fault = { action: 'status', method: 'POST', path: refused, status: 400 } as const;
    await stack.sandbox.addFault({ ...fault, reconciliation_id: input.reference });
  }
  if (unasked === true) await startUnasked(stack, input);
  else void stack.holdfast.charge(input, { waitFor: 0 }).catch(() => undefined);
  await untilEvent(stack, input, 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED');
  if (meddledWith !== undefined) {
    await Promise.all(planted.map(({ met }) => met()));
    void stack.holdfast.charge(input, { waitFor: 0 }).catch(() => undefined);
    void stack.holdfast.retryNow(input.reference).catch(() => undefined);
    await flowOf(stack, input).cancel();
  }
  return input;
}

function inputOf(name: string): ChargeInput {
  const input = inputs.get(name);
  if (input === undefined) throw new Error(`No charge was started for "${name}"`);
  return input;
}

async function expectEndAsTheLedgerSays(input: ChargeInput, { ends }: Slowness): Promise<void> {
  const ledger = await stack.sandbox.ledger(input.reference);
  if (ends !== undefined) {
    expect(await stack.holdfast.status(input.reference)).toMatchObject({ status: ends });
    expect(ledger).toEqual([]);
    return;
  }
  const answer = (await flowOf(stack, input).result()) as FinalChargeOutcome;
  expect(auditCharges([{ input, answer }], ledger)).toEqual([]);
}

async function expectReplays(input: ChargeInput): Promise<void> {
  const history = await flowOf(stack, input).fetchHistory();
  const options = { workflowBundle: { codePath: bundlePath() }, dataConverter: testDataConverter() };
  await Worker.runReplayHistory(options, history, paymentWorkflowId(input.reference));
}

test.each(LOST)('a charge whose worker died after a heartbeat replays, when %s', async (name, slowness) => {
  const input = inputOf(name);
  expect(await eventIds(stack, input, 'EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT')).not.toEqual([]);
  await expectEndAsTheLedgerSays(input, slowness);
  await expectReplays(input);
});

test.each(KEPT)('a charge whose worker lived replays, when %s', async (name, slowness) => {
  const input = inputOf(name);
  await expectEndAsTheLedgerSays(input, slowness);
  await expectReplays(input);
});

test('a charge that was told and asked in turns replays after a reset gave it all of that again', async () => {
  const input = await chargeInput(stack.sandbox, CARDS.succeeds);
  const pends = { action: 'result', method: 'POST', path: '*/charges', status: 'Pending' } as const;
  await stack.sandbox.addFault({ ...pends, reconciliation_id: input.reference });
  const ask = (): Promise<unknown> => stack.holdfast.charge(input, { waitFor: '1 minute' });
  await ask();
  const { paymentId = '', transactionId = '', businessUnit } = await stack.holdfast.status(input.reference);
  // So that the flow waits for its next look, and for messages, where the engine gives all of them again.
  await untilEvent(stack, input, 'EVENT_TYPE_TIMER_STARTED');
  const tasks = await eventIds(stack, input, 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED');
  for (let round = 0; round < 3; round += 1) {
    await ask();
    await flowOf(stack, input).signal(SIGNAL_NAMES.transactionEvent, {
      hash: randomUUID(),
      created: String(Date.now()),
      eventType: 'charge.updated',
      status: 'Pending',
      trusted: true,
      businessUnit,
      paymentId,
      transactionId,
      currency: input.currency,
    });
    await Promise.all([ask(), ask(), ask()]);
    await stack.holdfast.retryNow(input.reference);
  }
  await resetToTask(stack, input, tasks.length);
  // It has room for eight questions at once.
  await untilEvent(stack, input, 'EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED', 8);
  expect(await eventIds(stack, input, 'EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED')).not.toEqual([]);
  await expectReplays(input);
  expect((await stack.holdfast.status(input.reference)).ignored).toEqual({});
  await stack.sandbox.complete(transactionId, { status: 'Succeed' });
  await stack.holdfast.retryNow(input.reference);
  expect(await flowOf(stack, input).result()).toMatchObject({ status: 'succeeded' });
  expect(await stack.sandbox.ledger(input.reference)).toHaveLength(1);
});

test('a worker that has seen none of them answers for each', async () => {
  await stack.replaceWorker();
  const cases = [...LOST, ...KEPT];
  const answers = await Promise.all(cases.map(([name]) => stack.holdfast.status(inputOf(name).reference)));
  expect(answers.map(({ status }) => status)).toEqual(cases.map(([, { ends = 'succeeded' }]) => ends));
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
