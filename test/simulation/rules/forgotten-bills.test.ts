import { describe, expect, test } from 'vitest';
import { declinedFor } from '../../support/subscriptions.js';
import { OPERATOR, sharedTime } from './context.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);
const NO_FUNDS = declinedFor('insufficient_funds');
const FOUR_WEEKS = { interval: { every: 4, unit: 'week' as const } };

describe('where Temporal has forgotten the first payment of a bill, and knows a later one', () => {
  const YEARLY = { interval: { every: 1, unit: 'year' as const } };

  test.each([
    ['the bill is not charged again', YEARLY, 40, 45],
    ['its period is not called missed once the next one is due', FOUR_WEEKS, 20, 30],
  ])('after a reset %s', async (_what, interval, resumed, day) => {
    const { flow, reach, tried, beginAgain } = await weekly(interval, { '1.1': NO_FUNDS });
    await reach(0);
    await flow.command('pause');
    await reach(resumed);
    await flow.command('resume');
    await reach(day);
    const onLedger = await tried();
    expect(onLedger.slice(0, 2)).toEqual(['1.1 day 0 Failed 6000 EUR', `1.2 day ${resumed + 1} Succeed 6000 EUR`]);
    time.simulation.engine.forget(`payment-${flow.reference}.1.1`);
    await beginAgain();
    await reach(day + 2);
    expect(await tried()).toEqual(onLedger);
    expect(await flow.status()).toMatchObject({
      status: 'active',
      subscription: { billedPeriods: onLedger.length - 1, missedPeriods: 0, unpaidPeriods: 0 },
    });
    await flow.command('cancel', { when: 'now' });
  });

  test('it is not tried once more before a person has looked: it may have been given up', async () => {
    const { flow, reach, tried, beginAgain } = await weekly(
      { ...FOUR_WEEKS, dunning: { onGivenUp: 'continue' }, periods: 2 },
      Object.fromEntries([1, 2, 3, 4, 5].map((number) => [`1.${number}`, NO_FUNDS])),
    );
    await reach(9);
    const onLedger = await tried();
    expect(onLedger).toHaveLength(5);
    time.simulation.engine.forget(`payment-${flow.reference}.1.1`);
    await beginAgain();
    await reach(12);
    expect(await tried()).toEqual(onLedger);
    expect(await flow.status()).toMatchObject({
      status: 'paused',
      operatorReason: expect.stringContaining(
        'period 1 was tried before a reset, and Temporal has forgotten its first',
      ),
      subscription: { open: { attempts: 5 } },
    });
    await flow.command('resume', { missedPeriods: 'billAll' });
    await flow.worksOn();
    expect((await tried()).at(-1)).toBe('1.6 day 12 Succeed 6000 EUR');
    await flow.command('cancel', { when: 'now' });
  });
});

test('a payment that a reset follows, and that Temporal no longer has, is not waited for: a person is asked', async () => {
  const { flow, reach, complete, beginAgain } = await weekly({}, { '1.1': { status: 'Pending' } });
  await reach(0);
  await beginAgain();
  const payment = `payment-${flow.reference}.1.1`;
  await time.client.workflow.getHandle(payment).terminate('by mistake');
  time.simulation.engine.forget(payment);
  await reach(1);
  expect(await flow.status()).toMatchObject({
    status: 'pastDue',
    waitingFor: 'operator',
    operatorReason: expect.stringContaining(
      "1.1 can't be followed (Temporal knows nothing of it any more); look",
    ) as unknown,
  });
  await complete('1.1', { status: 'Succeed' });
  await flow.command('settleManually', { ...OPERATOR, status: 'succeeded' });
  await flow.worksOn();
  expect(await flow.status()).toMatchObject({ status: 'active', subscription: { billedPeriods: 1 } });
  await flow.command('cancel', { when: 'now' });
});
