import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { decodeArrayFromPayloads, encodeToPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { listFindings } from '../../../src/cli/findings.js';
import { createEventSink } from '../../../src/client/event-sink.js';
import { createReconcilePort } from '../../../src/client/reconcile-port.js';
import {
  BILLING_TASK_QUEUE,
  MEMO_KEYS,
  paymentActionsWorkflowId,
  PAYMENTS_TASK_QUEUE,
  WORKFLOW_TYPES,
} from '../../../src/contract/names.js';
import {
  type FlowFacts,
  type ReconcileInput,
  type ReconcileReport,
  UnreadableFlow,
} from '../../../src/contract/reconcile.js';
import { accountOf } from '../../../src/domain/reconcile/account.js';
import { testDataConverter } from '../../support/data-converter.js';
import { beginActions } from '../../support/virtual-flows.js';
import {
  answers,
  beginFlow,
  DAY,
  failsWith,
  HOUR,
  inputOf,
  lostReply,
  OPERATOR,
  runLengths,
  sharedTime,
} from './context.js';

/** Its engine suggests to continue as new after very few events: a reconciliation of a day takes several runs. */
const FEW = 20;
let most = FEW;
const time = sharedTime({ billing: true }, { suggestRunAfter: () => most });

const start = async (workflowId: string, input: ReconcileInput) =>
  await time.client.workflow.start('reconcile', { workflowId, taskQueue: BILLING_TASK_QUEUE, args: [input] });

test('over several runs a reconciliation looks at each flow once, and loses nothing that it has found', async () => {
  const begun = await time.now();
  for (let charged = 0; charged < 4; charged += 1) {
    const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
    const { paymentId = '' } = await charge.outcome();
    await time.provider.createRefund(paymentId, { amount: 5_000 + charged });
    await time.passUntil((await time.now()) + 5 * HOUR);
  }
  const until = new Date(await time.now()).toISOString();
  const handle = await start('reconcile-long', { since: new Date(begun - DAY).toISOString(), until, sample: 1 });
  const report = (await handle.result()) as ReconcileReport;
  expect(report).toMatchObject({ flows: 4, asked: 4, unanswered: 0, found: { moneyWithoutFlow: 4 }, fresh: 4, until });
  expect(runLengths(time, 'reconcile-long').length).toBeGreaterThan(3);
  const open = await listFindings(time.client, { kinds: [], all: false, limit: 10 });
  expect(open.map(({ amount }) => amount).toSorted()).toEqual([5_000, 5_001, 5_002, 5_003]);
});

test('a difference of a flow that a parked event contradicts counts once, though its sweep is another one', async () => {
  const begun = await time.now();
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = await charge.outcome();
  await time.provider.createRefund(paymentId, { amount: 5_000 });
  const event = { eventType: 'payment.charge.update', businessUnit: 'default', paymentId, trusted: true };
  const told = { ...event, transactionId: 'tx-9', hash: `late-${paymentId}`, created: String(begun) };
  await createEventSink(time.client).park({ event: told, reason: 'contradictsResult' });
  await time.passUntil((await time.now()) + 25 * HOUR);
  const [since, until] = [begun, await time.now()].map((at) => new Date(at).toISOString());
  const handle = await start('reconcile-contradicted', { since, until, sample: 1 } as ReconcileInput);
  expect(await handle.result()).toMatchObject({ asked: 2, found: { moneyWithoutFlow: 1 }, fresh: 1 });
});

/** The port of a process that lacks the key of all flows. */
function withoutKey() {
  const { connection, options } = time.client;
  const dataConverter = testDataConverter(`new:${randomBytes(32).toString('base64')}`);
  return createReconcilePort(new Client({ connection, namespace: options.namespace, dataConverter }));
}

test('a flow that this process lacks the key of is told as one that can not be read', async () => {
  const flows = [];
  for (let count = 0; count < 2; count += 1) flows.push(await beginFlow(time, 'charge', await inputOf(time, 'charge')));
  const ids = flows.map(({ workflowId }) => workflowId);
  for (const flow of flows) await flow.outcome();
  const lacking = withoutKey();
  const facts = await lacking.flowsById(ids);
  expect(facts).toHaveLength(2);
  for (const fact of facts) {
    expect(fact).toMatchObject({ state: 'ended', unreadable: expect.stringContaining('unknown key id "') });
    expect(fact).not.toHaveProperty('result');
  }
  for (const fact of await createReconcilePort(time.client).flowsById(ids))
    expect(fact).not.toHaveProperty('unreadable');
});

test('so are commands that were terminated, and whose memo names the run before them', async () => {
  const { paymentId, reference } = await chargeOf();
  const input = { paymentId, currency: 'USD', paymentReference: reference };
  const workflowId = paymentActionsWorkflowId(paymentId);
  const handle = await time.client.workflow.start(WORKFLOW_TYPES.paymentActions, {
    workflowId,
    taskQueue: PAYMENTS_TASK_QUEUE,
    args: [input],
    memo: { [MEMO_KEYS.takesOver]: 'none' },
  });
  await handle.terminate('by mistake');
  expect(await withoutKey().flowsById([workflowId])).toMatchObject([
    { state: 'stopped', unreadable: expect.stringMatching(/memo of payment-actions-.* \(unknown key id "/) },
  ]);
  const [facts] = await createReconcilePort(time.client).flowsById([workflowId]);
  expect(facts).toMatchObject({ state: 'stopped' });
  expect(facts).not.toHaveProperty('unreadable');
});

test('of commands that were terminated and opened again is known when the first run began', async () => {
  const { actions, paymentId } = await charged();
  await actions.ask('refund', { commandId: 'one', amount: 500 });
  await time.client.workflow.getHandle(actions.workflowId).terminate('by mistake');
  await time.passUntil((await time.now()) + DAY);
  const again = await beginActions(time, { paymentId, currency: 'USD' });
  await again.ask('refund', { commandId: 'two', amount: 600 });
  const port = createReconcilePort(time.client);
  const [latest] = await port.flowsById([actions.workflowId]);
  const first = await port.firstStartedAt(actions.workflowId);
  expect((latest?.startedAt ?? 0) - (first ?? 0)).toBeGreaterThan(DAY - HOUR);
  expect(first).toBeGreaterThanOrEqual(actions.startedAt);
  expect(await port.firstStartedAt('payment-of-nobody')).toBeUndefined();
});

test('of a flow is known under which app id its payment was made or first read', async () => {
  const { actions, creator } = await charged();
  await actions.ask('refund', { amount: 5_500 });
  const port = createReconcilePort(time.client);
  const here = `test/${DEFAULT_UNIT.appId}`;
  for (const id of [creator, actions.workflowId]) {
    expect(await port.madeUnder(id)).toBe(here);
    await expect(withoutKey().madeUnder(id)).rejects.toThrow(UnreadableFlow);
  }
  expect(await port.madeUnder('payment-of-nobody')).toBeUndefined();
});

test('the schedule’s next run looks again at the statements that the run before could not read', async () => {
  const { options, workflowService, workflow } = time.client;
  const { loadedDataConverter: converter, namespace } = options;
  const until = new Date((await time.now()) - DAY).toISOString();
  const refusedStatements = [{ name: 'a.csv', faults: ["can't be read: EIO"], unread: true }];
  const payloads = (await encodeToPayloads(converter, { until, refusedStatements })) ?? [];
  const workflowId = 'reconcile-scheduled';
  await workflowService.startWorkflowExecution({
    namespace,
    workflowId,
    requestId: workflowId,
    workflowType: { name: 'reconcile' },
    taskQueue: { name: BILLING_TASK_QUEUE },
    lastCompletionResult: { payloads },
  });
  const handle = workflow.getHandle(workflowId);
  await handle.result();
  const { events } = await handle.fetchHistory();
  const calls = events?.flatMap(({ activityTaskScheduledEventAttributes: call }) => call ?? []) ?? [];
  const { input } = calls.find(({ activityType }) => activityType?.name === 'matchStatements') ?? {};
  const [call] = await decodeArrayFromPayloads(converter, input?.payloads as Payload[]);
  expect(call).toMatchObject({ again: ['a.csv'] });
});

test('a reconciliation whose time is over before it begins is refused: it would say that there is no difference', async () => {
  const since = new Date((await time.now()) - HOUR).toISOString();
  const handle = await start('reconcile-late', { since });
  await expect(handle.result()).rejects.toMatchObject(failsWith('InvalidInput', 'since: '));
});

async function chargeOf() {
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = (await charge.outcome()) as { paymentId?: string };
  return { paymentId, workflowId: charge.workflowId, reference: charge.reference };
}

/** A charge, and a flow of commands for it. */
async function charged() {
  const { paymentId, workflowId: creator, reference } = await chargeOf();
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: reference });
  const refund = async () =>
    (await time.sandbox.ledger()).find((one) => one.kind === 'refund' && one.payment_id === paymentId);
  const account = async () => {
    const [flow] = await createReconcilePort(time.client).flowsById([actions.workflowId]);
    expect(flow).toMatchObject({ state: 'open', status: 'idle' });
    return accountOf(flow as FlowFacts);
  };
  return { paymentId, creator, actions, refund, account };
}

describe('what a later run of commands has come to know of a refund is known to a reconciliation', () => {
  const refunding = async () => {
    const { paymentId, actions, refund, account } = await charged();
    const path = `/payments/${paymentId}/refunds`;
    const away = await time.sandbox.addFault(answers(503, 'POST', path));
    const asked = await actions.command('refund', { commandId: 'back', amount: 5_500 });
    await time.passUntil((await time.now()) + 2_000);
    // Only now: before it sends a command reads.
    const unreadable = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}*`));
    await time.sandbox.addFault(lostReply(path));
    await time.sandbox.addFault(answers(503, 'POST', path));
    await time.sandbox.removeFault(away.id);
    await time.passUntil((await time.now()) + 3 * DAY);
    expect(await asked.answer).toMatchObject({ status: 'unknown' });
    expect(runLengths(time, actions.workflowId).length).toBeGreaterThan(2);
    return { actions, refundId: (await refund())?.transaction_id ?? 'none', unreadable, account };
  };

  test('by a read', async () => {
    const { refundId, unreadable, account } = await refunding();
    await time.sandbox.removeFault(unreadable.id);
    await time.passUntil((await time.now()) + DAY);
    expect((await account()).named).toContain(refundId);
  });

  test('by an operator', async () => {
    const { actions, refundId, account } = await refunding();
    // Of what this run does none is to come after it.
    most = 10_000;
    const said = { ...OPERATOR, status: 'succeeded', transactionId: refundId } as const;
    await time.holdfast.settleManually({ workflowId: actions.workflowId }, said);
    expect((await account()).named).toContain(refundId);
    most = FEW;
  });
});

test('a refund that was asked for without any id is matched by what it was sent with', async () => {
  const { actions, refund, account } = await charged();
  await actions.ask('refund', { amount: 5_500 });
  const { transaction_id, reconciliation_id } = (await refund()) ?? {};
  const [claim] = (await account()).claims;
  expect(claim).toMatchObject({ transactionId: transaction_id, reconciliationId: reconciliation_id });
});
