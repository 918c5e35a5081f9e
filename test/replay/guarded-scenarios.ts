import { Client } from '@temporalio/client';
import type { ProfileUnit } from '../../tools/stack/profile-units.js';
import { createEnginePort } from '../../src/client/engine-port.js';
import { BRAKES_WORKFLOW } from '../../src/contract/brakes.js';
import { bulkWorkflowId } from '../../src/contract/bulk.js';
import {
  BILLING_TASK_QUEUE,
  outgoingWorkflowId,
  OUTGOING_WORKFLOW,
  paymentWorkflowId,
  PAYMENTS_TASK_QUEUE,
  subscriptionWorkflowId,
} from '../../src/contract/names.js';
import { NO_BRAKES } from '../../src/domain/brakes.js';
import { CARDS } from '../support/charges.js';
import { authorizeInput } from '../support/payments.js';
import { dailyInput } from '../support/stack-subscriptions.js';
import type { TestStack } from '../support/stack.js';
import { until } from '../support/until.js';
import { beginActions, beginHeld, type VirtualFlow } from '../support/virtual-flows.js';
import { HOUR, MINUTE, type VirtualTime } from '../support/virtual-time.js';
import type { LongScenario } from './long-scenarios.js';
import type { OneRun, Scenario } from './scenarios.js';

const GRACE = { who: 'Grace', why: 'case 17' };
const ADA = { who: 'Ada', why: 'charges twice' };
const LIMITED = 'limited';
/** What one call sends without another person. */
export const PER_CALL = { USD: 6_000 };
export const LIMITED_UNIT: ProfileUnit = {
  name: LIMITED,
  appId: 'holdfast-sandbox-limited',
  privateKey: 'sandbox-private-key-limited',
  publicKey: 'sandbox-public-key-limited',
  profile: {},
  outgoing: { perCall: PER_CALL, perDay: { USD: 100_000 } },
};

/** What another person approves, a brake stops or a bulk asks of many; the same rules as for `SCENARIOS`. */
export const GUARDED_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'credit-above-a-limit-approved': async (stack) => {
    const reference = await credited(stack, { who: 'Ada' });
    await stack.holdfast.approve(reference, { ...GRACE, commandId: reference });
    return paymentWorkflowId(reference);
  },
  'credit-above-a-limit-rejected': async (stack) => {
    const reference = await credited(stack, { who: 'Ada' });
    await stack.holdfast.reject(reference, { ...GRACE, commandId: reference });
    return paymentWorkflowId(reference);
  },
  'credit-above-a-limit-asked-for-by-nobody': async (stack) => paymentWorkflowId(await credited(stack)),
  // Long over: it ends once it has counted.
  'outgoing-counted': async (stack) => await counted(stack, '2026-01-30'),
  'outgoing-begun-again': async (stack) => {
    const day = '2026-01-31';
    const workflowId = await counted(stack, day);
    await stack.temporal.workflow.getHandle(workflowId).result();
    const { firstExecutionRunId: runId } = await stack.temporal.workflow.start(OUTGOING_WORKFLOW, {
      workflowId,
      taskQueue: PAYMENTS_TASK_QUEUE,
      args: [{ businessUnit: LIMITED, day }],
    });
    return { workflowId, runId };
  },
  'brakes-braked-and-released': async (stack) => {
    const { brakes } = stack.holdfast;
    await brakes.brake({ businessUnit: 'nobody', ...ADA, refunds: true });
    await brakes.brake({ businessUnit: 'nobody', ...ADA });
    await brakes.release({ businessUnit: 'nobody', ...GRACE });
    const handle = stack.temporal.workflow.getHandle(BRAKES_WORKFLOW);
    const { runId } = await handle.describe();
    await handle.cancel();
    return { workflowId: BRAKES_WORKFLOW, runId };
  },
  'brakes-in-clear': async ({ temporal }) => {
    const { connection, options } = temporal;
    const inClear = new Client({ connection, namespace: options.namespace });
    const { firstExecutionRunId: runId } = await inClear.workflow.start(BRAKES_WORKFLOW, {
      workflowId: BRAKES_WORKFLOW,
      taskQueue: PAYMENTS_TASK_QUEUE,
      args: [NO_BRAKES],
    });
    return { workflowId: BRAKES_WORKFLOW, runId };
  },
  'bulk-paused': async (stack) => {
    const input = await dailyInput(stack, 1);
    await stack.holdfast.subscribe(input);
    const query = `WorkflowId = '${subscriptionWorkflowId(input.reference)}'`;
    await until(
      () => stack.temporal.workflow.count(`${query} AND ExecutionStatus = 'Running' AND BusinessUnit = 'default'`),
      ({ count }) => count === 1,
    );
    const name = `pause-${input.reference}`;
    const workflowId = bulkWorkflowId({ name });
    const action = { do: 'pause' };
    await stack.temporal.workflow.start('bulk', {
      workflowId,
      taskQueue: BILLING_TASK_QUEUE,
      args: [{ name, businessUnit: 'default', action, query, rate: 10, ...ADA }],
    });
    return workflowId;
  },
};

