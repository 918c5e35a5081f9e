import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CARDS } from '../support/charges.js';
import { authorizeInput, movements } from '../support/payments.js';
import { until } from '../support/until.js';
import { begin, beginActions, ledgerRows, SPECS, type VirtualFlow } from '../support/virtual-flows.js';
import { HOUR, MINUTE, SECOND, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';
import { half } from '../support/counts.js';

const DAY = 24 * HOUR;

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  await time?.close();
});

async function charged(amount: number) {
  await time.input();
  const flow = await begin(time, SPECS.charge(await authorizeInput(time, CARDS.succeeds, { amount })));
  const { paymentId = '' } = await flow.outcome();
  return { paymentId, actions: { paymentId, currency: 'USD', paymentReference: flow.reference } };
}

/**
 * Gives a command and waits, while no time passes, until it has been sent to the service. The engine skips time
 * over reads that are made side by side, as those before the first POST are.
 */
async function sent(flow: VirtualFlow<unknown>, name: 'refund' | 'capture', request: object) {
  const { paymentId } = await flow.status();
  const posts = () => time.requests.operations(paymentId, `${name}s`).length;
  const before = posts();
  const given = await flow.command(name, request);
  await until(
    async () => posts(),
    (now) => now > before,
  );
  return given;
}

/** As the engine shows it to whoever lists flows. */
async function needsOperator({ workflowId }: VirtualFlow<unknown>): Promise<unknown> {
  const { searchAttributes } = await time.client.workflow.getHandle(workflowId).describe();
  return searchAttributes['NeedsOperator']?.[0] ?? false;
}

