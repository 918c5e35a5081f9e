import { paymentWorkflowId, PAYMENTS_TASK_QUEUE, resolveWorkflowId } from '../../src/contract/names.js';
import type { FaultInput } from '../../sandbox/control.js';
import { resetToFirstTask } from '../support/resets.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { startUnasked } from '../support/flows.js';
import type { TestStack } from '../support/stack.js';
import { until } from '../support/until.js';

const WHO = { who: 'ann@finance', why: 'seen on the settlement file' };
const CHARGES = { method: 'POST', path: '*/charges' } as const;

/** One run of a flow; its latest if `runId` is absent. */
export interface OneRun {
  workflowId: string;
  runId?: string;
}

/** Runs one flow to its end and answers its workflow id, or which run of it is meant. */
export type Scenario = (stack: TestStack) => Promise<string | OneRun>;

/**
 * Every ending of every flow, each by the way that leads there. A name is the name of a golden history: once
 * that is recorded, neither is ever changed; a new shape of the same ending gets a new name.
 */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'charge-succeeded': (stack) => charged(stack, CARDS.succeeds),
  'charge-declined': (stack) =>
    charged(stack, CARDS.succeeds, {
      action: 'result',
      status: 'Failed',
      category: 'payment_method_declined',
      sub_category: 'insufficient_funds',
    }),
  'charge-declined-after-provider-error': (stack) => charged(stack, CARDS.declines),
  'charge-succeeded-after-lost-reply': (stack) => charged(stack, CARDS.succeeds, { action: 'drop_reply', times: 1 }),
  'charge-succeeded-after-garbage': (stack) => charged(stack, CARDS.succeeds, { action: 'garbage', times: 2 }),
  'charge-succeeded-after-503': (stack) => charged(stack, CARDS.succeeds, { action: 'status', status: 503, times: 3 }),
  'charge-succeeded-after-429': (stack) =>
    charged(stack, CARDS.succeeds, { action: 'status', status: 429, retry_after_s: 1, times: 1 }),
  'charge-refused-by-service': (stack) => charged(stack, CARDS.succeeds, { action: 'status', status: 400, times: 1 }),
  'charge-pending-then-webhook': (stack) => settled(stack, 'Succeed', async () => undefined),
  'charge-pending-then-declined': (stack) => settled(stack, 'Failed', async () => undefined),
  'charge-pending-then-poll': async (stack) => {
    return await settled(stack, 'Succeed', async (reference) => {
      await stack.sandbox.addFault({ action: 'lose_event', reconciliation_id: reference });
    });
  },
  'charge-pending-then-operator': async (stack) => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    await stack.holdfast.charge(input);
    await stack.holdfast.settleManually(input.reference, { status: 'succeeded', ...WHO });
    return paymentWorkflowId(input.reference);
  },
  'charge-started-raw': async (stack) => {
    const input = await chargeInput(stack.sandbox);
    return await rawStart(stack, input.reference, input);
  },
  'charge-started-raw-with-bad-input': async (stack) => {
    const input = await chargeInput(stack.sandbox);
    return await rawStart(stack, input.reference, { ...input, amount: -1 });
  },
  'charge-cancelled-before-anything': async (stack) => {
    const input = await chargeInput(stack.sandbox);
    await stack.stopWorker();
    const charging = stack.holdfast.charge(input, { waitFor: '60 seconds' }).catch(() => undefined);
    const handle = stack.temporal.workflow.getHandle(paymentWorkflowId(input.reference));
    await until(
      () =>
        handle.cancel().then(
          () => true,
          () => false,
        ),
      (done) => done,
    );
    await stack.startWorker();
    await charging;
    return handle.workflowId;
  },
  'charge-after-a-killed-worker': async (stack) => {
    const input = await chargeInput(stack.sandbox);
    await stack.sandbox.addFault({
      ...CHARGES,
      action: 'delay',
      delay_ms: 1_000,
      reconciliation_id: input.reference,
      times: 1,
    });
    const charging = stack.holdfast.charge(input, { waitFor: '60 seconds' });
    await until(
      () => stack.sandbox.faults(),
      (faults) => faults.every((fault) => fault.reconciliation_id !== input.reference || fault.fired > 0),
    );
    await stack.replaceWorker();
    await charging;
    return paymentWorkflowId(input.reference);
  },
  'charge-cancelled-in-flight': async (stack) => {
    const input = await chargeInput(stack.sandbox);
    const away: FaultInput = { ...CHARGES, action: 'status', status: 503, reconciliation_id: input.reference };
    const { id } = await stack.sandbox.addFault(away);
    await stack.holdfast.charge(input, { waitFor: '2 seconds' });
    await stack.temporal.workflow.getHandle(paymentWorkflowId(input.reference)).cancel();
    await stack.sandbox.removeFault(id);
    await stack.holdfast.retryNow(input.reference);
    return paymentWorkflowId(input.reference);
  },
  'charge-refused-after-a-heartbeat': async (stack) => await refusedAfterSlowPayment(stack, '*/charges'),
  'charge-not-executed-after-a-heartbeat': async (stack) => await refusedAfterSlowPayment(stack, '/payments'),
  'charge-reset-to-its-first-task': async (stack) => {
    const workflowId = await charged(stack, CARDS.succeeds);
    await resetToFirstTask(stack.temporal, workflowId);
    return workflowId;
  },
  'resolve-pending-succeeded': async (stack) => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    const { paymentId = '', transactionId = '' } = await stack.holdfast.charge(input);
    await stack.holdfast.resolvePending({ paymentId, transactionId, kind: 'charge', amount: 1095, currency: 'USD' });
    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
    return resolveWorkflowId(transactionId);
  },
};