/** The same in skipped time, of a unit with `PER_CALL`: `paymentActions` stays open for a month. */
export const LONG_GUARDED_SCENARIOS: Readonly<Record<string, LongScenario>> = {
  'payment-actions-refund-above-a-limit-approved': async (time) =>
    await refunded(time, async (flow, { answer }) => {
      await time.holdfast.approve(flow, { ...GRACE, commandId: 'back' });
      await answer;
    }),
  'payment-actions-refund-above-a-limit-decided-by-nobody': async (time) =>
    await refunded(time, async () => await time.passUntil((await time.now()) + 96 * HOUR)),
  'payment-actions-capture-while-a-refund-waits': async (time) =>
    await refunded(time, async (flow, { answer }) => {
      await flow.ask('capture', { commandId: 'rest', amount: 6_000 });
      await time.holdfast.reject(flow, { ...GRACE, commandId: 'back' });
      await answer;
    }),
};

async function credited(stack: TestStack, more: { who?: string } = {}): Promise<string> {
  const { appId: app_id, privateKey: private_key, publicKey: public_key } = LIMITED_UNIT;
  await stack.sandbox.putBusinessUnit({ app_id, private_key, public_key });
  const { token } = await stack.sandbox.tokenize({ cardNumber: CARDS.succeeds, publicKey: LIMITED_UNIT.publicKey });
  const { reference } = await authorizeInput(stack);
  const paymentMethod = { type: 'tokenized', token } as const;
  const common = { reference, amount: 7_000, currency: 'USD', businessUnit: LIMITED };
  const asked = stack.holdfast.credit({ ...common, paymentMethod, ...more }, { waitFor: 0 });
  await asked.catch(() => undefined);
  await until(
    () => stack.holdfast.status(reference),
    ({ waitingFor, status }) => waitingFor === 'approval' || status === 'refused',
  );
  return reference;
}

async function counted(stack: TestStack, day: string): Promise<string> {
  const asked = { key: 'one', amount: 100, currency: 'USD', perDay: 150 };
  await createEnginePort(stack.temporal).countOutgoing({ businessUnit: LIMITED, day }, asked);
  return outgoingWorkflowId(LIMITED, day);
}

/** A hold of which 140.00 USD are captured, and 70.00 USD of that are about to be refunded. */
async function refunded(
  time: VirtualTime,
  then: (flow: VirtualFlow<unknown>, refund: { answer: Promise<unknown> }) => Promise<void>,
): Promise<string | OneRun> {
  const hold = await beginHeld(time, { amount: 20_000 });
  const { transactionId: captureId } = await hold.ask('capture', { commandId: 'first', amount: 14_000 });
  const { paymentId = '', reference: paymentReference } = (await hold.outcome()) as {
    paymentId?: string;
    reference: string;
  };
  const flow = await beginActions(time, { paymentId, currency: 'USD', paymentReference });
  const refund = await flow.command('refund', { commandId: 'back', captureId, amount: 7_000, who: 'Ada' });
  await time.passUntil((await time.now()) + MINUTE);
  await then(flow, refund);
  await flow.outcome();
  return flow.workflowId;
}
