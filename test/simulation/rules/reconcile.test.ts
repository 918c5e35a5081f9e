import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createReconcilePort } from '../../../src/client/reconcile-port.js';
import type { Engine } from '../../../src/cli/engine.js';
import { acknowledge, listFindings } from '../../../src/cli/findings.js';
import { runReconcile } from '../../../src/cli/reconcile.js';
import { BILLING_TASK_QUEUE, paymentWorkflowId } from '../../../src/contract/names.js';
import type { Finding, ReconcileInput, ReconcileReport } from '../../../src/contract/reconcile.js';
import { reconcileStatement } from '../../../src/domain/reconcile/reconcile.js';
import { parseReconcilable } from '../../../src/domain/reconcile/statement-rows.js';
import { abandoned, elsewhere, pending, plant, trade } from '../../reconcile/shop.js';
import { CARDS, chargeInput, newReference } from '../../support/charges.js';
import { startStack, type TestStack } from '../../support/stack.js';

const PERSON = { who: 'Ada', why: 'the acquirer has corrected it' };
let stack: TestStack;
let references: string[];
beforeAll(async () => {
  stack = await startStack({ billing: true });
  references = await trade(stack, 20);
});
afterAll(() => stack?.close());

let runs = 0;
async function reconciled(input: ReconcileInput = {}): Promise<ReconcileReport> {
  const handle = await stack.temporal.workflow.start('reconcile', {
    workflowId: `reconcile-${(runs += 1)}`,
    taskQueue: BILLING_TASK_QUEUE,
    args: [{ until: new Date().toISOString(), readsPerSecond: 1_000, ...input }],
  });
  return (await handle.result()) as ReconcileReport;
}

async function match(text: string): Promise<Finding[]> {
  const parsed = parseReconcilable(text, { now: Date.now() + 60_000 });
  if ('faults' in parsed) throw new Error(parsed.faults.join('\n'));
  return await reconcileStatement(parsed.statement, createReconcilePort(stack.temporal), {
    windowMs: 2_000,
    now: Date.now(),
  });
}

const named = (findings: readonly { kind: string; subject: string }[]): string[] =>
  findings.map(({ kind, subject }) => `${kind} ${subject}`).toSorted();
const open = async () => await listFindings(stack.temporal, { kinds: [], all: false, limit: 1_000 });

describe('a statement', () => {
  test('of a shop without a difference has none: charges, holds, parts, refunds and credits agree', async () => {
    expect(await match(await stack.sandbox.statement())).toEqual([]);
    expect(await match(await stack.sandbox.statement({ format: 'csv' }))).toEqual([]);
  });

  test('has all that was planted found, and nothing else', async () => {
    const { planted, statement } = await plant(stack, references, 2);
    expect(named(await match(statement))).toEqual(planted.toSorted());
  });
});

describe('a reconciliation', () => {
  test('asks about every flow with a doubt, keeps each difference once, and moves nothing', async () => {
    const before = await stack.sandbox.ledger();
    const known = await reconciled({ sample: 0 });
    const { reference, transactionId } = await abandoned(stack);
    const report = await reconciled({ sample: 0 });
    expect(report).toMatchObject({ status: 'reconciled', unanswered: 0, reasons: [], fresh: 1 });
    expect(report.asked).toBe(report.doubts);
    expect(report.flows).toBeGreaterThan(references.length);
    expect((report.found.moneyWithoutFlow ?? 0) - (known.found.moneyWithoutFlow ?? 0)).toBe(1);
    const listed = (await open()).find(({ subject }) => subject === transactionId);
    expect(listed).toMatchObject({
      id: `moneyWithoutFlow-${transactionId}`,
      status: 'found',
      source: 'service',
      workflowId: paymentWorkflowId(reference),
      amount: 8_000,
      currency: 'USD',
      explanation: expect.stringContaining('was stopped from outside before it had a result'),
    });
    expect(await reconciled({ sample: 0 })).toMatchObject({ fresh: 0, found: report.found });
    const [taken] = await stack.sandbox.ledger(reference);
    expect(await stack.sandbox.ledger()).toEqual([...before, taken]);
  });

  test('asks about the others as often as it is told: all of them find a refund by hand', async () => {
    const reference = references[5] ?? '';
    const [charge] = await stack.sandbox.ledger(reference);
    const refund = await elsewhere(stack).refund(charge?.payment_id ?? '', 6_000);
    expect((await open()).map(({ subject }) => subject)).not.toContain(refund);
    const report = await reconciled({ sample: 1 });
    expect(report.asked).toBeGreaterThanOrEqual(references.length);
    expect((await open()).map(({ id }) => id)).toContain(`moneyWithoutFlow-${refund}`);
  });

  test('finds what an operator has settled otherwise than the service', async () => {
    const { reference, transactionId } = await pending(stack);
    await stack.holdfast.settleManually(reference, { ...PERSON, status: 'declined' });
    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
    await reconciled({ sample: 0 });
    expect((await open()).map(({ id }) => id)).toContain(`moneyWithoutFlow-${transactionId}`);
  });

  test('says of a flow that was stopped without money that nobody follows it', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.succeeds, { reference: newReference('lost') });
    await stack.sandbox.addFault({
      action: 'status',
      status: 503,
      path: '*/charges',
      reconciliation_id: input.reference,
    });
    await stack.holdfast.charge(input, { waitFor: '2 seconds' });
    await stack.temporal.workflow.getHandle(paymentWorkflowId(input.reference)).terminate();
    await stack.sandbox.clearFaults();
    await reconciled({ sample: 0 });
    const ofFlow = (await open()).filter(({ workflowId }) => workflowId === paymentWorkflowId(input.reference));
    expect(ofFlow).toMatchObject([{ kind: 'unfollowed' }]);
  });

  test('counts payments that the service does not tell of, and why', async () => {
    const faults = await stack.sandbox.addFault({ action: 'status', status: 500, method: 'GET', path: '/payments/*' });
    const report = await reconciled({ sample: 0 });
    await stack.sandbox.removeFault(faults.id);
    expect(report.unanswered).toBe(report.asked);
    expect(report.reasons.length).toBeGreaterThan(0);
    // What can be read tomorrow is no difference today.
    expect(report.found).toEqual({});
    expect(report.askAgain).toBeGreaterThan(0);
    const from = Date.parse(report.askAgainFrom ?? '');
    expect(from).toBeGreaterThanOrEqual(Date.parse(report.since));
    expect(await reconciled({ sample: 0, since: report.askAgainFrom ?? '' })).toMatchObject({ askAgain: 0 });
  });
});

