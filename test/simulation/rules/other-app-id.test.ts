import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { half } from '../../support/counts.js';
import {
  begin,
  beginActions,
  beginHeld,
  beginHold,
  ledgerRows,
  reviewedInput,
  SPECS,
} from '../../support/virtual-flows.js';
import { answers, beginFlow, DAY, HOUR, inputOf, MINUTE, sharedTime } from './context.js';

const OTHER = { appId: 'another-app', privateKey: 'another-private-key', riskUnit: 'default' };

const time = sharedTime();

/** What is left of the workers: one for which the name of the unit means another app id, whose keys the service takes. */
async function onlyAnotherApp(): Promise<void> {
  await time.sandbox.putBusinessUnit({ app_id: OTHER.appId, private_key: OTHER.privateKey });
  for (const worker of time.simulation.workers) worker.kill();
  time.simulation.startWorker({
    env: { HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: OTHER }) },
  });
}

function theFirstAgain(more?: object): void {
  for (const worker of time.simulation.workers) worker.kill();
  const env = { HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: { ...DEFAULT_UNIT, ...more } }) };
  time.simulation.startWorker(more && { env });
}

test('a worker whose unit means another app id answers no command for a payment of the first one', async () => {
  const hold = await beginHeld(time);
  const { paymentId } = await hold.status();
  await onlyAnotherApp();
  const { answer } = await hold.command('capture', { commandId: 'one' });
  await time.passUntil((await time.now()) + 5 * MINUTE);
  expect(await ledgerRows(time, paymentId)).toEqual(['authorization Succeed 6000 USD']);
  theFirstAgain();
  expect(await answer).toMatchObject({ status: 'succeeded' });
  expect(await hold.outcome()).toMatchObject({ status: 'captured' });
  expect(await ledgerRows(time, paymentId)).toEqual(['authorization Succeed 6000 USD', 'capture Succeed 6000 USD']);
});

test('nor does it prove by what it does not find that nothing can be refunded', async () => {
  const hold = await beginHold(time, { amount: 20_000, captureMode: 'auto' });
  const { paymentId = '' } = await hold.outcome();
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: hold.reference });
  expect(await actions.ask('refund', { commandId: 'first', amount: 6_000 })).toMatchObject({ status: 'succeeded' });
  await onlyAnotherApp();
  const { answer } = await actions.command('refund', { commandId: 'second', amount: 7_000 });
  await time.passUntil((await time.now()) + 5 * MINUTE);
  theFirstAgain();
  expect(await answer).toMatchObject({ status: 'succeeded', amount: 7_000 });
});

test('nor does it answer what the first command of a payment asks for, where another one has read the payment', async () => {
  const hold = await beginHold(time, { amount: 20_000, captureMode: 'auto' });
  const { paymentId = '' } = await hold.outcome();
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: hold.reference });
  // So the list is asked for again, alone.
  await time.sandbox.addFault({ ...answers(503, 'GET', `/payments/${paymentId}/captures`), times: 1 });
  const listed = time.hold('listCaptures');
  const { answer } = await actions.command('refund', { commandId: 'first', amount: 6_000 });
  await listed.reached;
  await onlyAnotherApp();
  listed.release();
  await time.passUntil((await time.now()) + 5 * MINUTE);
  theFirstAgain();
  expect(await answer).toMatchObject({ status: 'succeeded', amount: 6_000 });
});

const WRONG = expect.stringMatching(
  /business unit "default" can't be used: .* made under test\/\S+, and for this worker .* test\/another-app; give every worker/,
);

test('and calls an operator who is told what is set wrongly; set right, the flow goes on by itself', async () => {
  const hold = await beginHeld(time);
  const { paymentId } = await hold.status();
  await onlyAnotherApp();
  const { answer } = await hold.command('capture', { commandId: 'one' });
  const flow = { workflowId: hold.workflowId };
  await time.passUntil((await time.now()) + 5 * MINUTE);
  expect(await hold.status()).toMatchObject({ needsOperator: true, operatorReason: WRONG });
  expect(await time.holdfast.explain(flow)).not.toContain('rejects our credentials');
  await time.passUntil((await time.now()) + HOUR);
  expect(await hold.status()).toMatchObject({ status: 'capturing', needsOperator: true, operatorReason: WRONG });
  theFirstAgain();
  await time.passUntil((await time.now()) + 20 * MINUTE);
  expect(await answer).toMatchObject({ status: 'succeeded' });
  expect(await hold.status()).toMatchObject({ status: 'captured', needsOperator: false });
  expect(await ledgerRows(time, paymentId)).toEqual(['authorization Succeed 6000 USD', 'capture Succeed 6000 USD']);
});

