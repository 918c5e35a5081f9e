import { beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginActions, beginHeld, beginHold, ledgerRows } from '../../support/virtual-flows.js';
import {
  answers,
  beginFlow,
  DAY,
  DONE,
  failsWith,
  FLOW_TYPES,
  type FlowType,
  HOUR,
  inputOf,
  lostReply,
  MINUTE,
  OPERATOR,
  sharedTime,
} from './context.js';

const time = sharedTime();
beforeAll(async () => {
  await time.sandbox.putBusinessUnit({ app_id: 'holdfast-sandbox', profile: { offers: 'interface' } });
});

/** The first operation of each flow that moves money. */
const FIRST: Readonly<Record<FlowType, string>> = {
  charge: '*/charges',
  authorizeAndCapture: '*/authorizations',
  credit: '*/credits',
  storeCard: '*/charges',
  analyseRisk: '*/risk-analyses',
};
/** The short window of a CVV. */
const WINDOW = 2.5 * HOUR;
const GARBAGE = { action: 'garbage', method: 'POST', after: true } as const;

async function liftFaults(): Promise<void> {
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
}

describe('where nothing is offered but what the interface names', () => {
  test.each(FLOW_TYPES)('a %s whose first replies are lost does all once', async (type) => {
    const flow = await beginFlow(time, type, await inputOf(time, type), [
      lostReply('/payments'),
      lostReply(FIRST[type], 2),
      lostReply('*/captures', 2),
    ]);
    const outcome = await flow.outcome();
    expect(outcome).toMatchObject({ status: expect.stringMatching(/succeeded|captured|stored|approve/) });
    expect(await movements(time, flow.reference)).toEqual(DONE[type]);
  });

  test.each(['charge', 'authorizeAndCapture', 'credit'] as const)(
    'a %s whose reply nobody could read is asked for again under its key, once its list has been refused for 15 min',
    async (type) => {
      const flow = await beginFlow(time, type, await inputOf(time, type), [
        { ...GARBAGE, path: FIRST[type], times: 1 },
      ]);
      await time.passUntil(flow.startedAt + 45 * MINUTE);
      expect(await flow.outcome()).toMatchObject({ status: expect.stringMatching(/succeeded|captured/) });
      expect(await time.now()).toBeLessThan(flow.startedAt + HOUR);
      expect(await movements(time, flow.reference)).toEqual(DONE[type]);
    },
  );

  test.each([
    ['charge', 404],
    ['credit', 501],
  ] as const)(
    'a %s without an answer for its whole window: an operator is asked at its end, and nobody says "not executed" (%i)',
    async (type, status) => {
      const { paymentMethod } = await time.input({ cvv: '737' });
      const flow = await beginFlow(time, type, await inputOf(time, type, { paymentMethod }), [
        lostReply(FIRST[type]),
        answers(503, 'POST', FIRST[type]),
        answers(status, 'GET', FIRST[type]),
      ]);
      await time.passUntil(flow.startedAt + WINDOW - MINUTE);
      expect(await flow.status()).toMatchObject({ needsOperator: false });
      await time.passUntil(flow.startedAt + WINDOW + MINUTE);
      const asked = await flow.status();
      expect(asked).toMatchObject({ status: 'unknown', needsOperator: true });
      expect(asked.operatorReason).toBe(
        `the ${type} may have moved money or not: no answer came, its key may not be sent any more, and the service ` +
          `offers no read that tells (the list of ${type}s is answered with ${status}); look in its back office for a ` +
          `${type} over 60.00 USD with reconciliation id "${flow.reference}" under payment ${asked.paymentId}, and say by settleManually what is there`,
      );
      await time.passUntil(flow.startedAt + DAY);
      expect((await flow.status()).outcome).toBeUndefined();
      expect(await movements(time, flow.reference)).toEqual(DONE[type]);
      await time.holdfast.settleManually(flow.reference, { ...OPERATOR, status: 'succeeded' });
      expect(await flow.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'operator' } });
      await liftFaults();
    },
  );
});

/** What is asked first waits until the lists have been refused for a quarter of an hour. */
async function answered<Answer>(asked: Promise<{ answer: Promise<Answer> }>) {
  const { answer } = await asked;
  await time.passUntil((await time.now()) + 30 * MINUTE);
  return await answer;
}

