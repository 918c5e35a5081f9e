import { afterEach, describe, expect, test } from 'vitest';
import { createEventSink } from '../../../src/client/event-sink.js';
import { beginActions, ledgerRows, type VirtualFlow } from '../../support/virtual-flows.js';
import type { PaymentActionsResult } from '../../../src/contract/payment-actions.js';
import {
  answers,
  beginFlow,
  DAY,
  declined,
  failsWith,
  heldElsewhere,
  HOUR,
  inputOf,
  MINUTE,
  OPERATOR,
  sharedTime,
} from './context.js';

const time = sharedTime();

const pass = async (ms: number): Promise<void> => await time.passUntil((await time.now()) + ms);

afterEach(async () => {
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

const CREATED = '2026-11-25T11:00:00Z';

/** A refund of 20.00 USD of a charge over 60.00 USD, which was answered as declined. */
async function declinedRefund() {
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = (await charge.outcome()) as { paymentId?: string };
  const path = `/payments/${paymentId}/refunds`;
  await time.sandbox.addFault({ ...declined(path), times: 1 });
  const input = { paymentId, currency: 'USD', paymentReference: charge.reference };
  const actions = await beginActions(time, input);
  const { status, transactionId = '' } = await actions.ask('refund', { commandId: 'one', amount: 2_000 });
  expect(status).toBe('declined');
  const event = { eventType: 'payment.refund.update', transactionId } as const;
  const succeeds = async (
    flow: VirtualFlow<PaymentActionsResult> = actions,
    trusted = true,
    created = CREATED,
  ): Promise<void> => await flow.event({ ...event, created, status: 'Succeed', amount: 2_000, trusted });
  const fails = async (created: string): Promise<void> => await actions.event({ ...event, created, status: 'Failed' });
  const refunds = async () => (await ledgerRows(time, paymentId)).filter((row) => row.startsWith('refund'));
  return { actions, input, path, transactionId, succeeds, fails, refunds };
}

const ALL = { commandId: 'two', amount: 6_000 };
const SPENT = failsWith('InvalidInput', 'is more than the 40.00 USD left to refund');

describe('a signed event that calls a refund Succeed which was answered as declined', () => {
  test('counts against the next one, which may give back what is left and no more', async () => {
    const { actions, succeeds, refunds } = await declinedRefund();
    await succeeds();
    await expect(actions.ask('refund', ALL)).rejects.toMatchObject(SPENT);
    expect(await actions.ask('refund', { commandId: 'rest' })).toMatchObject({ status: 'succeeded', amount: 4_000 });
    expect(await refunds()).toEqual(['refund Failed 2000 USD', 'refund Succeed 4000 USD']);
    expect(await actions.status()).toMatchObject({ needsOperator: true });
  });

  test('also in the next run, and where it comes to that before its command', async () => {
    const first = await declinedRefund();
    await first.succeeds();
    const second = await declinedRefund();
    await pass(31 * DAY);
    for (const [{ input, refunds }, isTold] of [
      [first, true],
      [second, false],
    ] as const) {
      const again = await beginActions(time, input);
      if (!isTold) await second.succeeds(again);
      await expect(again.ask('refund', ALL)).rejects.toMatchObject(SPENT);
      expect(await refunds()).toEqual(['refund Failed 2000 USD']);
    }
  });

  /** It comes while no run is open, and waits for a person. */
  async function parkedOf(businessUnit: string) {
    const { input, transactionId, refunds } = await declinedRefund();
    await pass(31 * DAY);
    const { paymentId } = input;
    const event = { eventType: 'payment.refund.update', businessUnit, paymentId, transactionId, trusted: true };
    const told = { ...event, hash: `late-${paymentId}`, created: String(await time.now()), status: 'Succeed' as const };
    await createEventSink(time.client).park({ event: told, reason: 'contradictsResult' });
    await pass(MINUTE);
    return { next: await beginActions(time, input), refunds };
  }

  test('also in the next run, where it came while none was open and waits for a person', async () => {
    const { next, refunds } = await parkedOf('default');
    await expect(next.ask('refund', ALL)).rejects.toMatchObject(SPENT);
    expect(await refunds()).toEqual(['refund Failed 2000 USD']);
  });

  test('of another business unit counts against nothing there, and calls nobody', async () => {
    const { next, refunds } = await parkedOf('other');
    expect(await next.ask('refund', ALL)).toMatchObject({ status: 'succeeded' });
    expect(await refunds()).toEqual(['refund Failed 2000 USD', 'refund Succeed 6000 USD']);
    expect(await next.status()).toMatchObject({ needsOperator: false });
  });

  test('stops the next one while that can not be sent', async () => {
    const { actions, path, succeeds, refunds } = await declinedRefund();
    const { id } = await time.sandbox.addFault(answers(503, 'POST', path));
    await actions.command('refund', ALL);
    await pass(HOUR / 6);
    await succeeds();
    await pass(HOUR / 60);
    await time.sandbox.removeFault(id);
    await pass(4 * HOUR);
    expect(await refunds()).toEqual(['refund Failed 2000 USD']);
    expect(await actions.ask('refund', ALL)).toMatchObject({ status: 'notExecuted' });
    expect(await actions.ask('refund', { commandId: 'rest' })).toMatchObject({ status: 'succeeded', amount: 4_000 });
  });

  test('counts no more once the service has come back to what was answered', async () => {
    const { actions, succeeds, fails, refunds } = await declinedRefund();
    await succeeds();
    // The first one once more, or an event whose time nobody knows.
    for (const created of ['2026-11-25T10:00:00Z', CREATED, 'long ago']) await fails(created);
    await expect(actions.ask('refund', ALL)).rejects.toMatchObject(SPENT);
    await fails('2026-11-25T12:00:00Z');
    expect(await actions.ask('refund', { ...ALL, commandId: 'three' })).toMatchObject({ status: 'succeeded' });
    expect(await refunds()).toEqual(['refund Failed 2000 USD', 'refund Succeed 6000 USD']);
  });

  test('counts no more once a person has seen it, where the list says that it has failed', async () => {
    const { actions, succeeds, refunds } = await declinedRefund();
    await succeeds();
    await expect(actions.ask('refund', ALL)).rejects.toMatchObject(SPENT);
    expect(await actions.status()).toMatchObject({ needsOperator: true });
    await time.holdfast.retryNow({ workflowId: actions.workflowId }, OPERATOR);
    expect(await actions.status()).toMatchObject({ needsOperator: false });
    expect(await actions.ask('refund', { ...ALL, commandId: 'three' })).toMatchObject({ status: 'succeeded' });
    expect(await refunds()).toEqual(['refund Failed 2000 USD', 'refund Succeed 6000 USD']);
  });

  test('counts again where the service says so again, after a person has seen it', async () => {
    const { actions, succeeds, fails, refunds } = await declinedRefund();
    await succeeds();
    await time.holdfast.retryNow({ workflowId: actions.workflowId }, OPERATOR);
    await succeeds(actions, true, '2026-11-25T13:00:00Z');
    // It is older than what was said last.
    await fails('2026-11-25T12:00:00Z');
    await expect(actions.ask('refund', ALL)).rejects.toMatchObject(SPENT);
    await fails('2026-11-25T14:00:00Z');
    await succeeds(actions, true, '2026-11-25T15:00:00Z');
    await expect(actions.ask('refund', { ...ALL, commandId: 'three' })).rejects.toMatchObject(SPENT);
    expect(await refunds()).toEqual(['refund Failed 2000 USD']);
  });

  test('stops the next one also where it is said again after a person had seen it', async () => {
    const { actions, path, succeeds, refunds } = await declinedRefund();
    await succeeds();
    await time.holdfast.retryNow({ workflowId: actions.workflowId }, OPERATOR);
    const { id } = await time.sandbox.addFault(answers(503, 'POST', path));
    await actions.command('refund', ALL);
    await pass(HOUR / 6);
    await succeeds(actions, true, '2026-11-25T13:00:00Z');
    await pass(HOUR / 60);
    await time.sandbox.removeFault(id);
    await pass(4 * HOUR);
    expect(await refunds()).toEqual(['refund Failed 2000 USD']);
    expect(await actions.ask('refund', ALL)).toMatchObject({ status: 'notExecuted' });
  });

  test('calls a person in the next run as well, who can say there that it has been seen, and of nothing else', async () => {
    const { actions, input, succeeds, refunds, transactionId } = await declinedRefund();
    await succeeds();
    await pass(31 * DAY);
    const again = await beginActions(time, input);
    await expect(again.ask('refund', ALL)).rejects.toMatchObject(SPENT);
    expect(await again.status()).toMatchObject({ operatorReason: expect.stringContaining(transactionId) });
    await time.holdfast.retryNow({ workflowId: actions.workflowId }, OPERATOR);
    expect(await again.ask('refund', { ...ALL, commandId: 'three' })).toMatchObject({ status: 'succeeded' });
    expect(await refunds()).toEqual(['refund Failed 2000 USD', 'refund Succeed 6000 USD']);
  });

  test('and of more of them than a text can name are told one after the other, until a person has seen them all', async () => {
    const { actions, path } = await declinedRefund();
    const { id } = await time.sandbox.addFault(declined(path));
    for (let n = 0; n < 12; n += 1) {
      const { transactionId } = await actions.ask('refund', { commandId: `more-${n}`, amount: 100 });
      await actions.event({ eventType: 'payment.refund.update', transactionId, status: 'Succeed', created: CREATED });
    }
    await time.sandbox.removeFault(id);
    let looks = 0;
    for (; (await actions.status()).needsOperator && looks < 10; looks += 1)
      await time.holdfast.retryNow({ workflowId: actions.workflowId }, OPERATOR);
    expect(looks).toBeGreaterThan(1);
    expect(await actions.ask('refund', { ...ALL, commandId: 'all' })).toMatchObject({ status: 'succeeded' });
  });

  test('does nothing of the kind if it is unsigned', async () => {
    const { actions, succeeds, refunds } = await declinedRefund();
    await succeeds(actions, false);
    expect(await actions.ask('refund', ALL)).toMatchObject({ status: 'succeeded' });
    expect(await refunds()).toEqual(['refund Failed 2000 USD', 'refund Succeed 6000 USD']);
  });
});

test('a void that can not be sent is not sent once a signed event calls a capture Succeed which was answered as declined', async () => {
  const paymentId = await heldElsewhere(time, 6_000);
  await time.sandbox.addFault({ ...declined(`/payments/${paymentId}/captures`), times: 1 });
  const actions = await beginActions(time, { paymentId, currency: 'USD' });
  const { transactionId = '' } = await actions.ask('capture', { commandId: 'one' });
  const { id } = await time.sandbox.addFault(answers(503, 'POST', `/payments/${paymentId}/voids`));
  await actions.command('void', { commandId: 'two' });
  await pass(HOUR / 6);
  await actions.event({ eventType: 'payment.capture.update', transactionId, status: 'Succeed', created: CREATED });
  await pass(HOUR / 60);
  await time.sandbox.removeFault(id);
  await pass(4 * HOUR);
  expect(await ledgerRows(time, paymentId)).toEqual(['authorization Succeed 6000 USD', 'capture Failed 6000 USD']);
});
