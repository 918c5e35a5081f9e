import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, WorkflowFailedError, type WorkflowStartOptions } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { HoldfastError } from '../../src/client/index.js';
import type { ChargeInput } from '../../src/contract/charge.js';
import { FLOWS } from '../../src/contract/flows.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { startStack, type TestStack } from '../support/stack.js';
import { until } from '../support/until.js';

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ pendingMs: 600_000 });
});
afterAll(async () => {
  await stack?.close();
});

const workflowIdOf = ({ reference }: ChargeInput): string => `payment-${reference}`;

/** As another SDK or the CLI starts it: none of what our client sets. */
async function startRaw(input: unknown, workflowId: string, options: Partial<WorkflowStartOptions> = {}) {
  return await stack.temporal.workflow.start('charge', {
    taskQueue: 'holdfast',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    ...options,
    workflowId,
    args: [input],
  });
}

/** Type and message of the failure with which a flow ended, or what it ended with instead. */
async function failureOf(workflowId: string, runId: string) {
  const ended: unknown = await stack.temporal.workflow
    .getHandle(workflowId, runId)
    .result()
    .catch((error: unknown) => error);
  if (!(ended instanceof WorkflowFailedError) || !(ended.cause instanceof ApplicationFailure)) return ended;
  return { type: ended.cause.type, message: ended.cause.message };
}

/** Fails unless `attempt` leaves the service's onLedger as they are, payments without a transaction included. */
async function expectNothingSent(attempt: () => Promise<void>): Promise<void> {
  const onLedger = async () => ({
    payments: (await stack.sandbox.health()).payments,
    ledger: await stack.sandbox.ledger(),
  });
  const before = await onLedger();
  await attempt();
  expect(await onLedger()).toEqual(before);
}

/** How one run of a cron chain failed, and the run that comes after it. */
async function failureOfCronRun(workflowId: string, runId: string) {
  const { events } = await until(
    () => stack.temporal.workflow.getHandle(workflowId, runId).fetchHistory(),
    ({ events: soFar }) => soFar?.at(-1)?.workflowExecutionFailedEventAttributes != null,
  );
  const failed = events?.at(-1)?.workflowExecutionFailedEventAttributes;
  return { type: failed?.failure?.applicationFailureInfo?.type, next: failed?.newExecutionRunId };
}

