import { describe, expect, test } from 'vitest';
import { anotherCard, declinedFor } from '../../support/subscriptions.js';
import { braking } from './braking.js';
import { failsWith, MINUTE, OPERATOR, sharedTime } from './context.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const { brake, release } = braking(time);
const NO_FUNDS = declinedFor('insufficient_funds');
const STOLEN = declinedFor('lost_stolen_card');

/** Four weeks have room for all retries. */
const fourWeekly = async (faults: WeeklyArguments[1], ...[overrides = {}]: WeeklyArguments) =>
  await beginWeekly(time, { interval: { every: 4, unit: 'week' }, periods: 1, ...overrides }, faults);
/** The first payments of the first period are declined. */
const declinedTimes = (times: number) =>
  Object.fromEntries(Array.from({ length: times }, (_, index) => [`1.${index + 1}`, NO_FUNDS]));

async function workersAway({ reach }: Awaited<ReturnType<typeof fourWeekly>>, until: number): Promise<void> {
  await time.stopWorker();
  await reach(until);
  await time.startWorker();
  await reach(until, 13);
}

describe('a pause takes nothing of the dunning', () => {
  test('the retries that were left come on their days after it', async () => {
    const { flow, reach, tried } = await fourWeekly(declinedTimes(3));
    await reach(0);
    await flow.command('pause');
    await reach(10);
    const { open } = await flow.command('resume');
    expect(open).toMatchObject({ declines: 1 });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
    expect(await tried()).toEqual([
      '1.1 day 0 Failed 6000 EUR',
      '1.2 day 11 Failed 6000 EUR',
      '1.3 day 13 Failed 6000 EUR',
      '1.4 day 15 Succeed 6000 EUR',
    ]);
  });

  test.each([
    ['within the time in which a payment pends', 5, 8],
    ['that is longer than a payment pends', 8, 5],
  ])('%s moves the rest once only', async (_what, resumedOn, declinedOn) => {
    const { flow, reach, tried } = await fourWeekly({ ...declinedTimes(3), '1.2': { status: 'Pending' } });
    await reach(2);
    await flow.command('pause');
    for (const day of [5, 8]) {
      await reach(day);
      if (day === resumedOn) await flow.command('resume');
      const [sent] = await time.sandbox.ledger(`${flow.reference}.1.2`);
      const declined = {
        status: 'Failed',
        category: 'payment_method_declined',
        subCategory: 'insufficient_funds',
      } as const;
      if (day === declinedOn) await time.sandbox.complete(sent?.transaction_id ?? '', declined);
    }
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
    // From day 1 to day 8 nothing could be tried.
    expect((await tried()).slice(2)).toEqual(['1.3 day 10 Failed 6000 EUR', '1.4 day 12 Succeed 6000 EUR']);
  });

  test('of hours moves no day', async () => {
    const { flow, reach, tried } = await fourWeekly(declinedTimes(1));
    await reach(0);
    await flow.command('pause');
    await reach(0, 15);
    await flow.command('resume');
    await flow.ended();
    expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR', '1.2 day 1 Succeed 6000 EUR']);
  });

  test('nor where a brake had put a retry off: the pause counts once', async () => {
    const { flow, reach, tried } = await fourWeekly({ ...declinedTimes(1), '1.3': NO_FUNDS });
    await reach(0);
    await brake();
    await reach(1, 10);
    await time.passUntil((await time.now()) + MINUTE);
    expect(await flow.status()).toMatchObject({ waitingFor: 'brake' });
    await flow.command('pause');
    await release();
    await reach(10);
    await flow.command('resume');
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
    expect(await tried()).toEqual([
      '1.1 day 0 Failed 6000 EUR',
      '1.3 day 10 Failed 6000 EUR',
      '1.4 day 12 Succeed 6000 EUR',
    ]);
  });

  test('so long that the next bill leaves no room cancels nobody', async () => {
    const { flow, reach, tried } = await fourWeekly(declinedTimes(2), { periods: 2 });
    await reach(0);
    await flow.command('pause');
    await reach(25);
    await flow.command('resume');
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1, unpaidPeriods: 1 });
    expect((await tried()).slice(0, 2)).toEqual(['1.1 day 0 Failed 6000 EUR', '1.2 day 26 Failed 6000 EUR']);
  });

  test('nor of the time in which another card can be brought', async () => {
    const { flow, input, reach, tried } = await fourWeekly({ '1.1': STOLEN });
    await reach(5);
    await flow.command('pause');
    await reach(12);
    await flow.command('resume');
    await reach(13);
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card' });
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
    expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR', '1.2 day 13 Succeed 6000 EUR']);
  });
});