describe('the flow of what is done to a payment later', () => {
  test('closes after 30 days without work, opens again, and a repeated command moves nothing', async () => {
    const { paymentId, actions } = await charged(20_000);
    const first = await beginActions(time, actions);
    const request = { commandId: 'return-1', amount: 6_000 };
    const given = await first.ask('refund', request);
    expect(given).toMatchObject({ status: 'succeeded', amount: 6_000 });
    // Work half-way: the 30 days begin again.
    await time.passUntil(first.startedAt + 20 * DAY);
    const second = await first.ask('refund', { commandId: 'return-2', amount: 5_000 });
    await time.passUntil(first.startedAt + 50 * DAY - HOUR);
    expect(await first.status()).toMatchObject({ status: 'idle', waitingFor: 'command' });
    const closed = await first.outcome();
    expect(closed).toMatchObject({ status: 'idle', actions: [{ outcome: given }, { outcome: second }] });
    const onLedger = ['charge Succeed 20000 USD', 'refund Succeed 6000 USD', 'refund Succeed 5000 USD'];
    expect(await ledgerRows(time, paymentId)).toEqual(onLedger);

    const again = await beginActions(time, actions);
    expect(await again.ask('refund', request)).toEqual(given);
    await expect(again.ask('refund', { ...request, amount: 7_000 })).rejects.toMatchObject({
      cause: { type: 'ReferenceConflict' },
    });
    await expect(again.ask('refund', { commandId: 'return-3', amount: 9_001 })).rejects.toMatchObject({
      cause: { type: 'InvalidInput', message: expect.stringContaining('90.01 USD is more than the 90.00 USD left') },
    });
    expect(await ledgerRows(time, paymentId)).toEqual(onLedger);
    expect(await again.ask('refund', { commandId: 'return-4' })).toMatchObject({ status: 'succeeded', amount: 9_000 });
    expect(await again.outcome()).toMatchObject({ actions: [{}, {}, { commandId: 'return-4' }] });
    expect(await ledgerRows(time, paymentId)).toEqual([...onLedger, 'refund Succeed 9000 USD']);
  });

  test('follows a refund that pends to its end, and spends its sum meanwhile', async () => {
    const { paymentId, actions } = await charged(8_000);
    await time.sandbox.settings({ pendingMs: 30 * HOUR });
    const flow = await beginActions(time, actions);
    const pending = await sent(flow, 'refund', { commandId: 'pends', amount: 2_500 });
    await time.passUntil(flow.startedAt + 23 * HOUR);
    await time.sandbox.settings({ pendingMs: 10 * SECOND });
    expect(await flow.status()).toMatchObject({ status: 'pending', waitingFor: 'settlement', needsOperator: false });
    await time.passUntil(flow.startedAt + 26 * HOUR);
    const { transactionId = '', ...status } = await flow.status();
    expect(status).toMatchObject({ status: 'pending', needsOperator: true });
    // Taken up once the first has ended, so that both can't spend the same money.
    const next = await flow.command('refund', { commandId: 'waits', amount: 6_000 });
    expect(await ledgerRows(time, paymentId)).toEqual(['charge Succeed 8000 USD', 'refund Pending 2500 USD']);

    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    await time.holdfast.retryNow({ workflowId: flow.workflowId });
    expect(await pending.answer).toMatchObject({ status: 'succeeded', amount: 2_500, evidence: { knownBy: 'poll' } });
    await expect(next.answer).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
    expect(await flow.status()).toMatchObject({ status: 'idle', needsOperator: false });
    expect(await ledgerRows(time, paymentId)).toEqual(['charge Succeed 8000 USD', 'refund Succeed 2500 USD']);
  });

  test('asks a person no more what a read has answered since: they are told what comes next', async () => {
    const { paymentId, actions } = await charged(8_000);
    await time.sandbox.settings({ pendingMs: 7 * DAY });
    const path = `/payments/${paymentId}`;
    const unread = await time.sandbox.addFault({ action: 'status', status: 503, method: 'GET', path });
    const flow = await beginActions(time, actions);
    const refund = await flow.command('refund', { commandId: 'late', amount: 2_500 });
    await time.passUntil(flow.startedAt + 2 * HOUR);
    expect((await flow.status()).operatorReason).toContain('nothing is sent before the payment can be read');
    await time.sandbox.removeFault(unread.id);
    await time.passUntil(flow.startedAt + 4 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'pending', needsOperator: false });
    expect(await needsOperator(flow)).toBe(false);
    await time.passUntil(flow.startedAt + 29 * HOUR);
    const { transactionId = '', operatorReason } = await flow.status();
    expect(operatorReason).toContain('no final answer for 24 hours to the refund');
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    await time.sandbox.settings({ pendingMs: 10 * SECOND });
    await time.holdfast.retryNow({ workflowId: flow.workflowId });
    expect(await refund.answer).toMatchObject({ status: 'succeeded', amount: 2_500 });
  });

  test('calls a person when an event contradicts what a command was answered', async () => {
    const { paymentId, actions } = await charged(8_000);
    const path = `/payments/${paymentId}/refunds`;
    const category = 'payment_method_declined';
    await time.sandbox.addFault({ action: 'result', status: 'Failed', category, path, times: 1 });
    const flow = await beginActions(time, actions);
    const answer = await flow.ask('refund', { commandId: 'declined', amount: 6_000 });
    expect(answer).toMatchObject({ status: 'declined' });
    const { transactionId = '' } = answer;
    await flow.event({ eventType: 'payment.refund.update', transactionId, status: 'Failed' });
    expect(await flow.status()).toMatchObject({ status: 'idle', needsOperator: false });
    await flow.event({ eventType: 'payment.refund.update', transactionId, status: 'Succeed' });
    await until(
      () => flow.status(),
      ({ ignored }) => ignored['nothingIsUnderWay'] === 2,
    );
    expect(await flow.status()).toMatchObject({ status: 'idle', needsOperator: true });
  });

  test('reads what a refund did whose reply was lost until its key could not be used any more', async () => {
    const { paymentId, actions } = await charged(8_000);
    const path = `/payments/${paymentId}/refunds`;
    await time.sandbox.addFault({ action: 'drop_reply', method: 'POST', path, times: 1 });
    await time.sandbox.addFault({ action: 'status', status: 401, method: 'POST', path });
    const flow = await beginActions(time, actions);
    const refund = await sent(flow, 'refund', { commandId: 'lost', amount: 6_000 });
    const hidden = await time.sandbox.addFault({ action: 'status', status: 503, method: 'GET', path });
    await time.passUntil(flow.startedAt + 22 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof' });
    await time.sandbox.removeFault(hidden.id);
    await time.passUntil(flow.startedAt + 24 * HOUR);
    expect(await refund.answer).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    expect(await ledgerRows(time, paymentId)).toEqual(['charge Succeed 8000 USD', 'refund Succeed 6000 USD']);
  });
});

