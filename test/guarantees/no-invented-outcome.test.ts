import { afterAll, beforeAll, expect, test } from 'vitest';
import { dispatcherTo } from '../support/dispatcher-to.js';
import type { WorkflowHandle } from '@temporalio/client';
import type { ChargeInput, FinalChargeOutcome } from '../../src/contract/charge.js';
import { idempotencyKey } from '../../src/contract/idempotency.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import { ProviderClient } from '../../src/provider/index.js';
import { DEFAULT_UNIT } from '../../sandbox/business-units.js';
import type { Profile } from '../../sandbox/records.js';
import { chargeInput } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { flowOf, plantOnce, resetToTask, startRaw, untilEvent } from '../support/flows.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { startStack, type TestStack } from '../support/stack.js';
import { until } from '../support/until.js';

const CHARGES = '*/charges';
const LIST_LAG_MS = 30_000;

/** Business units on whose side of the service a refusal is most easily mistaken for the truth. */
const PROFILES: Readonly<Record<string, Partial<Profile>>> = {
  lagging: { list_lag_ms: LIST_LAG_MS, state_checks: 'before_key_lookup' },
  impatient: { same_key_in_flight: 'conflict' },
};
const credentials = (name: string) => ({ appId: name, privateKey: `${name}-private`, publicKey: `${name}-public` });

let stack: TestStack;
beforeAll(async () => {
  const units = Object.keys(PROFILES).map((name) => [name, credentials(name)]);
  const { appId, privateKey } = DEFAULT_UNIT;
  stack = await startStack({
    webhook: false,
    workerEnv: {
      HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: { appId, privateKey }, ...Object.fromEntries(units) }),
    },
  });
  for (const [name, profile] of Object.entries(PROFILES)) {
    const { appId: app_id, privateKey: private_key, publicKey: public_key } = credentials(name);
    await stack.sandbox.putBusinessUnit({ app_id, private_key, public_key, profile });
  }
});
afterAll(async () => {
  await stack?.close();
});

async function chargeOf(businessUnit: string): Promise<ChargeInput> {
  if (!(businessUnit in PROFILES)) return await chargeInput(stack.sandbox);
  const { publicKey } = credentials(businessUnit);
  const { token } = await stack.sandbox.tokenize({ cardNumber: '4111111111111111', publicKey });
  return await chargeInput(stack.sandbox, undefined, { businessUnit, paymentMethod: { type: 'tokenized', token } });
}

/** A start that waits for nothing; whoever waits for it is not what these tests are about. */
async function startByClient(_: TestStack, input: ChargeInput): Promise<WorkflowHandle> {
  void stack.holdfast.charge(input, { waitFor: 0 }).catch(() => undefined);
  await untilEvent(stack, input, 'EVENT_TYPE_WORKFLOW_EXECUTION_STARTED');
  return flowOf(stack, input);
}

async function expectStillOpen(input: ChargeInput): Promise<void> {
  const { status, outcome } = await stack.holdfast.status(input.reference);
  expect({ open: ['started', 'unknown'].includes(status), outcome }).toEqual({ open: true, outcome: undefined });
  expect(await stack.holdfast.charge(input, { waitFor: 0 })).toMatchObject({ status: 'unknown' });
}

async function expectOneMovement(input: ChargeInput): Promise<void> {
  const answer = (await flowOf(stack, input).result()) as FinalChargeOutcome;
  expect(answer.status).toBe('succeeded');
  expect(auditCharges([{ input, answer }], await stack.sandbox.ledger(input.reference))).toEqual([]);
}

test.concurrent(
  'a charge that is reset at once is not refused where lists lag and a paid payment answers 409',
  async () => {
    const input = await chargeOf('lagging');
    await (await startRaw(stack, input)).result();
    await resetToTask(stack, input, 2);

    await untilEvent(stack, input, 'EVENT_TYPE_ACTIVITY_TASK_FAILED');
    await expectStillOpen(input);
    await stack.sandbox.advanceClock(LIST_LAG_MS);
    await expectOneMovement(input);
  },
);

