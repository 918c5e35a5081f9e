import { beforeEach, describe, expect, test } from 'vitest';
import { atFullCounts } from '../../support/at-full-counts.js';
import { storedInSkippedTime } from '../../support/cards.js';
import { inTurn } from '../../support/counts.js';
import { ReferenceBookInMemory } from '../../support/reference-book-in-memory.js';
import type { AppReply } from '../world/app-call.js';
import { beginWeekly } from './weekly.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { bills, declinedFor, subscribe } from '../../support/subscriptions.js';
import {
  beginFlow,
  DAY,
  DONE,
  failsWith,
  FLOW_TYPES,
  type FlowType,
  HOUR,
  inputOf,
  keysOf,
  lostReply,
  MINUTE,
  runLengths,
  SECOND,
  sharedTime,
} from './context.js';

const book = new ReferenceBookInMemory();
let suggestRunAfter = 4_096;
const time = sharedTime({ billing: true }, { referenceBook: book, suggestRunAfter: () => suggestRunAfter });
/** Charges always, the others in turn. */
const SOME = FLOW_TYPES.filter((type, index) => type === 'charge' || inTurn(4)(index));
/** These read the payment of the earlier flow; the others refuse. */
const READING: readonly FlowType[] = ['charge', 'authorizeAndCapture', 'credit'];

beforeEach(() => {
  book.fails = [];
});

/** As retention does, or somebody who deletes the flow, or a restore. By then the service has forgotten its keys too. */
async function forget({ workflowId }: { workflowId: string }): Promise<void> {
  time.simulation.engine.forget(workflowId);
  await time.passUntil((await time.now()) + 25 * HOUR);
}

/** A flow goes on with the payment of a forgotten one that had charged nothing yet. */
async function adoptedUncharged() {
  const input = await inputOf(time, 'charge');
  const held = time.hold('createCharge');
  const first = await beginFlow(time, 'charge', input);
  await held.reached;
  await time.client.workflow.getHandle(first.workflowId).terminate('by mistake');
  await time.stopWorker();
  await time.startWorker();
  held.release();
  await forget(first);
  const again = await beginFlow(time, 'charge', input);
  expect(await again.outcome()).toMatchObject({ status: 'notExecuted' });
  return { input, again };
}

/** Transactions do not say when they were created. */
function withoutAge(reply: AppReply): AppReply {
  const body = Buffer.from(reply.body.toString().replace(/"created":"?\d+"?,/g, ''));
  return { ...reply, headers: { ...reply.headers, 'content-length': String(body.length) }, body };
}