test('so does a flow whose charge pends, or whose answer was lost', async () => {
  await time.input();
  const pending = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [
    { action: 'result', status: 'Pending', path: '*/charges' },
  ]);
  const lost = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [
    { action: 'drop_reply', method: 'POST', path: '*/charges' },
    { action: 'refuse', method: 'POST', path: '*/charges' },
  ]);
  await time.passUntil((await time.now()) + 500);
  await onlyAnotherApp();
  await time.passUntil((await time.now()) + 2 * HOUR);
  expect(await pending.status()).toMatchObject({ status: 'pending', needsOperator: true, operatorReason: WRONG });
  expect(await lost.status()).toMatchObject({ needsOperator: true, operatorReason: WRONG });
  const { transactionId = '' } = await pending.status();
  await time.sandbox.complete(transactionId, { status: 'Succeed' });
  theFirstAgain();
  await time.passUntil((await time.now()) + 2 * HOUR);
  expect(await pending.outcome()).toMatchObject({ status: 'succeeded' });
  expect(await lost.outcome()).toMatchObject({ status: 'succeeded' });
});

describe('a read that only a person can mend is made again every quarter of an hour, and takes the flag away', () => {
  const FLAGGED = {
    needsOperator: true,
    operatorReason: expect.stringMatching(/can't be used|rejects the credentials/),
  };

  test('while money is held', async () => {
    const hold = await beginHeld(time);
    await onlyAnotherApp();
    await hold.event({ eventType: 'payment.payment.update', trusted: false });
    await time.passUntil((await time.now()) + HOUR);
    expect(await hold.status()).toMatchObject({ status: 'authorized', ...FLAGGED });
    theFirstAgain();
    await time.passUntil((await time.now()) + 16 * MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
    expect(await hold.ask('void')).toMatchObject({ status: 'succeeded' });
  });

  test('and what was done to it meanwhile is seen', async () => {
    const hold = await beginHeld(time);
    const { paymentId = '' } = await hold.status();
    const { id } = await time.sandbox.addFault(answers(401, 'GET', `/payments/${paymentId}`));
    await hold.event({ eventType: 'payment.payment.update', trusted: false });
    await time.passUntil((await time.now()) + HOUR);
    expect(await hold.status()).toMatchObject({ status: 'authorized', ...FLAGGED });
    const { data } = await time.provider.createCapture(paymentId, {}, { idempotencyKey: randomUUID() });
    await time.sandbox.removeFault(id);
    await time.passUntil((await time.now()) + 16 * MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'captured', needsOperator: false });
    expect(await hold.outcome()).toMatchObject({ transactionId: data.id });
  });

  test('while a charge pends, or a review is open', async () => {
    await time.input();
    await time.sandbox.settings({ pendingMs: 7 * DAY });
    const charge = await inputOf(time, 'charge');
    const pending = await beginFlow(time, 'charge', charge, [
      { action: 'result', status: 'Pending', path: '*/charges' },
    ]);
    const input = await reviewedInput(time, { risk: { reviewTimeLimit: '3 days' } });
    const review = await begin(time, SPECS.authorize(input));
    await time.passUntil((await time.now()) + 3 * HOUR);
    expect(await review.status()).toMatchObject({ status: 'underReview' });
    await onlyAnotherApp();
    await time.passUntil((await time.now()) + 70 * MINUTE);
    for (const flow of [pending, review]) expect(await flow.status()).toMatchObject(FLAGGED);
    theFirstAgain();
    await time.passUntil((await time.now()) + 16 * MINUTE);
    for (const flow of [pending, review]) expect(await flow.status()).toMatchObject({ needsOperator: false });
    await time.sandbox.settings({ pendingMs: 10_000 });
  });
});

test.each(
  half([
    ['is not asked', { reads: 'interface' }],
    ['is answered with 404', undefined],
  ] as const),
)('nor does that flag hide what a person has to do where no read tells: the list %s', async (how, unit) => {
  await time.input();
  theFirstAgain(unit);
  const { id } = await time.sandbox.addFault(answers(404, 'GET', '*/charges'));
  const lost = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [
    { action: 'drop_reply', method: 'POST', path: '*/charges', times: 1 },
    { action: 'refuse', method: 'POST', path: '*/charges' },
  ]);
  await time.passUntil((await time.now()) + HOUR);
  await onlyAnotherApp();
  await time.passUntil((await time.now()) + 30 * HOUR);
  expect(await lost.status()).toMatchObject({ status: 'unknown', needsOperator: true, operatorReason: WRONG });
  theFirstAgain(unit);
  await time.passUntil((await time.now()) + 2 * HOUR);
  expect(await lost.status()).toMatchObject({
    status: 'unknown',
    operatorReason: expect.stringMatching(`may have moved money or not: .* ${how}.* say by settleManually`),
  });
  await time.sandbox.removeFault(id);
  theFirstAgain();
});
