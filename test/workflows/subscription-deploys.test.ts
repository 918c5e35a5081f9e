import { afterAll, beforeAll, expect, test } from 'vitest';
import { jumpWorkflow } from '../../tools/demo/embedded/jump-workflow.js';
import {
  attemptReference,
  DEPLOYMENT_NAME,
  paymentWorkflowId,
  subscriptionWorkflowId,
} from '../../src/contract/names.js';
import { ProviderClient } from '../../src/provider/index.js';
import { DEFAULT_UNIT } from '../../sandbox/control.js';
import { newReference } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import type { ReadyProcess } from '../../tools/stack/ready-process.js';
import { startStack, type TestStack } from '../support/stack.js';
import { customerWithCard, later, localDay } from '../support/subscriptions.js';
import { until } from '../support/until.js';

const DAY = 86_400_000;
const ROME = 'Europe/Rome';

let stack: TestStack;
let first: ReadyProcess | undefined;
beforeAll(async () => {
  stack = await startStack({ billing: true, workerEnv: { HOLDFAST_BUILD_ID: 'build-1' } });
});
afterAll(async () => {
  await first?.stop();
  await stack?.close();
});

async function makeCurrent(buildId: string): Promise<void> {
  const { workflowService } = stack.temporal;
  // A version is known once its worker has polled.
  await until(
    () =>
      workflowService
        .setWorkerDeploymentCurrentVersion({
          namespace: stack.namespace,
          deploymentName: DEPLOYMENT_NAME,
          buildId,
          ignoreMissingTaskQueues: true,
        })
        .then(
          () => true,
          () => false,
        ),
    (done) => done,
  );
}

/** The subscription's time and the service's go on together. */
async function jump(workflowId: string, ms: number): Promise<void> {
  await stack.sandbox.advanceClock(ms);
  await jumpWorkflow(stack.temporal, workflowId, ms);
}

async function buildOf(workflowId: string): Promise<string | undefined> {
  const { raw } = await stack.temporal.workflow.getHandle(workflowId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined;
}

test('three periods are billed on the real server, the second and third by the code that is current by then', async () => {
  await makeCurrent('build-1');
  const { appId, privateKey } = DEFAULT_UNIT;
  const unit = { appId, privateKey, apiVersion: '1.3.0' as const };
  const provider = new ProviderClient({ baseUrl: stack.sandboxUrl, environment: 'test', unit });
  const card = await customerWithCard({ sandbox: stack.sandbox, provider });
  const reference = newReference('daily');
  const workflowId = subscriptionWorkflowId(reference);
  const input = {
    reference,
    ...card,
    amount: 6_000,
    currency: 'EUR',
    interval: { every: 1, unit: 'day' as const },
    anchor: localDay(Date.now() + DAY, ROME),
    timeZone: ROME,
    periods: 3,
    jitter: '0 seconds',
  };
  expect(await stack.holdfast.subscribe(input)).toMatchObject({ status: 'active', nextBill: { period: 1 } });

  for (const billed of [1, 2, 3]) {
    const { subscription, dueAt = '' } = await stack.holdfast.status({ workflowId });
    expect(subscription).toMatchObject({ billedPeriods: billed - 1, nextBill: { period: billed } });
    const present = await now(workflowId);
    if (billed === 2) {
      first = stack.worker();
      await stack.startWorker({ HOLDFAST_BUILD_ID: 'build-2' });
      await makeCurrent('build-2');
      // What waits for its bill stays with the code that its period began with, for as long as nobody tells it.
      expect(await buildOf(workflowId)).toBe('build-1');
    }
    await jump(workflowId, Date.parse(dueAt) - present);
    await until(
      // Between two runs the server has nobody to ask.
      () => stack.holdfast.status({ workflowId }).catch(() => undefined),
      (status) => status?.subscription?.billedPeriods === billed && status.status === 'active',
    );
    const build = billed === 1 ? 'build-1' : 'build-2';
    expect(await buildOf(paymentWorkflowId(attemptReference(reference, billed, 1)))).toBe(build);
  }
  // Its last period lasts another day.
  await stack.holdfast.subscription.cancel(reference, { when: 'now' });
  expect(await stack.temporal.workflow.getHandle(workflowId).result()).toMatchObject({
    status: 'cancelled',
    billedPeriods: 3,
  });
  expect(await buildOf(workflowId)).toBe('build-2');
  const taken = (await stack.sandbox.ledger()).filter((entry) => entry.reconciliation_id?.startsWith(`${reference}.`));
  expect(taken.map(({ status, amount }) => `${status} ${amount}`)).toEqual(Array(3).fill('Succeed 6000'));
  const days = taken.map(({ created }) => localDay(Number(created), ROME));
  expect(days).toEqual([0, 1, 2].map((day) => later(input.anchor, day)));
  expect(await flowProblems(stack.temporal)).toEqual([]);
}, 120_000);

/** Epoch ms on the workflow's own clock. */
async function now(workflowId: string): Promise<number> {
  const { since } = await stack.holdfast.status({ workflowId });
  return Date.parse(since);
}