/** A charge that has ended, and the flow of what is done to its payment. */
async function charged(type: 'charge' | 'authorizeAndCapture' = 'charge') {
  const flow = await beginFlow(time, type, await inputOf(time, type));
  const { paymentId = '' } = await flow.outcome();
  const paymentReference = flow.reference;
  return {
    paymentId,
    workflowId: flow.workflowId,
    actions: await beginActions(time, { paymentId, currency: 'USD', paymentReference }),
  };
}

describe('a payment whose flow has ended, of which the service lists nothing', () => {
  test.each(['charge', 'authorizeAndCapture'] as const)(
    'is refunded by what its flow (%s) and its commands are known to have done, and no more than that',
    async (type) => {
      const { paymentId, actions } = await charged(type);
      const part = actions.command('refund', { commandId: 'one', amount: 5_000 });
      expect(await answered(part)).toMatchObject({ status: 'succeeded', amount: 5_000 });
      await expect(actions.ask('refund', { commandId: 'two', amount: 5_000 })).rejects.toMatchObject(
        failsWith('InvalidInput', '50.00 USD is more than the 10.00 USD left to refund'),
      );
      expect(await actions.ask('refund', { commandId: 'one', amount: 5_000 })).toMatchObject({ amount: 5_000 });
      await expect(actions.ask('void', { commandId: 'three' })).rejects.toMatchObject(failsWith('StateConflict'));
      expect(await ledgerRows(time, paymentId)).toEqual([...DONE[type], 'refund Succeed 5000 USD']);
    },
  );

  test('is refused where another program made it: nobody can tell what may be moved', async () => {
    const made = await time.provider.createPayment({ amount: 6_000, currency: 'USD' }, { idempotencyKey: 'elsewhere' });
    const actions = await beginActions(time, { paymentId: made.data.id, currency: 'USD' });
    await expect(answered(actions.command('refund', { commandId: 'one' }))).rejects.toMatchObject(
      failsWith('StateConflict', 'nothing was sent: the service offers no lists of what was done to payment'),
    );
  });

  test('of another program is refused also to who asks once an hour and never waits for long', async () => {
    const made = await time.provider.createPayment({ amount: 6_000, currency: 'USD' }, { idempotencyKey: 'seldom' });
    const payment = { payment: made.data.id, currency: 'USD', businessUnit: 'default' };
    const ask = () => time.holdfast.refund({ payment, commandId: 'one' }, { waitFor: '1 minute' });
    expect(await ask()).toMatchObject({ status: 'unknown' });
    await time.passUntil((await time.now()) + HOUR);
    await expect(ask()).rejects.toMatchObject({
      type: 'StateConflict',
      message: expect.stringContaining('nothing was sent'),
    });
  });

  test('is refused where a run of its commands has ended without leaving what it did', async () => {
    const { paymentId, actions } = await charged();
    await answered(actions.command('refund', { commandId: 'one', amount: 5_000 }));
    await time.client.workflow.getHandle(actions.workflowId).terminate('by mistake');
    const reference = (await time.sandbox.ledger()).find(({ payment_id: id }) => id === paymentId)?.reconciliation_id;
    const again = await beginActions(time, { paymentId, currency: 'USD', paymentReference: reference ?? '' });
    await expect(answered(again.command('refund', { commandId: 'two' }))).rejects.toMatchObject(
      failsWith('StateConflict', 'an earlier run of its commands ended without leaving what it did'),
    );
    expect(await ledgerRows(time, paymentId)).toEqual([...DONE.charge, 'refund Succeed 5000 USD']);
  });

  test('is refused where the flow that made it was reset, and that run ended without leaving what it did', async () => {
    const { actions, paymentId, workflowId } = await charged();
    await resetToFirstTask(time.client, workflowId);
    await time.client.workflow.getHandle(workflowId).terminate('by mistake');
    await expect(answered(actions.command('refund', { commandId: 'one' }))).rejects.toMatchObject(
      failsWith('StateConflict', `a run of "${workflowId}" ended without leaving what it did`),
    );
    expect(await ledgerRows(time, paymentId)).toEqual(DONE.charge);
  });

  test('is refused where its charge has succeeded although a void of it has succeeded too', async () => {
    const unit = async (profile: object) => await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile });
    await unit({ offers: 'all', pending_void: 'too_late' });
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card: CARDS.pendsThenSucceeds }));
    await time.passUntil(flow.startedAt + 2_000);
    await flow.command('void', { commandId: 'released' });
    const { paymentId = '', ...outcome } = await flow.outcome();
    expect(outcome).toMatchObject({ status: 'succeeded', despiteVoid: { status: 'succeeded' } });
    await unit({ offers: 'interface', pending_void: 'refused' });
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: flow.reference });
    await expect(answered(actions.command('refund', { commandId: 'one' }))).rejects.toMatchObject(
      failsWith('StateConflict', 'succeeded although a void of it has succeeded as well'),
    );
    expect(await ledgerRows(time, paymentId)).toEqual([...DONE.charge, 'void Succeed 6000 USD']);
  });
});
describe('a hold of which the service shows no state', () => {
  test('is captured after hours, at once and without a look', async () => {
    const hold = await beginHeld(time);
    await time.passUntil(hold.startedAt + 5 * HOUR);
    expect(await hold.ask('capture')).toMatchObject({ status: 'succeeded', evidence: { looked: false } });
    expect(await movements(time, hold.reference)).toEqual(DONE.authorizeAndCapture);
  });

  test('is voided at its deadline', async () => {
    const hold = await beginHeld(time);
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'deadline' });
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
  });
});

