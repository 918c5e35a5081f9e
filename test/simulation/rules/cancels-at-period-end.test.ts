import { describe, expect, test } from 'vitest';
import { anotherCard, declinedFor, inRome, later } from '../../support/subscriptions.js';
import { sharedTime } from './context.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);
const NO_FUNDS = declinedFor('insufficient_funds');
const PENDS = { '1.1': { status: 'Pending' } } as const;
const paidOn = (...days: number[]) => days.map((day) => `${day / 7 + 1}.1 day ${day} Succeed 6000 EUR`);

test('a cancel at the end of the period opens no bill of the next', async () => {
  const { flow, reach, tried } = await weekly();
  await reach(1);
  await flow.command('cancel', { when: 'periodEnd' });
  const end = { status: 'cancelled', billedPeriods: 1, unpaidPeriods: 0, missedPeriods: 0 };
  expect(await flow.ended()).toMatchObject(end);
  expect(await tried()).toEqual(paidOn(0));
});

describe('a cancel at the end of the period over bills that are left', () => {
  test.each([
    ['billAll', { missedPeriods: 'billAll' }, ['2.1 day 17', '3.1 day 17'], 0],
    ['billAll in the last period', { missedPeriods: 'billAll', periods: 3 }, ['2.1 day 17', '3.1 day 17'], 0],
    ['billLatest', {}, ['3.1 day 17'], 1],
  ] as const)('bills them as %s says, and ends when it said', async (_name, input, bills, missedPeriods) => {
    const { flow, reach, tried, complete, ...of } = await weekly(input, PENDS);
    await reach(16);
    const { endsAt } = await flow.command('cancel', { when: 'periodEnd' });
    await reach(17, 9);
    await complete('1.1', { status: 'Succeed' });
    await reach(20);
    expect(await tried()).toEqual([...paidOn(0), ...bills.map((bill) => `${bill} Succeed 6000 EUR`)]);
    const { endedAt, ...end } = await flow.ended();
    expect(end).toMatchObject({ status: 'cancelled', billedPeriods: 1 + bills.length, missedPeriods });
    const overAt = inRome(later(of.input.anchor, 21));
    expect(Date.parse(endedAt)).toEqual(expect.closeTo(overAt, -5));
    expect(endsAt).toBe(new Date(overAt).toISOString());
  });

  test.each([
    ['', {}],
    [', in the last period of the plan', { periods: 3 }],
  ])('bills none of them after the end that it said%s, and counts them as missed', async (_when, plan) => {
    const { flow, reach, tried, complete } = await weekly({ missedPeriods: 'billAll', ...plan }, PENDS);
    await reach(16);
    await flow.command('cancel', { when: 'periodEnd' });
    await reach(25);
    // Again, it is no cancel of a later period.
    await flow.command('cancel', { when: 'periodEnd', commandId: 'again' });
    await complete('1.1', { status: 'Succeed' });
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1, missedPeriods: 2 });
    expect(await tried()).toEqual(paidOn(0));
  });

  test('lets a pause of weeks end it when it said, unless it is resumed or undone', async () => {
    const [left, resumed, undone] = [await weekly(), await weekly(), await weekly()];
    for (const { flow, reach } of [left, resumed, undone]) {
      await reach(1);
      await flow.command('pause');
    }
    await left.reach(16);
    const at = new Date(inRome(later(left.input.anchor, 21))).toISOString();
    for (const { flow } of [left, resumed, undone])
      expect(await flow.command('cancel', { when: 'periodEnd' })).toMatchObject({ status: 'paused', endsAt: at });
    await resumed.flow.command('resume', { missedPeriods: 'billLatest' });
    await undone.flow.command('cancel', { when: 'undo' });
    await undone.flow.command('resume');
    await undone.reach(22);
    expect(await left.flow.ended()).toMatchObject({ billedPeriods: 1, missedPeriods: 2 });
    expect(await resumed.flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 2, missedPeriods: 1 });
    expect([await left.tried(), await resumed.tried(), await undone.tried()]).toEqual([
      paidOn(0),
      [...paidOn(0), '3.1 day 16 Succeed 6000 EUR'],
      paidOn(0, 21),
    ]);
    await undone.flow.command('cancel', { when: 'now' });
  });

  test.each([2, 3])('ends a pause of weeks when it said, also in the last period of a plan of %i', async (periods) => {
    const { flow, input, reach, tried } = await weekly({ periods });
    await reach(1);
    await flow.command('pause');
    await reach(7 * periods - 5);
    const at = new Date(inRome(later(input.anchor, 7 * periods))).toISOString();
    expect(await flow.command('cancel', { when: 'periodEnd' })).toMatchObject({ status: 'paused', endsAt: at });
    await reach(7 * periods - 1);
    expect(await flow.status()).toMatchObject({ status: 'paused' });
    expect(await flow.ended()).toMatchObject({ billedPeriods: 1, missedPeriods: periods - 1 });
    expect(await tried()).toEqual(paidOn(0));
  });

  test('ends no pause in the midst of the last period because its bill is past due', async () => {
    const { flow, reach } = await weekly({ periods: 2 }, { '2.1': NO_FUNDS });
    await reach(7);
    await flow.command('pause');
    await flow.command('cancel', { when: 'periodEnd' });
    await reach(9);
    expect(await flow.status()).toMatchObject({ status: 'paused' });
    await flow.command('resume');
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 2 });
  });

  test('tries a bill no more after that end, also where billAll lets it be late', async () => {
    const { flow, reach, tried } = await weekly({ missedPeriods: 'billAll' }, { '1.1': NO_FUNDS });
    await reach(0);
    await flow.command('cancel', { when: 'periodEnd' });
    await time.stopWorker();
    await reach(8);
    await time.startWorker();
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 0, unpaidPeriods: 1 });
    expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR']);
  });
});

