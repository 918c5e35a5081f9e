import { describe, expect, test } from 'vitest';
import { failsWith, sharedTime } from './scene.js';
import type { WeeklyArguments } from './weekly.js';
import { beginWeekly } from './weekly.js';

const time = sharedTime({ billing: true });

const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);

describe('refundPeriod', () => {
  test('gives back no more than the period was billed for, though the plan costs more by now', async () => {
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

  test('gives back a period whose payment the engine has forgotten, once', async () => {
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
});
