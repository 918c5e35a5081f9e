import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEnginePort } from '../../src/client/engine-port.js';
import { startMemo } from '../../src/client/start-options.js';
import type { ChargeInput } from '../../src/contract/charge.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import { CARDS, chargeInput, newReference } from '../support/charges.js';
import { fullOr } from '../support/counts.js';
import { LocalPostgres, PASSWORD, whyNoPostgres } from '../../tools/bench/support/postgres.js';
import { resetTo, resetToFirstTask } from '../support/resets.js';
import { startStack, type TestStack } from '../support/stack.js';
import { until } from '../support/until.js';

const why = whyNoPostgres();
if (why !== undefined) console.warn(`skipped: the reference book of a worker: ${why}`);

const LIMIT_MS = 90_000;
/** Beside the reference book. */
const AT_ONCE = fullOr(40, 5);
let server: LocalPostgres;
let stack: TestStack;

/** As retention does. The dev server takes half a minute for it. */
async function forget({ reference }: ChargeInput): Promise<void> {
  const workflowId = paymentWorkflowId(reference);
  const { namespace, temporal } = stack;
  await temporal.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
  const isKept = async (): Promise<boolean> =>
    await temporal.workflow
      .getHandle(workflowId)
      .describe()
      .then(() => true)
      .catch((error: unknown) => !(error instanceof WorkflowNotFoundError));
  await until(isKept, (kept) => !kept, 75_000);
}

const rowsOf = async (reference: string) =>
  await server.query(
    `SELECT first_run_id, payment_id FROM holdfast_references WHERE workflow_id = 'payment-${reference}'`,
  );

const unreachable = async (): Promise<string | undefined> => {
  const metrics = await (await fetch(stack.worker().url)).text();
  return /^holdfast_reference_book_unreachable(?:\{.*\})? (\d)/m.exec(metrics)?.[1];
};

const ready = async (): Promise<string> =>
  ((await (await fetch(stack.worker().url.replace('/metrics', '/ready'))).json()) as { status: string }).status;