describe('a bill that is open when a cancelled period ends is not tried again', () => {
  const DECLINES = { ...NO_FUNDS, status: 'Failed' } as const;
  type Case = [
    name: string,
    ...given: WeeklyArguments,
    story: (one: Awaited<ReturnType<typeof weekly>>) => Promise<void>,
  ];
  const CASES: Case[] = [
    [
      'after a pause during its payment',
      {},
      { '2.1': { status: 'Pending' } },
      async ({ flow, reach, complete }) => {
        await reach(7);
        await flow.command('cancel', { when: 'periodEnd' });
        await reach(8);
        await flow.command('pause');
        await reach(16);
        await flow.command('resume');
        await reach(17);
        await complete('2.1', DECLINES);
      },
    ],
    [
      'after a pause in the last period of the plan',
      { periods: 2 },
      { '2.1': NO_FUNDS },
      async ({ flow, reach }) => {
        await reach(7);
        const { endsAt = '' } = await flow.command('cancel', { when: 'periodEnd' });
        await flow.command('pause');
        await reach(13, 23);
        const { open } = await flow.command('resume');
        expect([open?.giveUpAt, open?.nextTryAt]).toEqual([endsAt, undefined]);
      },
    ],
    [
      'with another card, once its payment was declined',
      {},
      { '2.1': { status: 'Pending' } },
      async ({ flow, input, reach, complete }) => {
        await reach(7);
        await flow.command('cancel', { when: 'periodEnd' });
        await reach(10);
        await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
        await reach(17);
        await complete('2.1', DECLINES);
      },
    ],
  ];

  test('and does not end as one that was given up, where a pause has kept it waiting for another card', async () => {
    const { flow, reach } = await weekly({ periods: 2 }, { '2.1': declinedFor('lost_stolen_card') });
    await reach(7);
    const { endsAt = '' } = await flow.command('cancel', { when: 'periodEnd' });
    await flow.command('pause');
    await reach(13, 23);
    const { open } = await flow.command('resume');
    expect(open?.giveUpAt).toBe(endsAt);
    await expect(flow.ended()).resolves.toMatchObject({ status: 'cancelled', billedPeriods: 1 });
  });

  test('unless the plan was over before the cancel, which has no end to tell then', async () => {
    const { flow, reach, tried } = await weekly({ periods: 1 }, { '1.1': NO_FUNDS });
    await reach(0);
    await flow.command('pause');
    await reach(9);
    await flow.command('resume');
    expect(await flow.command('cancel', { when: 'periodEnd' })).not.toHaveProperty('endsAt');
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
    expect((await tried()).map((row) => row.slice(0, 3))).toEqual(['1.1', '1.2']);
  });

  test.each(CASES)('%s', async (_name, input, faults, story) => {
    const one = await weekly(input, faults);
    await story(one);
    expect(await one.flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
    expect((await one.tried()).filter((row) => row.startsWith('2.'))).toHaveLength(1);
  });
});

test('what a pause has left to be billed does not move the end of a plan', async () => {
  const [short, long] = [
    await weekly({ missedPeriods: 'skip', periods: 3 }, PENDS),
    await weekly({ missedPeriods: 'skip' }, PENDS),
  ];
  for (const { flow, reach } of [short, long]) {
    await reach(1);
    await flow.command('pause');
  }
  for (const { flow, reach } of [short, long]) {
    await reach(8);
    await flow.command('resume', { missedPeriods: 'billLatest' });
  }
  for (const { flow, input, reach, complete } of [short, long]) {
    await reach(16);
    const endsAt = new Date(inRome(later(input.anchor, 21))).toISOString();
    expect(await flow.command('cancel', { when: 'periodEnd' })).toMatchObject({ endsAt });
    await complete('1.1', { status: 'Succeed' });
  }
  for (const { flow, tried } of [short, long]) {
    await flow.ended();
    expect((await tried()).map((row) => row.slice(0, 3))).toEqual(['1.1', '2.1']);
  }
});

test('a cancel after the end of a plan lets what is due be billed, or counts it as missed', async () => {
  const ended = [];
  for (const missedPeriods of ['billAll', 'billLatest'] as const) {
    const { flow, reach, complete } = await weekly({ missedPeriods, periods: 3 }, PENDS);
    await reach(25);
    await flow.command('cancel', { when: 'periodEnd' });
    await complete('1.1', { status: 'Succeed' });
    ended.push(await flow.ended());
  }
  expect(ended).toMatchObject([
    { status: 'cancelled', billedPeriods: 3, missedPeriods: 0 },
    { status: 'cancelled', billedPeriods: 2, missedPeriods: 1 },
  ]);
});

describe('a cancel of a paused one whose plan is over ends it at once', () => {
  test.each(['skip', 'billLatest'] as const)('and what the pause has left is missed: %s', async (missedPeriods) => {
    const { flow, reach, tried } = await weekly({ periods: 2, missedPeriods });
    await reach(1);
    await flow.command('pause');
    await reach(16);
    const { endsAt = '' } = await flow.command('cancel', { when: 'periodEnd' });
    expect(endsAt === '' || Date.parse(endsAt) >= (await time.now())).toBe(true);
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1, missedPeriods: 1 });
    expect(await tried()).toEqual(paidOn(0));
  });

  test('also where the pause comes after the cancel, while a payment is under way', async () => {
    const { flow, reach, complete } = await weekly({ periods: 3 }, PENDS);
    await reach(25);
    await flow.command('cancel', { when: 'periodEnd' });
    await flow.command('pause');
    await complete('1.1', { status: 'Succeed' });
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
  });
});