describe('an open flow', () => {
  test('knows of ids, and not of texts that stand in one by chance', async () => {
    const { reference, transactionId } = await pending(stack);
    const port = createReconcilePort(stack.temporal);
    const texts = [transactionId, transactionId.slice(0, 3), 'ch', '8000'];
    expect([...(await port.knownToOpen(paymentWorkflowId(reference), texts))]).toEqual([transactionId]);
    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
  });
});

describe('a finding', () => {
  test.each(['cancelled', 'terminated'] as const)('that was %s, by nobody’s word, is found again', async (how) => {
    const [first] = await open();
    const handle = stack.temporal.workflow.getHandle(`finding-${first?.id}`);
    await (how === 'cancelled' ? handle.cancel() : handle.terminate('wrong button'));
    await handle.result().catch(() => undefined);
    expect((await open()).map(({ id }) => id)).not.toContain(first?.id);
    await reconciled({ sample: 1 });
    expect((await open()).map(({ id }) => id)).toContain(first?.id);
  });

  test('is acknowledged with who and why, once, and is not found again', async () => {
    const [first, second] = await open();
    if (first === undefined || second === undefined) throw new Error('there are too few findings');
    const [done, unknown] = await acknowledge(stack.temporal, [first.subject, 'no-such-finding'], PERSON);
    expect(done).toEqual({ id: first.id, result: 'acknowledged', ...PERSON, at: expect.stringMatching(/Z$/) });
    expect(unknown).toMatchObject({ result: 'failed', message: 'no finding begins with "no-such-finding"' });
    const [again] = await acknowledge(stack.temporal, [first.id], { who: 'Bob', why: 'too late' });
    expect(again).toMatchObject({ result: 'failed' });
    const { fresh } = await reconciled({ sample: 0 });
    expect(fresh).toBe(0);
    expect((await open()).map(({ id }) => id)).not.toContain(first.id);
    const all = await listFindings(stack.temporal, { kinds: [first.kind], all: true, limit: 1_000 });
    expect(all.find(({ id }) => id === first.id)).toMatchObject({
      status: 'acknowledged',
      closedAt: expect.any(String),
    });
  });
});

test('acknowledging all closes no more than the list has shown', async () => {
  const before = await open();
  expect(before.length).toBeGreaterThan(1);
  const said: string[] = [];
  const engine = { client: stack.temporal, address: 'here', namespace: 'default' } as Engine;
  const ackAll = async (limit: number, until = new Date(), count = before.length) =>
    await runReconcile(
      engine,
      { command: 'reconcile ack', json: false, findings: { kinds: [], limit, until, count }, ...PERSON },
      { print: (text) => said.push(text), printError: (text) => said.push(text) },
    );
  await expect(ackAll(before.length - 1)).rejects.toThrow(
    `more than the ${before.length - 1} that reconcile list shows`,
  );
  expect(await open()).toEqual(before);
  // What was found after the list was shown.
  const times = before.map(({ foundAt }) => Date.parse(foundAt));
  const early = ackAll(before.length, new Date(Math.min(...times) - 1));
  await expect(early).rejects.toThrow(`has shown ${before.length}, and there are 0 by now`);
  // What was found before, and not listed yet when the list was shown.
  const late = ackAll(before.length, new Date(Math.max(...times)), before.length - 1);
  await expect(late).rejects.toThrow(`has shown ${before.length - 1}, and there are ${before.length} by now`);
  expect(await open()).toEqual(before);
  said.length = 0;
  const list = { command: 'reconcile list', json: false, kinds: [], all: false, limit: before.length } as const;
  await runReconcile(engine, list, { print: () => undefined, printError: (text) => said.push(text) });
  const newest = new Date(Math.max(...times));
  const { length } = before;
  expect(said.join('')).toContain(
    `ack --all --until ${newest.toISOString()} --count ${length} --limit ${length} --who`,
  );
  expect(await ackAll(before.length, newest)).toBe(0);
  expect(said.join('').match(/acknowledged by/g)).toHaveLength(before.length);
  expect(await open()).toEqual([]);
});