describe('a reference whose flow Temporal has forgotten', () => {
  test.each(SOME)('moves no money a second time: %s', async (type) => {
    const input = await inputOf(time, type);
    const first = await beginFlow(time, type, input);
    const { status, transactionId } = (await first.outcome()) as { status: string; transactionId?: string };
    await forget(first);
    const again = await beginFlow(time, type, input);
    if (READING.includes(type)) expect(await again.outcome()).toMatchObject({ status, transactionId });
    else
      await expect(again.outcome()).rejects.toMatchObject(failsWith('ReferenceConflict', 'Nothing was sent by this'));
    expect(await movements(time, input.reference)).toEqual(DONE[type]);
  });

  test.each(SOME)('is refused to another request: %s', async (type) => {
    const input = await inputOf(time, type);
    const first = await beginFlow(time, type, input);
    await first.outcome();
    await forget(first);
    const again = await beginFlow(time, type, await inputOf(time, type, { reference: input.reference }));
    await expect(again.outcome()).rejects.toMatchObject(failsWith('ReferenceConflict', 'for another request'));
    expect(await again.status()).toMatchObject({ status: 'refused' });
    expect(await movements(time, input.reference)).toEqual(DONE[type]);
  });

  test('is charged a second time if the book has forgotten it as well', async () => {
    const input = await inputOf(time, 'charge');
    const first = await beginFlow(time, 'charge', input);
    await first.outcome();
    await forget(first);
    book.entries.delete(first.workflowId);
    const again = await beginFlow(time, 'charge', await inputOf(time, 'charge', { reference: input.reference }));
    await again.outcome();
    expect(await movements(time, input.reference)).toHaveLength(2);
  });

  test('is followed to the outcome that its flow did not live to see', async () => {
    const input = await inputOf(time, 'charge');
    const first = await beginFlow(time, 'charge', input, [lostReply('*/charges', 100)]);
    await time.passUntil(first.startedAt + SECOND);
    await time.client.workflow.getHandle(first.workflowId).terminate('by mistake');
    await forget(first);
    const again = await beginFlow(time, 'charge', input);
    expect(await again.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    expect(await movements(time, input.reference)).toEqual(DONE.charge);
  });

  test('is proven not executed where its flow had charged nothing yet, and stays unused', async () => {
    const { input } = await adoptedUncharged();
    expect(await movements(time, input.reference)).toEqual([]);
  });

  test('is not charged after a reset of the flow that has adopted its payment', async () => {
    const { input, again } = await adoptedUncharged();
    await resetToFirstTask(time.client, again.workflowId);
    await time.passUntil((await time.now()) + 3 * HOUR);
    expect(keysOf(time, input.reference)).toEqual(['createPayment:1']);
    expect(await movements(time, input.reference)).toEqual([]);
  });

  test('has its hold not released for a next one, which the book would refuse', async () => {
    const card = await storedInSkippedTime(time);
    const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' } as const;
    const onDeadline = { captureMode: 'manual', captureDeadline: '2 days', onDeadline: 'reauthorize' };
    const input = await inputOf(time, 'authorizeAndCapture', { ...card, cardOnFile, ...onDeadline });
    const first = await beginFlow(time, 'authorizeAndCapture', input);
    await time.passUntil(first.startedAt + MINUTE);
    await time.client.workflow.getHandle(first.workflowId).terminate('by mistake');
    await forget(first);
    const again = await beginFlow(time, 'authorizeAndCapture', input);
    await time.passUntil(again.startedAt + MINUTE);
    await expect(again.ask('reauthorize', { commandId: 'longer' })).rejects.toMatchObject(
      failsWith('StateConflict', 'an earlier flow of this reference has made this hold'),
    );
    expect(await again.status()).toMatchObject({ status: 'authorized' });
    const held = 'authorization Succeed 6000 USD';
    expect(await movements(time, input.reference)).toEqual([held]);
    expect(await again.outcome()).toMatchObject({ status: 'voided', reason: 'deadline' });
    expect(await movements(time, input.reference)).toEqual([held, 'void Succeed 6000 USD']);
    expect(keysOf(time, input.reference)).not.toContain('createPayment:2');
  });

  test('is refused if its flow never came as far as a payment', async () => {
    const input = await inputOf(time, 'charge');
    book.entries.set(`payment-${input.reference}`, { firstRunId: 'of old', fingerprint: '', namespace: 'default' });
    const flow = await beginFlow(time, 'charge', input);
    await expect(flow.outcome()).rejects.toMatchObject(
      failsWith('ReferenceConflict', 'the book names no payment of it'),
    );
    expect(time.requests.posts(input.reference)).toEqual([]);
    expect(await time.holdfast.explain(input.reference)).toContain('Ask the earlier run');
  });

  test('is refused if its flow is one of another namespace, which may still be charging', async () => {
    const input = await inputOf(time, 'charge');
    const first = await beginFlow(time, 'charge', input);
    await first.outcome();
    const entry = book.entries.get(first.workflowId);
    book.entries.set(first.workflowId, { ...entry!, namespace: 'elsewhere' });
    await forget(first);
    const again = await beginFlow(time, 'charge', input);
    await expect(again.outcome()).rejects.toMatchObject(failsWith('ReferenceConflict', 'namespace "elsewhere"'));
    expect(await movements(time, input.reference)).toEqual(DONE.charge);
  });

  test('is looked at before its hold is captured, where nothing tells how old that is', async () => {
    const input = await inputOf(time, 'authorizeAndCapture', { captureMode: 'manual' });
    const first = await beginFlow(time, 'authorizeAndCapture', input);
    await time.passUntil(first.startedAt + SECOND);
    await first.ask('capture', { commandId: 'part', amount: 2_000 });
    await first.outcome();
    const sent = time.requests.posts(input.reference).length;
    const onLedger = await movements(time, input.reference);
    await forget(first);
    const { sandbox } = time.simulation.world;
    sandbox.through = async (request, serve) => withoutAge(await serve(request));
    const again = await beginFlow(time, 'authorizeAndCapture', { ...input, captureMode: 'auto' });
    expect(await again.outcome()).toMatchObject({ status: 'captured', capturedAmount: 2_000 });
    sandbox.through = (request, serve) => serve(request);
    expect(time.requests.posts(input.reference)).toHaveLength(sent);
    expect(await movements(time, input.reference)).toEqual(onLedger);
  });

  atFullCounts('bills no period twice when its subscription begins again', async () => {
    const { flow, input, reach } = await beginWeekly(time, {}, { '1.1': declinedFor('insufficient_funds') });
    await reach(8);
    await flow.command('cancel', { when: 'now' });
    const onLedger = await bills(time, flow.reference);
    expect(onLedger.map((line) => line.split(' ')[0])).toEqual(['1.1', '1.2', '2.1']);
    for (const { start } of [...time.simulation.engine.all()])
      if (start.workflowId.includes(flow.reference)) time.simulation.engine.forget(start.workflowId);
    const again = await subscribe(time, { ...input, missedPeriods: 'billAll' });
    await reach(12);
    expect(await again.status()).toMatchObject({ status: 'active', subscription: { lastBilled: { period: 2 } } });
    expect(await bills(time, flow.reference)).toEqual(onLedger);
  });
});

describe('the flow that has claimed its reference', () => {
  test.each(SOME)('is the same after a reset: %s', async (type) => {
    const input = await inputOf(time, type);
    const flow = await beginFlow(time, type, input);
    const before = (await flow.outcome()) as { status: string };
    await resetToFirstTask(time.client, flow.workflowId);
    const handle = time.client.workflow.getHandle(flow.workflowId);
    expect(await handle.result()).toMatchObject({ status: before.status });
    expect(await movements(time, input.reference)).toEqual(DONE[type]);
  });

  test('is the same after a reset of which no history names the payment', async () => {
    const input = await inputOf(time, 'charge');
    const flow = await beginFlow(time, 'charge', input);
    book.fails = ['notePayment'];
    await time.passUntil(flow.startedAt + SECOND);
    await resetToFirstTask(time.client, flow.workflowId);
    book.fails = [];
    await time.passUntil(flow.startedAt + MINUTE);
    expect(await flow.status()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, input.reference)).toEqual(DONE.charge);
  });

  atFullCounts('is the same in the run that continues it, for the payment of the next hold', async () => {
    suggestRunAfter = 12;
    const card = await storedInSkippedTime(time);
    const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' } as const;
    const onDeadline = { captureMode: 'manual', captureDeadline: '2 days', onDeadline: 'reauthorize' };
    const input = await inputOf(time, 'authorizeAndCapture', { ...card, cardOnFile, ...onDeadline });
    const hold = await beginFlow(time, 'authorizeAndCapture', input);
    await time.passUntil(hold.startedAt + MINUTE);
    const first = book.entries.get(hold.workflowId);
    const firstPayment = first?.paymentId;
    await time.passUntil(hold.startedAt + 3 * DAY);
    expect(runLengths(time, hold.workflowId).length).toBeGreaterThan(1);
    expect(book.entries.get(hold.workflowId)).toBe(first);
    const { paymentId, status } = await hold.status();
    expect(status).toBe('authorized');
    expect(first?.paymentId).toBe(paymentId);
    expect(paymentId).not.toBe(firstPayment);
    suggestRunAfter = 4_096;

    await time.client.workflow.getHandle(hold.workflowId).terminate('by mistake');
    await forget(hold);
    // Its second hold was authorized under a key that another flow does not have: a person must look.
    const again = await beginFlow(time, 'authorizeAndCapture', input);
    await time.passUntil(again.startedAt + 3 * HOUR);
    expect(await again.status()).toMatchObject({ status: 'unknown', needsOperator: true, paymentId });
  });
});