test.concurrent.each([
  ['sent again', 0],
  ['carried over', 1],
])('a charge that is reset while its call is in flight, and %s, does not believe a 409', async (_, task) => {
  const input = await chargeOf('default');
  // A slow payment leaves the charge to a regular activity, outside of the first workflow task.
  await plantOnce(stack, input, { action: 'delay', method: 'POST', path: '/payments', delay_ms: 3_500 });
  const slow = await plantOnce(stack, input, { action: 'delay', method: 'POST', path: CHARGES, delay_ms: 4_000 });
  await startByClient(stack, input);
  await slow.met();
  // A second task to reset to: a signal that means nothing makes one.
  await stack.temporal.workflow.getHandle(paymentWorkflowId(input.reference)).signal('nobodyKnowsThis');
  await untilEvent(stack, input, 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED', 2);
  const refusal = await plantOnce(stack, input, { action: 'status', method: 'POST', path: CHARGES, status: 409 });
  await resetToTask(stack, input, task);

  await refusal.met();
  await untilEvent(stack, input, 'EVENT_TYPE_ACTIVITY_TASK_FAILED');
  await expectOneMovement(input);
});

test.concurrent('nor does it believe that of a service which still works on the first request of its key', async () => {
  const input = await chargeOf('impatient');
  const slow = await plantOnce(stack, input, { action: 'delay', method: 'POST', path: CHARGES, delay_ms: 5_000 });
  await startRaw(stack, input);
  await slow.met();
  await resetToTask(stack, input, -1);

  await untilEvent(stack, input, 'EVENT_TYPE_ACTIVITY_TASK_FAILED');
  await expectStillOpen(input);
  await expectOneMovement(input);
});

test.concurrent(
  'a caller who waits while the flow is reset is not told that nobody follows its money any more',
  async () => {
    const input = await chargeOf('default');
    await plantOnce(stack, input, { action: 'delay', method: 'POST', path: '/payments', delay_ms: 3_500 });
    const slow = await plantOnce(stack, input, { action: 'delay', method: 'POST', path: CHARGES, delay_ms: 1_000 });
    const asked = stack.holdfast.charge(input, { waitFor: '20 seconds' });
    await slow.met();
    await resetToTask(stack, input, -1);
    await expect(asked).resolves.toMatchObject({ status: expect.stringMatching(/^(succeeded|unknown)$/) });
    await expectOneMovement(input);
  },
);

test.concurrent.each([
  ['raw', startRaw],
  ['by our client', startByClient],
])('a charge started %s whose repost after a provider failure meets a 409 goes on by reading', async (_, start) => {
  const input = await chargeOf('default');
  const category = 'provider_network_error';
  await plantOnce(stack, input, { action: 'result', method: 'POST', path: CHARGES, status: 'Failed', category });
  await start(stack, input);
  const [made] = await until(
    () => stack.sandbox.ledger(input.reference),
    (ledger) => ledger.length === 1,
  );
  const refusal = await plantOnce(stack, input, { action: 'status', method: 'POST', path: CHARGES, status: 409 });
  await refusal.met();
  await untilEvent(stack, input, 'EVENT_TYPE_ACTIVITY_TASK_FAILED');
  await expectStillOpen(input);

  await reachProviderAtLast(input, made?.payment_id ?? '');
  await stack.holdfast.retryNow(input.reference);
  await expectOneMovement(input);
});

/** Asks once more under the flow's own key, as another caller does: the flow can know the result only by a read. */
async function reachProviderAtLast(input: ChargeInput, paymentId: string): Promise<void> {
  const { appId, privateKey } = DEFAULT_UNIT;
  const provider = new ProviderClient({
    baseUrl: stack.sandboxUrl,
    environment: 'test',
    unit: { appId, privateKey, apiVersion: '1.3.0' },
    dispatcher: dispatcherTo(stack.sandboxUrl),
  });
  const { paymentMethod, reference, currency } = input;
  const key = idempotencyKey(paymentWorkflowId(reference), 'createCharge', 1);
  const { data } = await provider.createCharge(
    paymentId,
    { paymentMethod, reconciliationId: reference },
    { idempotencyKey: key, currency },
  );
  expect(data.status).toBe('Succeed');
}

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
