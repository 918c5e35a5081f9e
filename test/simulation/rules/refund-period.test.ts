import { describe, expect, test } from 'vitest';
import { declinedFor } from '../../support/subscriptions.js';
import { beginActions } from '../../support/virtual-flows.js';
import { answers, failsWith, HOUR, MINUTE, sharedTime } from './context.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });

const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);

describe('refundPeriod', () => {
  test('refunds no more than the period was billed for, though the plan costs more by now', async () => {
    const { flow, reach, moved } = await weekly({ periods: 3 });
    await reach(1);
    await flow.command('changePlan', { amount: 9_000 });
    const asked = flow.command('refundPeriod', { period: 1, amount: 6_001 });
    await expect(asked).rejects.toMatchObject(failsWith('InvalidInput', '60.01 EUR is more than the 60.00 EUR billed'));
    const dollars = flow.command('refundPeriod', { period: 1, amount: 6_000, currency: 'USD' });
    await expect(dollars).rejects.toMatchObject(failsWith('InvalidInput', 'the subscription is over EUR, not USD'));
    expect(await flow.command('refundPeriod', { period: 1, amount: 6_000, currency: 'EUR' })).toMatchObject({
      result: { status: 'succeeded', amount: 6_000, currency: 'EUR' },
    });
    expect(await moved('1.1')).toEqual(['charge Succeed 6000 EUR', 'refund Succeed 6000 EUR']);
    await flow.command('cancel', { when: 'now' });
    await flow.ended();
  });

  test('refunds a period whose payment the engine has forgotten, once', async () => {
    const { flow, reach, moved } = await weekly({ periods: 3 });
    await reach(8);
    time.simulation.engine.forget(`payment-${flow.reference}.1.1`);
    for (let times = 0; times < 2; times += 1) {
      const answer = await flow.command('refundPeriod', { commandId: 'late', period: 1 });
      expect(answer).toMatchObject({ result: { status: 'succeeded', amount: 6_000 } });
    }
    expect(await moved('1.1')).toEqual(['charge Succeed 6000 EUR', 'refund Succeed 6000 EUR']);
    await flow.command('cancel', { when: 'now' });
  });

  test('refunds twice by two commands whose long ids differ at their end alone, and once however often one is repeated', async () => {
    const { flow, reach, moved } = await weekly({ periods: 2, amount: 12_000 });
    await reach(1);
    const long = 'r'.repeat(199);
    for (const commandId of [`${long}1`, `${long}2`, `${long}1`, `${long}2`]) {
      const answer = await flow.command('refundPeriod', { commandId, amount: 5_500 });
      expect(answer).toMatchObject({ result: { status: 'succeeded', amount: 5_500 } });
    }
    expect(await moved('1.1')).toEqual([
      'charge Succeed 12000 EUR',
      'refund Succeed 5500 EUR',
      'refund Succeed 5500 EUR',
    ]);
    await expect(flow.command('refundPeriod', { commandId: `${long}1`, amount: 5_000 })).rejects.toMatchObject(
      failsWith('ReferenceConflict'),
    );
    await flow.command('cancel', { when: 'now' });
    await flow.ended();
  });

  test('whose outcome nobody knows yet is asked about by the same command again', async () => {
    const { flow, reach, moved } = await weekly({ periods: 3 });
    await reach(1);
    const [bill] = await time.sandbox.ledger(`${flow.reference}.1.1`);
    const away = await time.sandbox.addFault(answers(503, 'POST', `/payments/${bill?.payment_id}/refunds`));
    const refund = { commandId: 'returned', period: 1 };
    expect(await flow.command('refundPeriod', refund)).toMatchObject({ result: { status: 'unknown' } });
    await time.sandbox.removeFault(away.id);
    await time.passUntil((await time.now()) + HOUR);
    expect(await flow.command('refundPeriod', refund)).toMatchObject({ result: { status: 'succeeded' } });
    expect(await moved('1.1')).toEqual(['charge Succeed 6000 EUR', 'refund Succeed 6000 EUR']);
    await flow.command('cancel', { when: 'now' });
  });

  test('that the payment takes no more commands for is given again, and then made', async () => {
    const { flow, reach, moved } = await weekly({ periods: 3, amount: 12_000 });
    await reach(1);
    const [bill] = await time.sandbox.ledger(`${flow.reference}.1.1`);
    const paymentId = bill?.payment_id ?? '';
    const away = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    const actions = await beginActions(time, { paymentId, currency: 'EUR', paymentReference: `${flow.reference}.1.1` });
    const waiting = [];
    for (let each = 1; each <= 8; each += 1)
      waiting.push(await actions.command('refund', { commandId: `other-${each}`, amount: 100 }));
    const refund = { commandId: 'returned', period: 1, amount: 5_500 };
    const again = failsWith('ProviderUnavailable', 'send the same command again, which refunds nothing twice');
    await expect(flow.command('refundPeriod', refund)).rejects.toMatchObject(again);
    await time.sandbox.removeFault(away.id);
    await time.passUntil((await time.now()) + HOUR);
    await Promise.all(waiting.map(({ answer }) => answer));
    expect(await flow.command('refundPeriod', refund)).toMatchObject({
      result: { status: 'succeeded', amount: 5_500 },
    });
    expect((await moved('1.1')).filter((line) => line === 'refund Succeed 5500 EUR')).toHaveLength(1);
    await reach(8);
    expect(await flow.status()).toMatchObject({ status: 'active' });
    await flow.command('cancel', { when: 'now' });
  });

  test('after the end is refused, and `refund` reverses the payment, by reference or by payment id', async () => {
    const { flow, moved, tried } = await weekly(
      { periods: 2, amount: 12_000 },
      { '1.1': declinedFor('insufficient_funds') },
    );
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2 });
    expect(await tried()).toHaveLength(3);
    const asked = time.holdfast.subscription.refundPeriod(flow.reference, { period: 1 });
    await expect(asked).rejects.toMatchObject({ type: 'StateConflict' });
    const payment = `${flow.reference}.1.2`;
    expect(await refunded({ payment, amount: 5_000, reference: 'return-1' })).toMatchObject({ status: 'succeeded' });
    expect(await refunded({ payment, reference: 'return-2' })).toMatchObject({ status: 'succeeded', amount: 7_000 });
    const [bill] = await time.sandbox.ledger(`${flow.reference}.2.1`);
    time.simulation.engine.forget(`payment-${flow.reference}.2.1`);
    const known = { payment: { payment: bill?.payment_id ?? '', currency: 'EUR' } };
    expect(await refunded({ ...known, reference: 'return-3' })).toMatchObject({ status: 'succeeded', amount: 12_000 });
    expect([await moved('1.2'), await moved('2.1')]).toEqual([
      ['charge Succeed 12000 EUR', 'refund Succeed 5000 EUR', 'refund Succeed 7000 EUR'],
      ['charge Succeed 12000 EUR', 'refund Succeed 12000 EUR'],
    ]);
  });
});

async function refunded(request: Parameters<typeof time.holdfast.refund>[0]) {
  const asked = time.holdfast.refund(request);
  await time.passUntil((await time.now()) + MINUTE);
  return await asked;
}