describe('while the reference book can not be reached', () => {
  test.each(SOME)('nothing is sent, and the flow shows for what it waits: %s', async (type) => {
    const input = await inputOf(time, type);
    book.fails = ['claim'];
    const flow = await beginFlow(time, type, input);
    await time.passUntil(flow.startedAt + MINUTE);
    expect(keysOf(time, input.reference)).not.toContain('createPayment:1');
    expect(await flow.status()).toMatchObject({ status: 'started', waitingFor: 'referenceBook' });
    expect(await time.holdfast.explain({ workflowId: flow.workflowId })).toContain('the reference book can be reached');
    book.fails = [];
    await flow.outcome();
    expect(await movements(time, input.reference)).toEqual(DONE[type]);
  });

  test('a payment that was created is not charged before the book holds its id', async () => {
    const input = await inputOf(time, 'charge');
    book.fails = ['notePayment'];
    const flow = await beginFlow(time, 'charge', input);
    await time.passUntil(flow.startedAt + MINUTE);
    expect(keysOf(time, input.reference)).toEqual(['createPayment:1']);
    book.fails = [];
    await time.holdfast.retryNow(input.reference, { who: 'Ada', why: 'the database is back' });
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, input.reference)).toEqual(DONE.charge);
  });

  atFullCounts('a flow gives up when its window has closed, and has moved no money', async () => {
    const input = await inputOf(time, 'charge');
    book.fails = ['claim'];
    const flow = await beginFlow(time, 'charge', input);
    expect(await flow.outcome()).toMatchObject({ status: 'notExecuted' });
    expect(await time.now()).toBeLessThan(flow.startedAt + DAY);
    expect(time.requests.posts(input.reference)).toEqual([]);
  });
});
