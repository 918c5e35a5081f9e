import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEventSink } from '../../../src/client/event-sink.js';
import { tellOfDispute } from '../../../src/client/start-actions.js';
import { createReconcilePort } from '../../../src/client/reconcile-port.js';
import { paymentActionsWorkflowId } from '../../../src/contract/names.js';
import { reconcileStatement } from '../../../src/domain/reconcile/reconcile.js';
import { parseReconcilable } from '../../../src/domain/reconcile/statement-rows.js';
import { tellingOf } from '../../support/telling.js';
import { beginActions, ledgerRows } from '../../support/virtual-flows.js';
import { type SimulatedTime, startSimulatedTime } from '../simulated-time.js';
import { answers, beginFlow, DAY, failsWith, HOUR, inputOf, MINUTE, SECOND } from './context.js';
import { listenToAll, MERCHANT, type Told, takenOf } from './told.js';
import { beginWeekly } from './weekly.js';

let time: SimulatedTime;
let told: Told[];
beforeAll(async () => {
  time = await startSimulatedTime(
    { billing: true },
    { webhooks: true, telling: tellingOf([{ url: `${MERCHANT}/all` }]) },
  );
  told = listenToAll(time);
});
afterAll(async () => {
  await time?.close();
});

const pass = async (ms: number): Promise<void> => await time.passUntil((await time.now()) + ms);
const ADA = { who: 'Ada', why: 'agreed with the bank' };

/** A charge that has ended, and how its commands are named. */
async function charged() {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '', transactionId = '' } = await flow.outcome();
  await pass(MINUTE);
  return { ...flow, paymentId, transactionId, actions: paymentActionsWorkflowId(paymentId) };
}

const paymentOf = (paymentId: string, paymentReference: string) => {
  return { paymentId, businessUnit: 'default', currency: 'USD', paymentReference };
};
const statusOf = async (workflowId: string) => await time.holdfast.status({ workflowId });

describe('a chargeback of a charge that has ended', () => {
  test('is kept in the currency of the payment, whatever its event says', async () => {
    const { actions, paymentId, transactionId, workflowId } = await charged();
    await time.sandbox.dispute(transactionId);
    const sink = createEventSink(time.client);
    await sink.disputed({ paymentId, businessUnit: 'default', currency: 'EUR', madeBy: workflowId, hash: 'one' });
    await pass(MINUTE);
    expect(await statusOf(actions)).toMatchObject({ currency: 'USD', disputed: { knownBy: 'event' } });
    // The flow of its commands knows, after the one that made the payment is gone.
    await sink.disputed({ paymentId, businessUnit: 'default', madeBy: 'payment-deleted', hash: 'two' });
    const nobodys = { paymentId: randomUUID(), businessUnit: 'default', madeBy: 'payment-deleted', hash: 'three' };
    expect(await sink.disputed(nobodys)).toBe('noCurrency');
  });

  test('is read because of its event, kept, and told once, whatever comes again', async () => {
    const { actions, paymentId, transactionId, reference } = await charged();
    await expect(statusOf(actions)).rejects.toThrow('No flow');
    await time.sandbox.dispute(transactionId);
    await pass(MINUTE);
    expect(await statusOf(actions)).toMatchObject({ status: 'idle', disputed: { knownBy: 'event' } });
    expect(await time.holdfast.explain({ workflowId: actions })).toContain('The payment is disputed, known by event');
    const [delivery] = (await time.sandbox.deliveries({ paymentId })).slice(-1);
    await time.sandbox.resend(delivery?.id ?? '');
    // The run closes, and the next one knows.
    await pass(31 * DAY);
    const again = await beginActions(time, { paymentId, currency: 'USD', paymentReference: reference });
    await pass(HOUR);
    expect(await again.status()).toMatchObject({ disputed: { knownBy: 'event' } });
    expect(takenOf(told, actions)).toEqual(['payment.disputed']);
    const { notification } = told.find((one) => one.notification.workflowId === actions) as Told;
    expect(notification.data).toMatchObject({ paymentId, reference, knownBy: 'event', currency: 'USD' });
  });

  test('is looked into for as long as the service can not be read', async () => {
    const { actions, paymentId, transactionId, reference } = await charged();
    const fault = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    await time.sandbox.dispute(transactionId);
    // The handler could not read the payment either.
    await tellOfDispute(time.client, paymentOf(paymentId, reference), 'event');
    await pass(2 * HOUR);
    expect(await statusOf(actions)).not.toHaveProperty('disputed');
    await time.sandbox.removeFault(fault.id);
    await pass(2 * HOUR);
    expect(await statusOf(actions)).toMatchObject({ disputed: { knownBy: 'event' } });
  });

  test('has a refund asked for a second yes before anything is sent', async () => {
    const { paymentId, transactionId, reference } = await charged();
    await time.sandbox.dispute(transactionId);
    const refund = async (request: object) => await time.holdfast.refund({ payment: reference, ...request });
    await expect(refund({ commandId: 'a' })).rejects.toMatchObject({
      type: 'StateConflict',
      message: expect.stringContaining('the payment is disputed (known by'),
    });
    await expect(refund({ commandId: 'b', confirmDisputed: true, who: 'Ada' })).rejects.toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining('why: is required with confirmDisputed'),
    });
    expect(await ledgerRows(time, paymentId)).toEqual(['charge Succeed 6000 USD']);
    expect(await refund({ commandId: 'c', confirmDisputed: true, ...ADA })).toMatchObject({ status: 'succeeded' });
    expect(await ledgerRows(time, paymentId)).toEqual(['charge Succeed 6000 USD', 'refund Succeed 6000 USD']);
  });
});

