import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChargeInput } from '../../src/contract/charge.js';
import { idempotencyKey } from '../../src/contract/idempotency.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import type { FaultInput } from '../../sandbox/control.js';
import { loseTask } from '../support/lost-task.js';
import { HOUR, MINUTE, type StartedCharge, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';
import { expectOnLedger, plant, signalEvent } from './checks.js';
import { half } from '../support/counts.js';

const OPERATOR = { who: 'Grace Hopper', why: 'seen in the back office of the provider' };
const onPayments = (status: number): FaultInput => ({ action: 'status', status, method: 'POST', path: '/payments' });

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  await time?.close();
});

/** A charge of which the first task was lost, so that it may have been paid; from then on `fault` is in the way. */
async function startLost(input: ChargeInput, fault: FaultInput): Promise<StartedCharge & { faultId: string }> {
  const { id: faultId } = await plant(time, input, fault);
  await time.stopWorker();
  const charge = await time.start(input);
  await loseTask(time.client);
  // The engine gives a failed task out again only after a while.
  await time.passUnserved(charge.startedAt + MINUTE);
  await time.startWorker();
  return { ...charge, faultId };
}

/** What the lost task did about the payment, under its key. */
async function payAhead(input: ChargeInput, amount = input.amount): Promise<string> {
  const idempotency = { idempotencyKey: idempotencyKey(paymentWorkflowId(input.reference), 'createPayment', 1) };
  return (await time.provider.createPayment({ amount, currency: input.currency }, idempotency)).data.id;
}

/** What the lost task did about the charge, under its key. */
async function chargeAhead({ paymentMethod, reference }: ChargeInput, paymentId: string): Promise<string> {
  const key = idempotencyKey(paymentWorkflowId(reference), 'createCharge', 1);
  const request = { paymentMethod, reconciliationId: reference, additionalDetails: { holdfast_key: key } };
  return (await time.provider.createCharge(paymentId, request, { idempotencyKey: key })).data.id;
}

async function listLag(ms: number): Promise<void> {
  const [unit] = await time.sandbox.businessUnits();
  await time.sandbox.putBusinessUnit({ app_id: unit?.app_id ?? '', profile: { list_lag_ms: ms } });
}