async function charged(stack: TestStack, card: string, fault?: FaultInput): Promise<string> {
  const input = await chargeInput(stack.sandbox, card);
  if (fault !== undefined) await stack.sandbox.addFault({ ...CHARGES, ...fault, reconciliation_id: input.reference });
  // A refusal is an ending like any other here.
  await stack.holdfast.charge(input, { waitFor: '60 seconds' }).catch(() => undefined);
  return paymentWorkflowId(input.reference);
}

/** Nobody asks meanwhile, so that a bare heartbeat of the first task stands in the history. */
async function refusedAfterSlowPayment(stack: TestStack, refused: string): Promise<string> {
  const input = await chargeInput(stack.sandbox);
  const { reference: reconciliation_id } = input;
  const slow: FaultInput = { action: 'delay', method: 'POST', path: '/payments', delay_ms: 9_000, times: 1 };
  await stack.sandbox.addFault({ ...slow, reconciliation_id });
  await stack.sandbox.addFault({ action: 'status', method: 'POST', path: refused, status: 400, reconciliation_id });
  await startUnasked(stack, input);
  const workflowId = paymentWorkflowId(input.reference);
  await stack.temporal.workflow
    .getHandle(workflowId)
    .result()
    .catch(() => undefined);
  return workflowId;
}

async function settled(
  stack: TestStack,
  status: 'Succeed' | 'Failed',
  before: (reference: string) => Promise<void>,
): Promise<string> {
  const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
  await before(input.reference);
  const { transactionId = '' } = await stack.holdfast.charge(input);
  await stack.sandbox.complete(transactionId, { status, category: 'payment_method_declined' });
  return paymentWorkflowId(input.reference);
}

async function rawStart(stack: TestStack, reference: string, input: object): Promise<string> {
  const handle = await stack.temporal.workflow.start('charge', {
    workflowId: paymentWorkflowId(reference),
    taskQueue: PAYMENTS_TASK_QUEUE,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    args: [input],
  });
  await handle.result().catch(() => undefined);
  return handle.workflowId;
}