test('an event that says nothing of a dispute opens no flow, and one that the service refutes tells nobody', async () => {
  const { actions, paymentId, reference } = await charged();
  await expect(statusOf(actions)).rejects.toThrow('No flow');
  await tellOfDispute(time.client, paymentOf(paymentId, reference), 'event');
  await pass(2 * HOUR);
  const status = await statusOf(actions);
  expect(status).not.toHaveProperty('disputed');
  expect(status.ignored).toMatchObject({ disputeNotShown: 1 });
  expect(takenOf(told, actions)).toEqual([]);
});

test("of a payment whose flow is not known any more it is told to the one of its commands, and of nobody's nothing is kept", async () => {
  const { actions, paymentId, transactionId, reference } = await charged();
  await beginActions(time, { paymentId, currency: 'USD', paymentReference: reference });
  await time.sandbox.addFault({ action: 'lose_event', path: 'payment.payment.update', reconciliation_id: reference });
  await time.sandbox.dispute(transactionId);
  const sink = createEventSink(time.client);
  const payment = { businessUnit: 'default', currency: 'USD', hash: 'of-nobody' };
  expect(await sink.disputed({ ...payment, paymentId })).toBe('passedOn');
  await pass(MINUTE);
  expect(await statusOf(actions)).toMatchObject({ disputed: { knownBy: 'event' } });
  const others = randomUUID();
  expect(await sink.disputed({ ...payment, paymentId: others })).toBe('unknown');
  await expect(statusOf(paymentActionsWorkflowId(others))).rejects.toThrow('No flow');
});

test('an event that is replayed keeps refunds from being sent for an hour, and no longer', async () => {
  const { actions, paymentId, reference } = await charged();
  const replay = async () => await tellOfDispute(time.client, paymentOf(paymentId, reference), 'event', 'captured');
  await replay();
  await pass(59 * MINUTE);
  await replay();
  await pass(31 * MINUTE);
  expect(await statusOf(actions)).toMatchObject({ ignored: { disputeAgain: 1 } });
  expect(await time.holdfast.refund({ payment: reference, commandId: 'all' })).toMatchObject({
    status: 'succeeded',
  });
});

