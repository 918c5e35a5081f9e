import { afterAll, beforeAll, expect, test } from 'vitest';
import { jumpWorkflow } from '../../tools/demo/embedded/jump-workflow.js';
import type { AuthorizeInput } from '../../src/contract/authorize.js';
import type { ChargeInput } from '../../src/contract/charge.js';
import {
  BILLING_TASK_QUEUE,
  paymentWorkflowId,
  PAYMENTS_TASK_QUEUE,
  SIGNAL_NAMES,
  subscriptionWorkflowId,
} from '../../src/contract/names.js';
import { whyPassedOver } from '../../workers/version-state.js';
import type { SubscriptionInput } from '../../src/contract/subscription.js';
import type { Drained } from '../../src/cli/deploy-drain.js';
import { chargeInput } from '../support/charges.js';
import { buildOf, buildWith, type BuildFolder, deploysOn } from '../support/deploys.js';
import { eventIds } from '../support/flows.js';
import { authorizeInput, movements } from '../support/payments.js';
import { startStack, type TestStack } from '../support/stack.js';
import { dailyInput, subscriptionOn } from '../support/stack-subscriptions.js';
import { plantOn } from '../support/subscriptions.js';
import { until } from '../support/until.js';

const SUBSCRIPTIONS = 12;
const HOLDS = 6;
const SUCCEEDED = 'charge Succeed 1095 USD';

let stack: TestStack;
let deploys: Awaited<ReturnType<typeof deploysOn>>;
/** Its code fails each task. */
let bad: BuildFolder;
/** Its code asks for less than the histories hold. */
let other: BuildFolder;
const charges: ChargeInput[] = [];
const holds: AuthorizeInput[] = [];
const subscriptions: SubscriptionInput[] = [];
/** Its bill is under way, and pends. */
let busy: SubscriptionInput;

beforeAll(async () => {
  const workerEnv = { HOLDFAST_BUILD_ID: 'v1', HOLDFAST_TASK_QUEUES: 'payments' };
  stack = await startStack({ real: true, webhook: false, pendingMs: 3_600_000, workerEnv });
  deploys = await deploysOn(stack);
  bad = buildWith(
    'function parseStart({ schema, workflowId }, raw) {',
    "function parseStart({ schema, workflowId }, raw) { throw new Error('a fault of this build');",
  );
  other = buildWith('upsertSearchAttributes)(updates)', 'upsertSearchAttributes)');
}, 120_000);
afterAll(async () => {
  await deploys?.close();
  await stack?.close();
  bad?.remove();
  other?.remove();
});

test('a build ramps, a bad one is rolled back, the old one is drained, and no payment is lost or made twice', async () => {
  const v1 = { payments: stack.worker(), billing: await deploys.worker('v1', 'billing') };
  const passedOver = () => whyPassedOver(stack.temporal, [PAYMENTS_TASK_QUEUE, BILLING_TASK_QUEUE]);
  expect(await passedOver()).toEqual([]);
  await deploys.makeCurrent('v1');
  // Workers of no build learn it here.
  await until(passedOver, (reasons) => reasons.length === 2 && reasons.every((one) => one.includes('build "v1"')));
  await begin();
  const status = await deploys.command(['deploy', 'status']);
  expect(status.out).toMatch(/^Deployment holdfast, versions used: 1 of 100$/m);
  // The payment of the bill that is under way is pinned like its subscription.
  expect(status.out).toMatch(new RegExp(`^v1 +current .* 1 worker +1 worker +${SUBSCRIPTIONS + 2} +${HOLDS}$`, 'm'));

  // The gate says no, for each flow that the build would take over.
  for (const [folder, why] of [
    [bad, 'a fault of this build'],
    [other, '.*Nondeterminism'],
  ] as const) {
    const gate = await deploys.command(['replay', '--open', '--limit', '50'], folder.path);
    expect(gate).toMatchObject({ code: 1, out: expect.stringContaining(`${HOLDS} differ`) });
    for (const { reference } of holds)
      expect(gate.out).toMatch(new RegExp(`^${paymentWorkflowId(reference)}  run \\S+: ${why}`, 'm'));
  }

  // Somebody does not listen.
  const badWorker = await deploys.worker('v2', 'all', bad.path);
  await deploys.ramp('v2', 10);
  await untilOneHangs();
  await tellAll();
  const ramping = await deploys.command(['deploy', 'drain', '--build', 'v2']);
  expect(ramping).toMatchObject({ code: 1, err: expect.stringContaining('Build v2 is ramping') });
  await deploys.ramp('v2', 0);
  const noMore = await deploys.command(['deploy', 'drain', '--build', 'v2', '--wait', '10']);
  expect(noMore).toMatchObject({ code: 0, out: expect.stringContaining('its workers may stop') });
  await deploys.ramp(undefined, 0);
  await untilCharged();
  await badWorker.stop();
  expect(await deploys.command(['deploy', 'status', '--build', 'v2'])).toMatchObject({ code: 0 });

  const v3 = await deploys.worker('v3', 'all');
  const passed = await deploys.command(['replay', '--limit', '200']);
  expect(passed).toMatchObject({ code: 0, out: expect.stringMatching(/^\d\d+ histories replayed \(.*\), 0 differ$/m) });
  await deploys.makeCurrent('v3');
  // Counted at its start, before its own had polled.
  expect(await (await fetch(v3.url)).text()).toMatch(/^holdfast_deployment_versions\S* [23]$/m);
  expect(await deploys.command(['deploy', 'drain', '--build', 'v3'])).toMatchObject({ code: 1 });

  // A release of the checkout waits for no subscription: its old worker stops at once.
  await v1.payments.stop();
  await charge(3);
  await untilCharged();
  await Promise.all(holds.map(({ reference }) => stack.holdfast.capture(reference)));
  for (const { reference } of subscriptions)
    expect(await buildOf(stack, subscriptionWorkflowId(reference))).not.toBe('v2');

  const first = await drain();
  expect(first).toMatchObject({ code: 3, told: SUBSCRIPTIONS + 1, moved: SUBSCRIPTIONS, pinned: 2, failed: [] });
  const waits = [subscriptionWorkflowId(busy.reference), paymentWorkflowId(`${busy.reference}.1.1`)];
  expect(first.open.map(({ workflowId }) => workflowId).toSorted()).toEqual(waits.toSorted());
  expect(await drain('--payments')).toMatchObject({ code: 3, payments: 1, pinned: 1, failed: [] });
  const [pending] = await stack.sandbox.ledger(`${busy.reference}.1.1`);
  await stack.sandbox.complete(pending?.transaction_id ?? '', { status: 'Succeed' });
  await stack.holdfast.retryNow(`${busy.reference}.1.1`);
  expect(await drain()).toMatchObject({ code: 0, pinned: 0, open: [] });
  expect(await buildOf(stack, paymentWorkflowId(`${busy.reference}.1.1`))).toBe('v3');
  await v1.billing.stop();
  expect(await deploys.command(['deploy', 'status', '--build', 'v1'])).toMatchObject({ code: 0 });
  for (const { reference } of [...subscriptions, busy])
    expect(await buildOf(stack, subscriptionWorkflowId(reference))).toBe('v3');

  await bill();
  await expectMoney();
}, 600_000);