describe('a second start with the same reference', () => {
  test('and the same input joins the running flow, and after its end returns its result', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    const first = await stack.holdfast.charge(input);
    const joined = await stack.holdfast.charge(input);
    expect(first.status).toBe('pending');
    expect(joined).toEqual(first);

    await stack.sandbox.complete(first.transactionId ?? '', { status: 'Succeed' });
    await until(
      () => stack.holdfast.status(input.reference),
      ({ outcome }) => outcome !== undefined,
    );
    const after = await stack.holdfast.charge(input);
    expect(await stack.holdfast.charge(input)).toEqual(after);
    expect(auditCharges([{ input, answer: after }], await stack.sandbox.ledger(input.reference))).toEqual([]);
  });

  test('from twenty callers at once is one charge with one answer', async () => {
    const input = await chargeInput(stack.sandbox);
    const answers = await Promise.all(Array.from({ length: 20 }, () => stack.holdfast.charge(input)));
    const ledger = await stack.sandbox.ledger(input.reference);
    expect(answers.flatMap((answer) => auditCharges([{ input, answer }], ledger))).toEqual([]);
  });

  test('and other input is a ReferenceConflict while the flow runs and after its end', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenFails);
    const { paymentMethod } = await chargeInput(stack.sandbox);
    const others: ChargeInput[] = [
      { ...input, amount: input.amount + 1 },
      { ...input, currency: 'EUR' },
      { ...input, paymentMethod },
      { ...input, businessUnit: 'other' },
      { ...input, customerId: '150f1279-6d2c-4728-9e23-6b303f3f1f2f' },
    ];
    const expectConflicts = async (): Promise<void> => {
      for (const other of others) {
        await expect(stack.holdfast.charge(other)).rejects.toMatchObject({ type: 'ReferenceConflict' });
      }
    };

    const pending = await stack.holdfast.charge(input);
    expect(pending.status).toBe('pending');
    await expectConflicts();
    await stack.sandbox.complete(pending.transactionId ?? '', { status: 'Failed' });
    await until(
      () => stack.holdfast.status(input.reference),
      ({ outcome }) => outcome !== undefined,
    );
    await expectConflicts();
    const answer = await stack.holdfast.charge(input);
    expect(auditCharges([{ input, answer }], await stack.sandbox.ledger(input.reference))).toEqual([]);
  });

  test('made raw after the end, where the server allows it, is refused and moves nothing', async () => {
    const input = await chargeInput(stack.sandbox);
    const answer = await stack.holdfast.charge(input);
    // A new token: with the old one the service itself would refuse a second charge.
    const { paymentMethod } = await chargeInput(stack.sandbox);
    await expectNothingSent(async () => {
      const raw = await startRaw({ ...input, paymentMethod }, workflowIdOf(input));
      expect(await failureOf(raw.workflowId, raw.firstExecutionRunId)).toMatchObject({ type: 'ReferenceConflict' });
    });
    expect(auditCharges([{ input, answer }], await stack.sandbox.ledger(input.reference))).toEqual([]);
  });

  test('made by our client after a raw start joins that flow, or conflicts with it', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    await startRaw(input, workflowIdOf(input));
    const answer = await stack.holdfast.charge(input);
    expect(answer.status).toBe('pending');
    await expect(stack.holdfast.charge({ ...input, amount: 1 })).rejects.toMatchObject({ type: 'ReferenceConflict' });
    await stack.sandbox.complete(answer.transactionId ?? '', { status: 'Succeed' });
    const final = await until(
      () => stack.holdfast.charge(input),
      ({ status }) => status !== 'pending',
    );
    expect(auditCharges([{ input, answer: final }], await stack.sandbox.ledger(input.reference))).toEqual([]);
    await expect(stack.holdfast.charge({ ...input, amount: 1 })).rejects.toMatchObject({ type: 'ReferenceConflict' });
  });
});

describe('a call from another type of flow', () => {
  test('is a ReferenceConflict, though all that it names is the same', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    const { paymentId = '', transactionId = '' } = await stack.holdfast.charge(input);
    const { amount, currency } = input;
    await stack.holdfast.resolvePending({ paymentId, transactionId, kind: 'charge', amount, currency });
    const print = FLOWS.charge.fingerprint(FLOWS.charge.schema.parse(input));
    const conflict = { cause: { type: 'ReferenceConflict' } };
    for (const [workflowId, type] of [
      [workflowIdOf(input), 'resolvePending'],
      [`resolve-${transactionId}`, 'charge'],
    ] as const) {
      const handle = stack.temporal.workflow.getHandle(workflowId);
      const args: [object] = [{ type, fingerprint: print }];
      await expect(handle.executeUpdate('outcome', { args })).rejects.toMatchObject(conflict);
    }
    expect(await stack.sandbox.ledger(input.reference)).toHaveLength(1);
  });

  test('that took the id of a payment fails with InvalidInput, and nothing is charged under that reference', async () => {
    const input = await chargeInput(stack.sandbox);
    const { amount, currency } = input;
    const ids = { paymentId: randomUUID(), transactionId: randomUUID() };
    await expectNothingSent(async () => {
      const { workflowId, firstExecutionRunId } = await stack.temporal.workflow.start('resolvePending', {
        taskQueue: 'holdfast',
        workflowId: workflowIdOf(input),
        args: [{ ...ids, kind: 'charge', amount, currency }],
      });
      expect(await failureOf(workflowId, firstExecutionRunId)).toMatchObject({ type: 'InvalidInput' });
      await expect(stack.holdfast.charge(input)).rejects.toMatchObject({ type: 'ReferenceConflict' });
    });
  });
});

function unlessEnded(error: unknown): void {
  if (!(error instanceof HoldfastError) || error.type !== 'StateConflict') throw error;
}

