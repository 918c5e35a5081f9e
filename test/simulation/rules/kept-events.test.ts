import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { atFullCounts } from '../../support/at-full-counts.js';
import { beginActions, beginHeld } from '../../support/virtual-flows.js';
import { answers, DAY, HOUR, MINUTE, sharedTime } from './context.js';

const time = sharedTime();

describe('while commands are taken for a payment, an event of a transaction that none of them has made', () => {
  /** 60.00 USD captured by a hold that has ended, and 50.00 of them refunded on command. */
  async function refunded() {
    const hold = await beginHeld(time);
    await hold.ask('capture');
    const { paymentId = '', transactionId = '' } = await hold.outcome();
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: hold.reference });
    const refund = await actions.ask('refund', { commandId: 'part', amount: 5_000 });
    return { hold, actions, paymentId, capture: transactionId, refund: refund.transactionId ?? '' };
  }

  const eventOf = (kind: string, transactionId: string, amount = 6_000) => ({
    eventType: `payment.${kind}.create`,
    transactionId,
    status: 'Succeed' as const,
    amount,
  });

  test('reaches the flow that holds the money', async () => {
    const hold = await beginHeld(time);
    const { paymentId = '' } = await hold.status();
    const actions = await beginActions(time, { paymentId, currency: 'USD' });
    const { data } = await time.provider.createCapture(paymentId, {}, { idempotencyKey: randomUUID() });
    await actions.event({ ...eventOf('capture', data.id), reconciliationId: hold.reference });
    await time.passUntil(hold.startedAt + 60_000);
    expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId: data.id });
    expect(await time.now()).toBeLessThan(hold.startedAt + DAY);
    expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: false });
  });

  test('is not replaced by one of another business unit', async () => {
    const { actions, paymentId } = await refunded();
    const unread = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    const transactionId = randomUUID();
    await actions.event(eventOf('refund', transactionId, 1_000));
    await actions.event({
      ...eventOf('refund', transactionId, 1_000),
      businessUnit: 'other',
      created: String(actions.startedAt + DAY),
    });
    await time.sandbox.removeFault(unread.id);
    await time.passUntil(actions.startedAt + HOUR);
    expect(await actions.status()).toMatchObject({ operatorReason: expect.stringContaining(transactionId) });
  });

  test('calls a person where the flow that made the payment does not know it either', async () => {
    const { actions, paymentId, capture, refund } = await refunded();
    // Of what is known nobody has to be told.
    await actions.event(eventOf('capture', capture));
    await actions.event(eventOf('refund', refund, 5_000));
    await time.passUntil(actions.startedAt + 60_000);
    expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: false });

    const { data } = await time.provider.createRefund(paymentId, { amount: 1_000 }, { idempotencyKey: randomUUID() });
    await actions.event(eventOf('refund', data.id, 1_000));
    await time.passUntil(actions.startedAt + 120_000);
    const flagged = { status: 'idle', needsOperator: true, operatorReason: expect.stringContaining(data.id) };
    expect(await actions.status()).toMatchObject(flagged);
    // What is commanded next does not hide it.
    await expect(actions.ask('refund', { commandId: 'much', amount: 9_000 })).rejects.toThrow();
    expect(await actions.status()).toMatchObject(flagged);
    // Nor does the next such event hide the first one, or is hidden by it.
    const second = randomUUID();
    await actions.event({ eventType: 'payment.void.create', transactionId: second, status: 'Succeed' });
    await time.passUntil(actions.startedAt + 150_000);
    const { operatorReason } = await actions.status();
    expect(operatorReason).toContain(data.id);
    expect(operatorReason).toContain(second);
    await time.holdfast.retryNow({ workflowId: actions.workflowId });
    await time.passUntil(actions.startedAt + 180_000);
    expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: false });
  });

  test('calls a person as well where the flow that made the payment is forgotten, and the service does not name it', async () => {
    const { hold, actions } = await refunded();
    const echoes = async (echo_additional_details: boolean) =>
      await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { echo_additional_details } });
    await echoes(false);
    time.simulation.engine.forget(hold.workflowId);
    const transactionId = randomUUID();
    await actions.event(eventOf('refund', transactionId, 1_000));
    await time.passUntil(actions.startedAt + HOUR);
    await echoes(true);
    expect(await actions.status()).toMatchObject({ operatorReason: expect.stringContaining(transactionId) });
  });

  test('is kept until what is under way has ended', async () => {
    const { actions, paymentId, refund } = await refunded();
    const pends = await time.sandbox.addFault({
      action: 'result',
      status: 'Pending',
      path: `/payments/${paymentId}/refunds`,
    });
    await time.sandbox.settings({ pendingMs: 6 * DAY });
    const { answer } = await actions.command('refund', { commandId: 'pends' });
    await time.passUntil(actions.startedAt + 60_000);
    await time.sandbox.removeFault(pends.id);
    const voided = { eventType: 'payment.void.create', transactionId: randomUUID() };
    await actions.event({ ...voided, status: 'Succeed', created: '2026-11-23T02:00:00Z' });
    // Neither an older one takes its place, nor what anybody can make, however much comes of it.
    await actions.event({ ...voided, status: 'Failed', created: '2026-11-23T01:00:00Z' });
    await actions.event({ ...voided, status: 'Failed', created: '2026-11-23T03:00:00Z', trusted: false });
    // Nor does what anybody can make hide one that is signed, whatever either says.
    const masked = { eventType: 'payment.void.create', transactionId: randomUUID() };
    await actions.event({ ...masked, status: 'Succeed', trusted: false });
    await actions.event({ ...masked, status: 'Pending' });
    for (let more = 0; more < 60; more += 1)
      await actions.event({ ...voided, transactionId: randomUUID(), status: 'Failed', trusted: false });
    await actions.event({ ...eventOf('refund', refund, 5_000), status: 'Pending' });
    const { transactionId = '' } = await actions.status();
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    await time.holdfast.retryNow({ workflowId: actions.workflowId });
    expect(await answer).toMatchObject({ status: 'succeeded' });
    await time.passUntil(actions.startedAt + 120_000);
    expect(await actions.status()).toMatchObject({
      status: 'idle',
      needsOperator: true,
      operatorReason: expect.stringContaining(`${voided.transactionId} Succeed`),
    });
    expect((await actions.status()).operatorReason).toContain(`${masked.transactionId} Pending`);
    await time.sandbox.settings({ pendingMs: 10_000 });
  });

  /** What was taken elsewhere from a hold that is open, while the service does not say which flow made the payment. */
  async function untold() {
    const hold = await beginHeld(time);
    const { paymentId = '' } = await hold.status();
    const { id } = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    const actions = await beginActions(time, { paymentId, currency: 'USD' });
    return { hold, paymentId, actions, fault: id };
  }

  test.each([true, false])('is kept until the service says whose it is: signed %s', async (trusted) => {
    const { hold, paymentId, actions, fault } = await untold();
    const { data } = await time.provider.createCapture(paymentId, {}, { idempotencyKey: randomUUID() });
    await actions.event({ ...eventOf('capture', data.id), trusted });
    await time.passUntil(hold.startedAt + HOUR / 2);
    expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: false });
    expect(await time.holdfast.explain({ workflowId: actions.workflowId })).toContain('1 event is kept');
    await time.sandbox.removeFault(fault);
    await time.holdfast.retryNow({ workflowId: actions.workflowId });
    await time.passUntil(hold.startedAt + HOUR / 2 + MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'captured' });
    expect(await hold.outcome()).toMatchObject({ transactionId: data.id });
    expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: false });
  });

  test('and where the service does not say so it is for a person after a day if it is signed, and counted after an hour if not', async () => {
    const { actions, fault } = await untold();
    const [signed, not] = [randomUUID(), randomUUID()];
    await actions.event(eventOf('refund', signed));
    await actions.event({ ...eventOf('refund', not), trusted: false });
    await time.passUntil(actions.startedAt + HOUR / 2);
    // Anybody could put off its end by another one.
    await actions.event({ ...eventOf('refund', not), created: String(Date.now()), trusted: false });
    await time.passUntil(actions.startedAt + HOUR + 5 * MINUTE);
    expect((await actions.status()).ignored).toMatchObject({ eventNobodyClaims: 1 });
    await time.passUntil(actions.startedAt + 23 * HOUR);
    expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: false });
    await time.passUntil(actions.startedAt + 26 * HOUR);
    const { operatorReason, ignored } = await actions.status();
    expect(operatorReason).toContain(signed);
    expect(operatorReason).not.toContain(not);
    expect(ignored).toMatchObject({ eventNobodyClaims: 1 });
    await time.sandbox.removeFault(fault);
  });

  test.each(['is carried out', 'closes the run'])('is asked about as soon as a command %s', async (how) => {
    const closes = how === 'closes the run';
    const other = await beginHeld(time);
    const hold = await beginHeld(time);
    await hold.ask('capture');
    const { paymentId = '' } = await hold.outcome();
    const paymentReference = closes ? other.reference : hold.reference;
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference });
    const { id } = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    const from = await time.now();
    const refund = randomUUID();
    await actions.event(eventOf('refund', refund, 500));
    await time.passUntil(from + 3 * HOUR);
    expect(await time.holdfast.explain({ workflowId: actions.workflowId })).toContain('1 event is kept');
    await time.sandbox.removeFault(id);
    const asked = actions.ask('refund', { commandId: 'more', amount: 5_000 });
    if (closes) await expect(asked).rejects.toThrow();
    else expect(await asked).toMatchObject({ status: 'succeeded' });
    await time.passUntil((await time.now()) + MINUTE);
    expect(await actions.status()).toMatchObject({ operatorReason: expect.stringContaining(refund) });
    await other.ask('void');
  });

  test('is for a person at once where it is signed and more come than are kept', async () => {
    const { actions, fault } = await untold();
    for (let more = 0; more < 51; more += 1) await actions.event(eventOf('refund', randomUUID()));
    await time.passUntil(actions.startedAt + HOUR / 4);
    expect(await actions.status()).toMatchObject({
      status: 'idle',
      ignored: { tooManyEvents: 1 },
      operatorReason: expect.stringContaining('there are more such events: look at the payment'),
    });
    await time.sandbox.removeFault(fault);
    await time.client.workflow.getHandle(actions.workflowId).terminate();
  });

  test('is not kept unsigned where the service knows no such payment', async () => {
    const actions = await beginActions(time, { paymentId: randomUUID(), currency: 'USD' });
    await actions.event({ ...eventOf('refund', randomUUID()), trusted: false });
    await time.passUntil(actions.startedAt + MINUTE);
    expect(await time.holdfast.explain({ workflowId: actions.workflowId })).not.toContain('kept');
    await actions.event(eventOf('refund', randomUUID()));
    await time.passUntil(actions.startedAt + 2 * MINUTE);
    expect(await time.holdfast.explain({ workflowId: actions.workflowId })).toContain('1 event is kept');
  });

  // That one which is signed prolongs none is shown below.
  atFullCounts('prolongs no wait for the next command where anybody could have made it', async () => {
    const { actions, fault } = await untold();
    await time.passUntil(actions.startedAt + 30 * DAY - HOUR / 4);
    await actions.event({ ...eventOf('refund', randomUUID()), trusted: false });
    expect(await actions.outcome()).toMatchObject({ status: 'idle' });
    expect(await time.now()).toBeLessThan(actions.startedAt + 30 * DAY + 2 * MINUTE);
    await time.sandbox.removeFault(fault);
  });

  test('does not prolong the time for which the next command is awaited', async () => {
    const { actions, refund } = await refunded();
    for (const days of [10, 20, 29]) {
      await time.passUntil(actions.startedAt + days * DAY);
      await actions.event(eventOf('refund', refund, 5_000));
    }
    await actions.outcome();
    expect(await time.now()).toBeLessThan(actions.startedAt + 31 * DAY);
  });
});