describe('an outage of ours takes nothing of the dunning', () => {
  test('the retries that it held up come after it', async () => {
    const context = await fourWeekly(declinedTimes(3));
    await context.reach(0);
    await workersAway(context, 9);
    expect(await context.flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
    expect(await context.tried()).toEqual([
      '1.1 day 0 Failed 6000 EUR',
      '1.2 day 9 Failed 6000 EUR',
      '1.3 day 11 Failed 6000 EUR',
      '1.4 day 13 Succeed 6000 EUR',
    ]);
  });

  test('who could bring no card meanwhile has a day for it, and only then is it given up', async () => {
    const context = await fourWeekly({ '1.1': STOLEN });
    await context.reach(0);
    await workersAway(context, 9);
    expect(await context.flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card' });
    await context.flow.command('changeCard', { token: await anotherCard(time, context.input.customerId) });
    expect(await context.flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });

    const nobody = await fourWeekly({ '1.1': STOLEN });
    await nobody.reach(0);
    await workersAway(nobody, 9);
    expect(await nobody.flow.ended()).toMatchObject({ status: 'givenUp', unpaidPeriods: 1 });
  });

  test('that lasts until the next bill cancels nobody: that bill waits for the card', async () => {
    const context = await fourWeekly({ '1.1': STOLEN }, { periods: 2 });
    await context.reach(0);
    await workersAway(context, 29);
    expect(await context.flow.status()).toMatchObject({
      waitingFor: 'card',
      subscription: { unpaidPeriods: 1, open: { period: 2 } },
    });
    await context.flow.command('cancel', { when: 'now' });
  });
});

test('a payment that pended for days uses up none of the retries either', async () => {
  const { flow, reach, tried, complete } = await fourWeekly({ '1.1': NO_FUNDS, '1.2': { status: 'Pending' } });
  await reach(9);
  const declined = { status: 'Failed', category: 'payment_method_declined' } as const;
  await complete('1.2', declined);
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
  expect(await tried()).toEqual([
    '1.1 day 0 Failed 6000 EUR',
    '1.2 day 1 Failed 6000 EUR',
    '1.3 day 11 Succeed 6000 EUR',
  ]);
});

test('a payment that pended past its period and is declined for good cancels nobody: the next bill asks for a card', async () => {
  const { flow, input, reach, tried, complete } = await beginWeekly(
    time,
    { periods: 3 },
    { '1.1': { status: 'Pending' } },
  );
  await reach(8);
  const stolen = { status: 'Failed', category: 'payment_method_declined', subCategory: 'lost_stolen_card' } as const;
  await complete('1.1', stolen);
  await reach(8, 18);
  expect(await flow.status()).toMatchObject({
    status: 'pastDue',
    waitingFor: 'card',
    subscription: { unpaidPeriods: 1 },
  });
  await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2, unpaidPeriods: 1 });
  expect(await tried()).toEqual([
    '1.1 day 0 Failed 6000 EUR',
    '2.1 day 8 Succeed 6000 EUR',
    '3.1 day 14 Succeed 6000 EUR',
  ]);
});