test('a read that shows the dispute counts, though another event comes meanwhile', async () => {
  const { actions, paymentId, transactionId, reference } = await charged();
  await time.sandbox.addFault({
    action: 'lose_event',
    path: 'payment.payment.update',
    reconciliation_id: reference,
  });
  await time.sandbox.dispute(transactionId);
  const reading = time.hold('getPayment');
  await tellOfDispute(time.client, paymentOf(paymentId, reference), 'event', 'first');
  await reading.reached;
  await tellOfDispute(time.client, paymentOf(paymentId, reference), 'event', 'second');
  await pass(SECOND);
  const readingAgain = time.hold('getPayment');
  reading.release();
  await pass(5 * SECOND);
  expect(await statusOf(actions)).toMatchObject({ disputed: { knownBy: 'event' } });
  readingAgain.release();
});

test('a statement that shows a dispute tells of it though the first reads fail', async () => {
  const { actions, paymentId, reference } = await charged();
  const fault = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
  await tellOfDispute(time.client, paymentOf(paymentId, reference), 'statement');
  await pass(MINUTE);
  await time.sandbox.removeFault(fault.id);
  await pass(HOUR);
  expect(takenOf(told, actions)).toEqual(['payment.disputed']);
});

test.each([
  ['an hour', HOUR],
  ['longer than it is looked into, in a run that has closed since', 2 * DAY],
])('a statement that shows a dispute tells of it though reads hang for %s', async (_long, hangs) => {
  const { actions, paymentId, reference } = await charged();
  const reading = time.hold('getPayment');
  await tellOfDispute(time.client, paymentOf(paymentId, reference), 'statement');
  await pass(hangs);
  expect(takenOf(told, actions)).toEqual([]);
  reading.release();
  await pass(hangs < DAY ? 2 * HOUR : 31 * DAY);
  expect(takenOf(told, actions)).toEqual(hangs < DAY ? ['payment.disputed'] : []);
  for (const commandId of ['one', 'two']) {
    await time.holdfast.refund({ payment: reference, commandId, amount: 100, confirmDisputed: true, ...ADA });
    await pass(31 * DAY);
  }
  expect(takenOf(told, actions).filter((type) => type === 'payment.disputed')).toHaveLength(1);
  const { notification } = told.find((one) => one.notification.workflowId === actions) as Told;
  expect(notification.data).toMatchObject({ paymentId, reference, knownBy: 'statement' });
});

test('a statement shows a chargeback whose event was lost: it is found, kept and told once', async () => {
  const { actions, transactionId, reference, workflowId } = await charged();
  await time.sandbox.addFault({ action: 'lose_event', path: 'payment.payment.update', reconciliation_id: reference });
  const { dispute_id: subject } = await time.sandbox.dispute(transactionId);
  await pass(HOUR);
  await expect(statusOf(actions)).rejects.toThrow('No flow');
  const port = createReconcilePort(time.client);
  for (const times of ['fresh', 'known']) {
    const parsed = parseReconcilable(await time.sandbox.statement(), { now: await time.now() });
    if ('faults' in parsed) throw new Error(parsed.faults.join('\n'));
    const when = { windowMs: DAY, now: await time.now() };
    const findings = await reconcileStatement(parsed.statement, port, when);
    const found = findings.filter((one) => one.kind === 'disputed' && one.subject === subject);
    expect(found).toMatchObject([{ workflowId, reference, amount: 6_000, currency: 'USD' }]);
    expect(await port.keepFinding(found[0] as (typeof found)[0])).toBe(times);
    await pass(MINUTE);
  }
  expect(await statusOf(actions)).toMatchObject({ disputed: { knownBy: 'statement' }, ignored: {} });
  expect(takenOf(told, actions)).toEqual(['payment.disputed']);
});