describe('what pends', () => {
  test('as a charge is settled by a read, which the interface names', async () => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card: CARDS.pendsThenSucceeds }));
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
  });

  test('as an authorization is settled by its event alone; without one a person is asked after a day', async () => {
    const hold = await beginHold(time, {}, { card: CARDS.pendsThenSucceeds });
    await time.passUntil(hold.startedAt + DAY + HOUR);
    expect(await hold.status()).toMatchObject({
      status: 'pending',
      operatorReason: expect.stringMatching(
        /^no final answer for 24 hours to the authorization \S+, and the service offers no read of the authorization$/,
      ),
    });
    const { transactionId } = await hold.status();
    await hold.event({ eventType: 'payment.authorization.update', transactionId, status: 'Succeed', amount: 6_000 });
    await time.passUntil(hold.startedAt + DAY + 2 * HOUR);
    expect(await hold.status()).toMatchObject({ status: 'authorized' });
    await hold.ask('void');
  });
});

describe('a business unit whose service takes no notice of amounts in captures and refunds', () => {
  const UNIT = { ...DEFAULT_UNIT, namedAmounts: 'ignored', reads: 'interface' };

  test('refuses a part before anything is sent, and moves the whole', async () => {
    await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { sums: 'ignored' } });
    await time.stopWorker();
    const env = { HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: UNIT }) };
    const worker = time.simulation.startWorker({ env });
    const hold = await beginHeld(time);
    await expect(hold.ask('capture', { commandId: 'part', amount: 5_000 })).rejects.toMatchObject(
      failsWith('InvalidInput', 'amount: 5000 minor units are a part of the 6000 of the payment'),
    );
    expect(await hold.ask('capture', { commandId: 'whole', amount: 6_000 })).toMatchObject({ amount: 6_000 });
    const { paymentId = '' } = await hold.outcome();
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: hold.reference });
    await expect(actions.ask('refund', { commandId: 'part', amount: 5_000 })).rejects.toMatchObject(
      failsWith('InvalidInput', 'amount: 5000 minor units are a part'),
    );
    expect(await ledgerRows(time, paymentId)).toEqual(DONE.authorizeAndCapture);
    // By the unit's setting no list is asked for, so that nothing waits until it has been refused three times.
    expect(await actions.ask('refund', { commandId: 'back' })).toMatchObject({ status: 'succeeded', amount: 6_000 });
    expect(await ledgerRows(time, paymentId)).toEqual([...DONE.authorizeAndCapture, 'refund Succeed 6000 USD']);
    expect(time.requests.reads(paymentId)).toEqual([]);
    await worker.stop();
    await time.startWorker();
  });
});

test('a run made by a reset sends nothing there: within an hour a person is asked, and not at the end of its window', async () => {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await flow.outcome();
  await resetToFirstTask(time.client, flow.workflowId);
  await time.passUntil((await time.now()) + HOUR);
  expect(await flow.status()).toMatchObject({ status: 'unknown', needsOperator: true });
  expect(await movements(time, flow.reference)).toEqual(DONE.charge);
  await time.holdfast.settleManually(flow.reference, { ...OPERATOR, status: 'succeeded' });
  expect(await time.holdfast.status(flow.reference)).toMatchObject({ status: 'succeeded' });
});