describe('a capture of a hold that has lapsed, after its flow has ended', () => {
  test.each(
    half([
      ['voids_payment', { type: 'StateConflict', message: expect.stringContaining('voided') }],
      ['fails_capture', undefined],
    ] as const),
  )('takes nothing (%s)', async (expired_hold, refusal) => {
    const [unit] = await time.sandbox.businessUnits();
    const app_id = unit?.app_id ?? '';
    await time.sandbox.putBusinessUnit({ app_id, profile: { expired_hold } });
    await time.input();
    const input = await authorizeInput(time);
    await time.sandbox.addFault({
      action: 'result',
      status: 'Failed',
      category: 'payment_method_declined',
      path: '*/voids',
      reconciliation_id: input.reference,
    });
    const hold = await begin(time, SPECS.authorize(input));
    const { paymentId = '', status } = await hold.outcome();
    expect(status).toBe('expired');
    const flow = await beginActions(time, { paymentId, currency: 'USD', paymentReference: hold.reference });
    if (refusal !== undefined) {
      await expect(flow.ask('capture', { commandId: 'late' })).rejects.toMatchObject({ cause: refusal });
    } else {
      const { answer } = await sent(flow, 'capture', { commandId: 'late' });
      await time.passUntil(flow.startedAt + MINUTE);
      expect(await answer).toMatchObject({ status: 'declined' });
    }
    await time.sandbox.putBusinessUnit({ app_id, profile: { expired_hold: 'voids_payment' } });
    const captures = (await ledgerRows(time, paymentId)).filter((line) => line.startsWith('capture'));
    expect(captures).toEqual(refusal === undefined ? ['capture Failed 6000 USD'] : []);
  });
});

describe('a pending', () => {
  test.each(
    half([
      [CARDS.pendsThenSucceeds, 'succeeded', 'Succeed'],
      [CARDS.pendsThenFails, 'declined', 'Failed'],
    ]),
  )('credit is followed to its end by polling (%s)', async (card, status, booking) => {
    await time.sandbox.settings({ pendingMs: 2 * HOUR });
    await time.input();
    const { reference, amount, currency, paymentMethod } = await authorizeInput(time, card);
    const flow = await begin(time, SPECS.credit({ reference, amount, currency, paymentMethod }));
    await time.passUntil(flow.startedAt + HOUR);
    expect(await flow.status()).toMatchObject({ status: 'pending', waitingFor: 'settlement' });
    expect(await flow.outcome()).toMatchObject({ status, evidence: { knownBy: 'poll' } });
    await time.sandbox.settings({ pendingMs: 10 * SECOND });
    expect(await movements(time, reference)).toEqual([`credit ${booking} 6000 USD`]);
  });

  test('charge that sends the buyer elsewhere says where to, and calls an operator when the time for that is up', async () => {
    const input = await redirected();
    const flow = await begin(time, SPECS.charge(input));
    await buyerStaysAway(flow, () => time.holdfast.charge(input));
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('authorization that does so is held once it succeeds', async () => {
    const input = await redirected();
    const flow = await begin(time, SPECS.authorize(input));
    await buyerStaysAway(flow, () => time.holdfast.authorize(input));
    await time.passUntil(flow.startedAt + 5 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'authorized', needsOperator: false });
    await flow.ask('capture');
    expect(await flow.outcome()).toMatchObject({ status: 'captured' });
    expect(await movements(time, flow.reference)).toEqual([
      'authorization Succeed 6000 USD',
      'capture Succeed 6000 USD',
    ]);
  });

  async function redirected() {
    await time.sandbox.settings({ pendingMs: 3 * HOUR });
    await time.input();
    const { reference, amount, currency, paymentMethod } = await authorizeInput(time, CARDS.pendsThenSucceeds);
    const buyer = { merchantSiteUrl: 'https://shop.example/back', redirectTimeLimit: '20 minutes' };
    return { reference, amount, currency, paymentMethod, ...buyer };
  }

  async function buyerStaysAway(
    flow: VirtualFlow<unknown>,
    ask: () => Promise<{ status: string; redirectUrl?: string }>,
  ): Promise<void> {
    await time.passUntil(flow.startedAt + 19 * MINUTE);
    expect(await flow.status()).toMatchObject({ status: 'pending', waitingFor: 'redirect', needsOperator: false });
    expect(await ask()).toMatchObject({ status: 'pending', redirectUrl: expect.stringMatching(/^http/) });
    await time.passUntil(flow.startedAt + 21 * MINUTE);
    const { operatorReason, ...status } = await flow.status();
    expect(status).toMatchObject({ status: 'pending', waitingFor: 'settlement', needsOperator: true });
    expect(operatorReason).toContain('has not come back in time');
    expect(await ask()).not.toHaveProperty('redirectUrl');
    await time.sandbox.settings({ pendingMs: 10 * SECOND });
  }
});