test('the time in which nobody knew how a payment had ended uses up none of the retries', async () => {
  const { flow, reach, tried, complete } = await fourWeekly({ '1.1': NO_FUNDS, '1.2': { status: 'Pending' } });
  await reach(1);
  await time.client.workflow.getHandle(`payment-${flow.reference}.1.2`).terminate('by accident');
  await reach(4);
  // A pause meanwhile counts once.
  await flow.command('pause');
  await reach(7);
  await flow.command('resume');
  await reach(9);
  const declined = { status: 'Failed', category: 'payment_method_declined' } as const;
  await complete('1.2', declined);
  await flow.command('settleManually', { ...OPERATOR, status: 'declined' });
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
  expect(await tried()).toEqual([
    '1.1 day 0 Failed 6000 EUR',
    '1.2 day 1 Failed 6000 EUR',
    '1.3 day 11 Succeed 6000 EUR',
  ]);
});

test('another card that comes while a bill is about to be given up is tried', async () => {
  const { flow, input, reach, tried } = await fourWeekly({ '1.1': STOLEN });
  await reach(1);
  const looking = time.hold('readAttempt');
  await reach(8);
  await looking.reached;
  const given = flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
  await time.passUntil((await time.now()) + 10_000);
  looking.release();
  await given;
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
  expect(await tried()).toHaveLength(2);
});

test('a card that was declined for good is not tried again by giving it as a new one', async () => {
  const { flow, input, reach, tried } = await fourWeekly({ '1.1': STOLEN });
  await reach(1);
  await expect(flow.command('changeCard', { token: input.token })).rejects.toMatchObject(
    failsWith('StateConflict', 'this very card'),
  );
  expect(await tried()).toHaveLength(1);
  await flow.command('cancel', { when: 'now' });
});

describe('after a failure that nobody has confirmed', () => {
  const doubtful = async () => {
    const unconfirmed = { category: 'provider_network_error' };
    const context = await fourWeekly({ '1.1': unconfirmed });
    await context.reach(0, 13);
    expect(await context.flow.status()).toMatchObject({
      status: 'pastDue',
      waitingFor: 'operator',
      needsOperator: true,
    });
    return context;
  };

  test('billNow is asked for a second yes: that payment may have taken the money', async () => {
    const { flow, tried } = await doubtful();
    await expect(flow.command('billNow', { period: 1 })).rejects.toMatchObject(
      failsWith('StateConflict', 'confirmRisk'),
    );
    await expect(flow.command('billNow', { period: 1, confirmRisk: true })).rejects.toMatchObject(
      failsWith('InvalidInput', 'who: is needed'),
    );
    expect(await tried()).toHaveLength(1);
    await flow.command('billNow', { period: 1, confirmRisk: true, ...OPERATOR });
    expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR', '1.2 day 0 Succeed 6000 EUR']);
    const { lastBilled } = await flow.ended();
    expect(lastBilled?.confirmedRisks).toEqual([
      { payment: `${flow.reference}.1.1`, ...OPERATOR, at: expect.any(String) },
    ]);
  });

  test('what is found out about it needs none', async () => {
    const { flow, tried } = await doubtful();
    await flow.command('settleManually', { ...OPERATOR, status: 'declined' });
    await flow.command('billNow', { period: 1 });
    expect((await flow.ended()).lastBilled).not.toHaveProperty('confirmedRisks');
    expect(await tried()).toHaveLength(2);
  });
});

test('a subscription that ends with a bill given up accounts for what came due while that pended', async () => {
  const dunning = { onGivenUp: 'cancel' as const, maxAttempts: 1 };
  const { flow, reach, tried, complete } = await beginWeekly(time, { dunning }, { '1.1': { status: 'Pending' } });
  await reach(15);
  await complete('1.1', { status: 'Failed', category: 'payment_method_declined', subCategory: 'insufficient_funds' });
  expect(await flow.ended()).toMatchObject({ status: 'givenUp', unpaidPeriods: 1, missedPeriods: 2 });
  expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR']);
});

test('but not for the period that is due when its bill is given up', async () => {
  const { flow } = await beginWeekly(time, { dunning: { onGivenUp: 'cancel' } }, { '1.1': STOLEN });
  expect(await flow.ended()).toMatchObject({ status: 'givenUp', unpaidPeriods: 1, missedPeriods: 0 });
});