test('a chargeback that a statement books in another currency is told to the flow in the currency of its payment', async () => {
  const { actions, transactionId, reference } = await charged();
  await time.sandbox.addFault({ action: 'lose_event', path: 'payment.payment.update', reconciliation_id: reference });
  const { dispute_id: subject } = await time.sandbox.dispute(transactionId);
  await pass(HOUR);
  const lines = (await time.sandbox.statement()).split('\n');
  const booked = lines.map((line) => (line.includes(subject) ? line.replace('"USD"', '"GBP"') : line)).join('\n');
  const parsed = parseReconcilable(booked, { now: await time.now() });
  if ('faults' in parsed) throw new Error(parsed.faults.join('\n'));
  const port = createReconcilePort(time.client);
  const findings = await reconcileStatement(parsed.statement, port, { windowMs: DAY, now: await time.now() });
  const found = findings.find((one) => one.kind === 'disputed' && one.subject === subject);
  expect(found).toMatchObject({ amount: 6_000, currency: 'GBP' });
  await port.keepFinding(found as (typeof findings)[0]);
  await pass(MINUTE);
  expect(await statusOf(actions)).toMatchObject({ currency: 'USD', disputed: { knownBy: 'statement' } });
  const confirmed = { commandId: 'yes', confirmDisputed: true, ...ADA } as const;
  expect(await time.holdfast.refund({ payment: reference, ...confirmed })).toMatchObject({ status: 'succeeded' });
});

describe('a subscription one of whose payments is disputed', () => {
  const disputed = async (overrides: Parameters<typeof beginWeekly>[1]) => {
    const weekly = await beginWeekly(time, overrides);
    await weekly.reach(1);
    const [bill] = await time.sandbox.ledger(`${weekly.flow.reference}.1.1`);
    await time.sandbox.dispute(bill?.transaction_id ?? '');
    await pass(HOUR);
    return { ...weekly, paymentId: bill?.payment_id ?? '' };
  };

  test('pauses, and bills again when a person resumes it', async () => {
    const { flow, reach, tried, paymentId } = await disputed({ periods: 3 });
    expect(await flow.status()).toMatchObject({ status: 'paused', subscription: { disputedPayments: [paymentId] } });
    await reach(8);
    expect(await tried()).toHaveLength(1);
    await flow.command('resume');
    // Told again, it has had its effect.
    await time.client.workflow
      .getHandle(flow.workflowId)
      .signal('paymentDisputed', { paymentId, paymentReference: `${flow.reference}.1.1` });
    await pass(MINUTE);
    expect(await flow.status()).toMatchObject({ status: 'active', ignored: { disputeAgain: 1 } });
    await reach(15);
    expect(await tried()).toHaveLength(2);
    await expect(flow.command('refundPeriod', { period: 1 })).rejects.toMatchObject(
      failsWith('StateConflict', 'the payment is disputed'),
    );
    const confirmed = { period: 1, commandId: 'yes', confirmDisputed: true, ...ADA };
    expect(await flow.command('refundPeriod', confirmed)).toMatchObject({ result: { status: 'succeeded' } });
    await flow.command('cancel', { when: 'now' });
  });

  test('that is paused for a time stays so until a person resumes it', async () => {
    const weekly = await beginWeekly(time, { periods: 3 });
    await weekly.reach(1);
    const until = new Date((await time.now()) + 2 * DAY).toISOString();
    await weekly.flow.command('pause', { until });
    const [bill] = await time.sandbox.ledger(`${weekly.flow.reference}.1.1`);
    await time.sandbox.dispute(bill?.transaction_id ?? '');
    await weekly.reach(15);
    expect(await weekly.flow.status()).toMatchObject({ status: 'paused' });
    expect(await weekly.tried()).toHaveLength(1);
    await weekly.flow.command('cancel', { when: 'now' });
  });

  test('goes on, or ends, as its terms say', async () => {
    const goesOn = await disputed({ periods: 2, onDispute: 'continue' });
    const ends = await disputed({ periods: 2, onDispute: 'cancel' });
    expect(await goesOn.flow.status()).toMatchObject({
      status: 'active',
      subscription: { disputedPayments: [goesOn.paymentId] },
    });
    expect(await ends.flow.ended()).toMatchObject({
      status: 'cancelled',
      reason: expect.stringContaining('is disputed'),
    });
    await goesOn.reach(8);
    expect(await goesOn.tried()).toHaveLength(2);
    expect(await ends.tried()).toHaveLength(1);
  });
});