describe.skipIf(why !== undefined)('a worker with a reference book', () => {
  beforeAll(async () => {
    server = await LocalPostgres.start();
    // It is not there when the worker starts, and has no table.
    await server.stop();
    const workerEnv = { HOLDFAST_REFERENCE_BOOK_URL: server.url() };
    stack = await startStack({ real: true, workerEnv });
    expect(await unreachable()).toBe('1');
    expect(await ready()).toContain("the reference book can't be used");
    await server.run();
    // It is asked again without a payment.
    await until(ready, (status) => status === 'ready', 15_000);
  }, LIMIT_MS);
  afterAll(async () => {
    await stack?.close();
    await server?.close();
  });

  test(
    'charges once for a reference that Temporal has forgotten, and refuses it to another request',
    async () => {
      const same = await chargeInput(stack.sandbox);
      const taken = await chargeInput(stack.sandbox);
      const first = await stack.holdfast.charge(same);
      const owner = await stack.holdfast.charge(taken);
      const [row] = await rowsOf(taken.reference);
      expect(row).toMatchObject({ payment_id: owner.paymentId });
      await Promise.all([same, taken].map(forget));
      // The service has forgotten its keys as well.
      await stack.sandbox.advanceClock(25 * 3_600_000);
      expect(await stack.holdfast.charge(same)).toMatchObject({
        status: 'succeeded',
        transactionId: first.transactionId,
        evidence: { knownBy: 'poll' },
      });
      const other = await chargeInput(stack.sandbox, CARDS.succeeds, { reference: taken.reference });
      await expect(stack.holdfast.charge(other)).rejects.toMatchObject({
        type: 'ReferenceConflict',
        message: expect.stringContaining(String(row?.['first_run_id'])),
      });
      for (const { reference } of [same, taken]) expect(await stack.sandbox.ledger(reference)).toHaveLength(1);
      expect(await rowsOf(taken.reference)).toEqual([row]);
    },
    2 * LIMIT_MS,
  );

  test(
    'knows a flow again after a reset',
    async () => {
      const input = await chargeInput(stack.sandbox);
      await stack.holdfast.charge(input);
      const rows = await rowsOf(input.reference);
      const { workflowId } = await stack.holdfast.status(input.reference);
      const runId = await resetToFirstTask(stack.temporal, workflowId);
      expect(await stack.temporal.workflow.getHandle(workflowId, runId).result()).toMatchObject({
        status: 'succeeded',
      });
      expect(await rowsOf(input.reference)).toEqual(rows);
      expect(await stack.sandbox.ledger(input.reference)).toHaveLength(1);
    },
    LIMIT_MS,
  );

  test(
    'takes a run that continues another, and a reset of it, for the same flow',
    async () => {
      const { temporal, namespace } = stack;
      const { workflowService } = temporal;
      const taskQueue = { name: `by-hand-${randomUUID()}` };
      const fingerprint = 'ab'.repeat(32);
      const handle = await temporal.workflow.start('charge', {
        workflowId: paymentWorkflowId(newReference()),
        taskQueue: taskQueue.name,
        memo: startMemo(fingerprint),
      });
      const { workflowId, firstExecutionRunId: firstRunId } = handle;
      const poll = async () =>
        await temporal.withDeadline(Date.now() + 20_000, () =>
          workflowService.pollWorkflowTaskQueue({ namespace, taskQueue, identity: 'by hand' }),
        );
      const { taskToken } = await poll();
      const { raw } = await handle.describe();
      const next = {
        workflowType: { name: 'charge' },
        taskQueue,
        memo: { fields: raw.workflowExecutionInfo?.memo?.fields ?? {} },
      };
      await workflowService.respondWorkflowTaskCompleted({
        namespace,
        taskToken,
        commands: [
          {
            commandType: proto.temporal.api.enums.v1.CommandType.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
            continueAsNewWorkflowExecutionCommandAttributes: next,
          },
        ],
      });
      const second = await poll();
      await workflowService.respondWorkflowTaskCompleted({ namespace, taskToken: second.taskToken, commands: [] });
      const secondRun = second.workflowExecution?.runId ?? '';
      const reset = await resetTo(temporal, { workflowId, runId: secondRun }, second.startedEventId?.add(1));
      expect(new Set([firstRunId, secondRun, reset]).size).toBe(3);
      const port = createEnginePort(temporal);
      for (const run of [firstRunId, secondRun, reset])
        expect(await port.claimOf(workflowId, run)).toEqual({ firstRunId, fingerprint });
      await temporal.workflow.getHandle(workflowId).terminate('done');
    },
    LIMIT_MS,
  );

  test(
    'creates no payment while the book is away, says so, and goes on when it is back',
    async () => {
      const input = await chargeInput(stack.sandbox);
      await server.stop('SIGQUIT');
      expect(await stack.holdfast.charge(input, { waitFor: '4 seconds' })).toMatchObject({ status: 'unknown' });
      const shown = await until(
        () => stack.holdfast.status(input.reference),
        ({ waitingFor }) => waitingFor === 'referenceBook',
      );
      const query = `WorkflowId = "${shown.workflowId}" AND WaitingFor = "referenceBook"`;
      await until(
        async () => Number((await stack.temporal.workflow.count(query)).count),
        (count) => count === 1,
      );
      expect(await unreachable()).toBe('1');
      expect(await stack.sandbox.ledger(input.reference)).toEqual([]);
      await server.run();
      await stack.holdfast.retryNow(input.reference, { who: 'Ada', why: 'the database is back' });
      const outcome = await until(
        () => stack.holdfast.charge(input),
        ({ status }) => status !== 'unknown',
      );
      expect(outcome).toMatchObject({ status: 'succeeded' });
      expect(await stack.sandbox.ledger(input.reference)).toHaveLength(1);
      expect(await unreachable()).toBe('0');
      const logs = stack.worker().logs();
      expect(logs).toContain("The reference book can't be used");
      expect(logs).not.toContain(PASSWORD);
    },
    LIMIT_MS,
  );

  test(
    `charges each of ${AT_ONCE} once while its database crashes among them`,
    async () => {
      const inputs = await Promise.all(Array.from({ length: AT_ONCE }, () => chargeInput(stack.sandbox)));
      const outcomes = inputs.map(
        async (input) =>
          await until(
            () => stack.holdfast.charge(input),
            ({ status }) => status !== 'unknown',
            60_000,
          ),
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
      await server.stop('SIGQUIT');
      await server.run();
      for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ status: 'succeeded' });
      for (const { reference } of inputs) {
        expect(await stack.sandbox.ledger(reference)).toHaveLength(1);
        expect(await rowsOf(reference)).toEqual([{ first_run_id: expect.anything(), payment_id: expect.anything() }]);
      }
    },
    LIMIT_MS,
  );
});