describe('resolvePending, which moves nothing,', () => {
  test('joins the flow of the same transaction, and refuses to follow it over another sum', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    const { paymentId = '', transactionId = '' } = await stack.holdfast.charge(input);
    const { amount, currency } = input;
    const asked = { paymentId, transactionId, kind: 'charge', amount, currency } as const;
    const other = { ...asked, amount: amount + 1 };
    const joined = { workflowId: `resolve-${transactionId}` };
    expect(await stack.holdfast.resolvePending(asked)).toEqual(joined);
    expect(await stack.holdfast.resolvePending(asked)).toEqual(joined);
    await expect(stack.holdfast.resolvePending(other)).rejects.toMatchObject({ type: 'ReferenceConflict' });

    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
    // A poll may have ended it first; then that is what is said.
    await stack.holdfast.retryNow({ transactionId }).catch(unlessEnded);
    await stack.temporal.workflow.getHandle(joined.workflowId).result();
    expect(await stack.holdfast.resolvePending(asked)).toEqual(joined);
    await expect(stack.holdfast.resolvePending(other)).rejects.toMatchObject({ type: 'ReferenceConflict' });
  });
});

describe('a raw start', () => {
  test('with plain JSON, as another SDK writes it, charges once', async () => {
    const input = await chargeInput(stack.sandbox);
    const plain = new Client({ connection: stack.temporal.connection, namespace: stack.namespace });
    const handle = await plain.workflow.start('charge', {
      taskQueue: 'holdfast',
      workflowId: workflowIdOf(input),
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      args: [input],
    });
    const answer = await stack.temporal.workflow.getHandle(handle.workflowId).result();
    expect(auditCharges([{ input, answer }], await stack.sandbox.ledger(input.reference))).toEqual([]);
  });

  test.each<[string, Partial<WorkflowStartOptions>, RegExp]>([
    ['a retry policy', { retry: { maximumAttempts: 3 } }, /retry policy/],
    ['an execution timeout', { workflowExecutionTimeout: '1 hour' }, /execution timeout/],
    ['a run timeout', { workflowRunTimeout: '1 hour' }, /run timeout/],
  ])('with %s fails with InvalidInput and sends nothing', async (_, options, named) => {
    const input = await chargeInput(stack.sandbox);
    await expectNothingSent(async () => {
      const { workflowId, firstExecutionRunId } = await startRaw(input, workflowIdOf(input), options);
      expect(await failureOf(workflowId, firstExecutionRunId)).toMatchObject({
        type: 'InvalidInput',
        message: expect.stringMatching(named),
      });
    });
  });

  test('with a cron schedule fails with InvalidInput and sends nothing, however often it comes round', async () => {
    const input = await chargeInput(stack.sandbox);
    await expectNothingSent(async () => {
      const { workflowId, firstExecutionRunId } = await startRaw(input, workflowIdOf(input), {
        cronSchedule: '@every 1s',
      });
      const first = await failureOfCronRun(workflowId, firstExecutionRunId);
      const second = await failureOfCronRun(workflowId, first.next ?? '');
      expect([first.type, second.type]).toEqual(['InvalidInput', 'InvalidInput']);
      await stack.temporal.workflow.getHandle(workflowId).terminate();
    });
  });

  test.each<[string, (input: ChargeInput) => [unknown, string]]>([
    ['under the id of another reference', (input) => [input, 'payment-another']],
    ['under an id of its own making', (input) => [input, `charge-${input.reference}`]],
    ['with an unknown field', (input) => [{ ...input, tip: 5 }, workflowIdOf(input)]],
    ['with a fraction of a minor unit', (input) => [{ ...input, amount: 10.95 }, workflowIdOf(input)]],
    ['with its input in a list', (input) => [[input], workflowIdOf(input)]],
    ['without any input', (input) => [undefined, workflowIdOf(input)]],
  ])('%s fails with InvalidInput and sends nothing', async (_, wrong) => {
    const [argument, workflowId] = wrong(await chargeInput(stack.sandbox));
    await expectNothingSent(async () => {
      const { firstExecutionRunId } = await startRaw(argument, workflowId);
      expect(await failureOf(workflowId, firstExecutionRunId)).toMatchObject({ type: 'InvalidInput' });
    });
  });
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