describe('a charge that a lost task may have made, on a payment that only an event names', () => {
  test('is never sent there, since nothing says what that payment is over', async () => {
    const input = await time.input();
    const paymentId = await payAhead(input, input.amount * 100);
    const charge = await startLost(input, onPayments(400));
    await time.passUntil(charge.startedAt + 2 * MINUTE);
    expect(await charge.status()).toMatchObject({ status: 'unknown', waitingFor: 'operator', needsOperator: true });
    expect(await charge.status()).not.toHaveProperty('paymentId');

    await signalEvent(time, charge, { paymentId, transactionId: randomUUID() });
    // The window in which it may be sent stays open for long.
    await time.passUntil(charge.startedAt + 3 * HOUR);
    expect(time.requests.chargePosts(input.reference)).toEqual([]);
    expect(await time.sandbox.ledger(input.reference)).toEqual([]);
    expect(await charge.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof', paymentId });
    expect(time.requests.reads(paymentId).length).toBeGreaterThan(0);
    await time.holdfast.settleManually(input.reference, { ...OPERATOR, status: 'declined' });
    expect(await charge.outcome()).toMatchObject({ status: 'declined', evidence: { attempts: 0 } });
  });

  test.each(
    half([
      ['is sent again', 503],
      ['waits for credentials', 401],
    ]),
  )('is found by an event that comes while the payment still %s', async (_how, status) => {
    const input = await time.input();
    const paymentId = await payAhead(input);
    const transactionId = await chargeAhead(input, paymentId);
    const charge = await startLost(input, onPayments(status));
    await time.passUntil(charge.startedAt + 20 * MINUTE);
    await signalEvent(time, charge, { paymentId, transactionId });
    expect(await charge.status()).not.toHaveProperty('paymentId');
    expect((await charge.status()).ignored).toEqual({});

    await plant(time, input, onPayments(400));
    await time.sandbox.removeFault(charge.faultId);
    const outcome = await charge.outcome();
    expect(outcome).toMatchObject({ status: 'succeeded', paymentId, transactionId, evidence: { knownBy: 'poll' } });
    expect(time.requests.chargePosts(input.reference)).toEqual([]);
    await expectOnLedger(time, charge, outcome);
  });

  describe('while no read shows what the event names', () => {
    let charge: StartedCharge;
    let hidden: { id: string };
    let transactionId: string;
    beforeEach(async () => {
      const input = await time.input();
      const paymentId = await payAhead(input);
      transactionId = await chargeAhead(input, paymentId);
      charge = await startLost(input, onPayments(400));
      hidden = await plant(time, input, { action: 'status', status: 404, method: 'GET', path: `*/${transactionId}` });
      await listLag(24 * HOUR);
      await time.passUntil(charge.startedAt + 2 * MINUTE);
      await signalEvent(time, charge, { paymentId, transactionId });

      // Three empty lists over an hour prove an absence that no event speaks against.
      await time.passUntil(charge.startedAt + 6 * HOUR);
      const lists = time.requests.reads(paymentId).filter(({ path }) => path.endsWith('/charges'));
      expect(lists.length).toBeGreaterThan(3);
      const { operatorReason, ...status } = await charge.status();
      expect(status).toMatchObject({ status: 'unknown', waitingFor: 'proof', needsOperator: true });
      expect(operatorReason).toContain(transactionId);
      await listLag(0);
    });

    test('is not called absent, and ends once a read shows it', async () => {
      await time.sandbox.removeFault(hidden.id);
      const outcome = await charge.outcome();
      expect(outcome).toMatchObject({ status: 'succeeded', transactionId, evidence: { knownBy: 'poll' } });
      await expectOnLedger(time, charge, outcome);
    });

    test('is not called absent, and ends as an operator decides', async () => {
      await listLag(24 * HOUR);
      const decision = { ...OPERATOR, status: 'succeeded', transactionId } as const;
      await time.holdfast.settleManually(charge.input.reference, decision);
      await listLag(0);
      const outcome = await charge.outcome();
      expect(outcome).toMatchObject({ status: 'succeeded', transactionId, evidence: { knownBy: 'operator' } });
      await expectOnLedger(time, charge, outcome);
    });
  });

  test('is not called absent either when its payment is answered after all, and ends once a read shows it', async () => {
    const input = await time.input();
    const paymentId = await payAhead(input);
    const transactionId = await chargeAhead(input, paymentId);
    const charge = await startLost(input, onPayments(503));
    await plant(time, input, { action: 'status', status: 400, method: 'POST', path: '*/charges' });
    const hidden = await plant(time, input, {
      action: 'status',
      status: 404,
      method: 'GET',
      path: `*/${transactionId}`,
    });
    await listLag(24 * HOUR);
    await time.passUntil(charge.startedAt + 20 * MINUTE);
    await signalEvent(time, charge, { paymentId, transactionId });
    await time.sandbox.removeFault(charge.faultId);
    await time.passUntil(charge.startedAt + 6 * HOUR);
    await listLag(0);
    expect(await charge.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof', needsOperator: true });
    await time.sandbox.removeFault(hidden.id);
    const outcome = await charge.outcome();
    expect(outcome).toMatchObject({ status: 'succeeded', paymentId, transactionId });
    await expectOnLedger(time, charge, outcome);
  });
});

describe('credentials that the reads are refused with', () => {
  test('call an operator, who is not called any more once a read of the pending charge is answered', async () => {
    const input = await time.input();
    await plant(time, input, { action: 'result', status: 'Pending', path: '*/charges' });
    const rejected = await plant(time, input, { action: 'status', method: 'GET', status: 401 });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 2 * MINUTE);
    await expectOperatorCalled(charge, true);

    await time.sandbox.removeFault(rejected.id);
    await time.passUntil(charge.startedAt + 30 * MINUTE);
    expect(await charge.status()).toMatchObject({ status: 'pending', waitingFor: 'settlement' });
    await expectOperatorCalled(charge, false);

    const again = await plant(time, input, { action: 'status', method: 'GET', status: 401 });
    await time.passUntil(charge.startedAt + 3 * HOUR);
    await expectOperatorCalled(charge, true);
    await time.sandbox.removeFault(again.id);
    const { transactionId = '' } = await charge.status();
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    await expectOnLedger(time, charge, await charge.outcome());
  });

  test('call an operator, who is not called any more once the list that is to prove an absence is answered', async () => {
    const input = await time.input();
    for (const status of [503, 400])
      await plant(time, input, { action: 'status', method: 'POST', path: '*/charges', status, times: 1 });
    const rejected = await plant(time, input, { action: 'status', method: 'GET', status: 401 });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 10 * MINUTE);
    await expectOperatorCalled(charge, true);

    await time.sandbox.removeFault(rejected.id);
    await time.passUntil(charge.startedAt + 40 * MINUTE);
    expect(await charge.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof' });
    await expectOperatorCalled(charge, false);
    await expectOnLedger(time, charge, await charge.outcome());
  });

  /** Where the flow tells it, and where operators look for such flows. */
  async function expectOperatorCalled(charge: StartedCharge, called: boolean): Promise<void> {
    const { needsOperator, operatorReason = '' } = await charge.status();
    const { searchAttributes } = await time.client.workflow.getHandle(charge.workflowId).describe();
    expect({ needsOperator, listed: searchAttributes['NeedsOperator'], operatorReason }).toEqual({
      needsOperator: called,
      listed: [called],
      operatorReason: called ? expect.stringContaining('rejects the credentials of business unit "default"') : '',
    });
  }
});
