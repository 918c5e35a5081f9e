import { describe, expect, test } from 'vitest';
import { CARDS } from '../../support/charges.js';
import { anotherCard, customerWithCard, declinedFor } from '../../support/subscriptions.js';
import { firstRunOf, resetToFirstTask } from '../../support/resets.js';
import { failsWith, OPERATOR, sharedTime } from './context.js';
import { beginWeekly } from './weekly.js';

const time = sharedTime({ billing: true });
const DAILY = { interval: { every: 1, unit: 'day' as const }, billAt: '09:00' };
const daysOf = (tried: readonly string[]) => tried.map((line) => Number(/day (\d+)/.exec(line)?.[1]));
const upTo = (last: number) => Array.from({ length: last + 1 }, (_, day) => day);

describe('a declined card is tried 15 times in 30 days at most', () => {
  test('over all periods: then another one is waited for, or that the first tries are 30 days old', async () => {
    await time.input();
    const card = await customerWithCard(time, CARDS.declines);
    const { flow, input, reach, tried } = await beginWeekly(time, { ...DAILY, ...card });
    await reach(20);
    expect(daysOf(await tried())).toEqual(upTo(14));
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card', needsOperator: false });
    await expect(flow.command('billNow', { period: 21 })).rejects.toMatchObject(
      failsWith('StateConflict', 'as often as card schemes allow within 30 days'),
    );
    await reach(31);
    expect(daysOf(await tried())).toEqual([...upTo(14), 30, 31]);

    await reach(32, 8);
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await reach(33);
    const later = (await tried()).filter((line) => line.includes('Succeed'));
    expect(daysOf(later)).toEqual([32, 33]);
    expect(await flow.status()).toMatchObject({ subscription: { unpaidPeriods: 32 } });
    await flow.command('changeCard', { token: input.token });
    await reach(34);
    // The limit is the card's: it has not forgotten those of before.
    expect(daysOf(await tried()).at(-1)).toBe(34);
    await flow.command('cancel', { when: 'now' });
  });

  test('of one period, whatever its policy says: nobody is cancelled for what was not tried', async () => {
    const retryDays = Array.from({ length: 20 }, (_, day) => day + 1);
    const faults = Array.from({ length: 15 }, (_, index) => [`1.${index + 1}`, declinedFor('insufficient_funds')]);
    const { flow, input, reach, tried } = await beginWeekly(
      time,
      { interval: { every: 4, unit: 'week' }, periods: 1, dunning: { retryDays, maxAttempts: 30 } },
      Object.fromEntries(faults),
    );
    await reach(16);
    expect(daysOf(await tried())).toEqual(upTo(14));
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card' });
    const billNow = flow.command('billNow', { period: 1 });
    await expect(billNow).rejects.toMatchObject(failsWith('StateConflict', 'change the card'));
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
    expect(daysOf(await tried()).at(-1)).toBe(16);
  });
});

test('a bill that the limit of its card puts off is not said to be declined', async () => {
  const retryDays = Array.from({ length: 14 }, (_, day) => day + 1);
  const faults = Array.from({ length: 15 }, (_, index) => [`1.${index + 1}`, declinedFor('insufficient_funds')]);
  const { flow, reach, tried } = await beginWeekly(
    time,
    {
      interval: { every: 4, unit: 'week' },
      periods: 2,
      dunning: { retryDays, maxAttempts: 15, onGivenUp: 'continue' },
    },
    Object.fromEntries(faults),
  );
  await reach(29);
  expect(await tried()).toHaveLength(15);
  const said = await flow.explain();
  expect(said).toContain('not tried, since its card was declined as often as its limits allow; next try ');
  expect(said).not.toContain('attempt 1 of');
  expect(await flow.ended()).toMatchObject({ billedPeriods: 1, unpaidPeriods: 1 });
  expect(daysOf(await tried()).at(-1)).toBe(30);
});

test('what was declined before a reset counts from its own day: bills that were paid in the end do not use up the limit', async () => {
  const faults = Array.from({ length: 16 }, (_, n) => [`${n + 1}.1`, declinedFor('insufficient_funds')]);
  const { flow, reach, tried } = await beginWeekly(time, {}, Object.fromEntries(faults));
  await reach(15 * 7 + 2);
  const billed = await tried();
  expect(billed).toHaveLength(32);
  await resetToFirstTask(time.client, flow.workflowId, [], await firstRunOf(time.client, flow.workflowId));
  await reach(15 * 7 + 4);
  expect(await flow.status()).toMatchObject({
    status: 'active',
    subscription: { billedPeriods: 16, missedPeriods: 0 },
  });
  await reach(16 * 7);
  expect((await tried()).slice(32)).toEqual(['17.1 day 112 Succeed 6000 EUR']);
  await flow.command('cancel', { when: 'now' });
});

test('tries that reach no issuer for three days ask for an operator, and go on', async () => {
  const unconfirmed = Array.from({ length: 7 }, (_, n) => [`1.${n + 1}`, { category: 'provider_network_error' }]);
  const { flow, reach, tried } = await beginWeekly(
    time,
    { interval: { every: 4, unit: 'week' }, periods: 1 },
    Object.fromEntries(unconfirmed),
  );
  const seen: [number, boolean][] = [];
  await reach(0);
  const first = await time.now();
  for (let payment = 1; payment <= 7; payment += 1) {
    while ((await flow.status()).waitingFor !== 'operator') await time.passUntil((await time.now()) + 3_600_000);
    await flow.command('settleManually', { ...OPERATOR, status: 'notExecuted' });
    await flow.worksOn();
    const { needsOperator, waitingFor } = await flow.status();
    expect(waitingFor).toBe('retry');
    seen.push([Math.floor(((await time.now()) - first) / 86_400_000), needsOperator]);
  }
  expect(seen.map(([, needed]) => needed)).toEqual([false, false, false, false, false, false, true]);
  expect(seen.at(-1)?.[0]).toBe(3);
  expect(await flow.status()).toMatchObject({
    operatorReason: '7 tries in a row have reached no issuer; look at the provider',
  });
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
  expect(await tried()).toHaveLength(8);
});