/** What is open when the deploys begin. */
async function begin(): Promise<void> {
  for (let count = 0; count < SUBSCRIPTIONS; count += 1) {
    const input = await dailyInput(stack, 1);
    await stack.holdfast.subscribe(input);
    subscriptions.push(input);
  }
  busy = await dailyInput(stack, 1);
  await plantOn(stack, busy.reference, '1.1', { status: 'Pending' });
  await stack.holdfast.subscribe(busy);
  void stack.holdfast.subscription.billNow(busy.reference, { period: 1 }).catch(() => undefined);
  for (let count = 0; count < HOLDS; count += 1) {
    const input = await authorizeInput(stack);
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'authorized' });
    holds.push(input);
  }
  await subscriptionOn(stack, busy).reaches(({ status }) => status === 'billing');
  await until(
    () => deploys.command(['list', '--open', '--json']),
    ({ out }) => (JSON.parse(out) as unknown[]).length === SUBSCRIPTIONS + HOLDS + 2,
  );
}

async function charge(count: number): Promise<string[]> {
  const inputs = await Promise.all(Array.from({ length: count }, () => chargeInput(stack.sandbox)));
  charges.push(...inputs);
  const answers = await Promise.all(inputs.map((input) => stack.holdfast.charge(input, { waitFor: '3 seconds' })));
  return answers.map(({ status }) => status);
}

/** One of ten flows goes to the bad build, which ends no task: its buyer is told that nobody knows. */
async function untilOneHangs(): Promise<void> {
  for (let batch = 0; batch < 20; batch += 1) {
    const answers = await charge(10);
    for (const [index, input] of charges.slice(-10).entries()) {
      if (answers[index] !== 'unknown') continue;
      if ((await eventIds(stack, input, 'EVENT_TYPE_WORKFLOW_TASK_FAILED')).length > 0) return;
    }
  }
  throw new Error('No charge has reached the ramping build');
}

/** Whoever asks for them again is told the end. */
async function untilCharged(): Promise<void> {
  for (const input of charges)
    expect(await stack.holdfast.charge(input, { waitFor: '60 seconds' })).toMatchObject({ status: 'succeeded' });
}

async function tellAll(): Promise<void> {
  for (const { reference } of subscriptions)
    await stack.temporal.workflow.getHandle(subscriptionWorkflowId(reference)).signal(SIGNAL_NAMES.moveOn);
}

async function drain(...more: string[]) {
  const args = ['deploy', 'drain', '--build', 'v1', '--wait', '10', '--json', ...more];
  const { code, out, err } = await deploys.command(args);
  if (out === '') throw new Error(err);
  return { code, ...(JSON.parse(out) as Drained) };
}

/** Half of them by command, the others when their time comes. */
async function bill(): Promise<void> {
  for (const [index, { reference }] of subscriptions.entries()) {
    const workflowId = subscriptionWorkflowId(reference);
    if (index % 2 === 0) await stack.holdfast.subscription.billNow(reference, { period: 1 });
    else {
      const { dueAt = '', since } = await stack.holdfast.status({ workflowId });
      await jumpWorkflow(stack.temporal, workflowId, Date.parse(dueAt) - Date.parse(since));
    }
  }
  await Promise.all(subscriptions.map((input) => subscriptionOn(stack, input).billed(1)));
}

async function expectMoney(): Promise<void> {
  for (const input of [...subscriptions, busy])
    expect(await subscriptionOn(stack, input).charges()).toEqual(['1.1 Succeed']);
  for (const { reference } of charges) expect(await movements(stack, reference)).toEqual([SUCCEEDED]);
  for (const { reference } of holds)
    expect(await movements(stack, reference)).toEqual(['authorization Succeed 6000 USD', 'capture Succeed 6000 USD']);
}
