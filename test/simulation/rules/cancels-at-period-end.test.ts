import { describe, expect, test } from 'vitest';
import type { SubscriptionEnded } from '../../../src/contract/subscription-commands.js';
import { resetToEachTask, resetToFirstTask } from '../../support/resets.js';
import { anotherCard, declinedFor, inRome, later } from '../../support/subscriptions.js';
import { failsWith, HOUR, OPERATOR, sharedTime } from './context.js';
import { beginWeekly, engineOf, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);
const NO_FUNDS = declinedFor('insufficient_funds');
const PENDS = { '1.1': { status: 'Pending' } } as const;

describe('a cancel at the end of the period over bills that are left', () => {
  const paidOn = (...days: number[]) => days.map((day) => `${day / 7 + 1}.1 day ${day} Succeed 6000 EUR`);

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
        await flow.command('cancel', { when: 'periodEnd' });
        await flow.command('pause');
        await reach(13, 23);
        await flow.command('resume');
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

describe('a reset of one that was cancelled at the end of its period', () => {
  /** The third run made it, after the cancel: what runs before have billed is not in it. */
  async function lateWith(faults: Readonly<Record<string, object>>) {
    const one = await weekly({ missedPeriods: 'billAll' }, { '1.1': { status: 'Pending' }, ...faults });
    const { flow, reach, complete } = one;
    await reach(16);
    await flow.command('cancel', { when: 'periodEnd' });
    await reach(17, 9);
    await complete('1.1', { status: 'Succeed' });
    await reach(19);
    return one;
  }

  test('counts what the run before has billed, and calls only the others missed', async () => {
    const { flow, reach, tried } = await lateWith({});
    const billed = ['1.1 day 0', '2.1 day 17', '3.1 day 17'].map((bill) => `${bill} Succeed 6000 EUR`);
    expect(await tried()).toEqual(billed);
    await reach(23);
    const [, second] = runIds(flow.workflowId);
    await resetToFirstTask(time.client, flow.workflowId, [], second);
    expect(await endedAgain(flow)).toMatchObject({ status: 'cancelled', billedPeriods: 3, missedPeriods: 0 });
    expect(await tried()).toEqual(billed);
  });

  test('follows what the run before has left pending', async () => {
    const { flow, reach, tried, complete } = await lateWith({ '2.1': { status: 'Pending' } });
    await reach(23);
    const [, second] = runIds(flow.workflowId);
    await resetToFirstTask(time.client, flow.workflowId, [], second);
    await reach(25);
    expect(await flow.status()).toMatchObject({ subscription: { open: { period: 2 } } });
    // The end has begun: nobody is told that it is taken back.
    await expect(flow.command('cancel', { when: 'undo' })).rejects.toMatchObject(failsWith('StateConflict', 'it ends'));
    await complete('2.1', { status: 'Succeed' });
    expect(await endedAgain(flow)).toMatchObject({ status: 'cancelled', billedPeriods: 2, missedPeriods: 1 });
    expect(await tried()).toHaveLength(2);
  });

  test.each([
    ['while a bill is past due', {}, { '1.1': NO_FUNDS }],
    ['in the last period', { periods: 1 }, {}],
    ['while nothing is due', {}, {}],
  ] as const)('to each of its tasks goes on from there: %s', async (_when, input, faults) => {
    const { flow, reach, tried } = await weekly(input, faults);
    await reach(0);
    await flow.command('cancel', { when: 'periodEnd' });
    const ended = await flow.ended();
    const billed = await tried();
    await reach(9);
    const look = async (): Promise<void> => {
      await time.passUntil((await time.now()) + HOUR);
      const { status, billedPeriods } = await endedAgain(flow);
      expect({ status, billedPeriods }).toEqual({ status: ended.status, billedPeriods: ended.billedPeriods });
    };
    const last = runIds(flow.workflowId).at(-1);
    expect(await resetToEachTask(engineOf(time), flow.workflowId, look, undefined, last)).toBeGreaterThan(1);
    expect(await tried()).toEqual(billed);
  });

  test('calls nothing missed after a payment of which nobody knows what it did', async () => {
    const { flow, reach, complete } = await lateWith({ '2.1': { status: 'Pending' } });
    await time.client.workflow.getHandle(`payment-${flow.reference}.2.1`).terminate('by mistake');
    await flow.worksOn();
    await flow.command('settleManually', { status: 'succeeded', ...OPERATOR });
    await reach(20);
    expect(await flow.status()).toMatchObject({ subscription: { billedPeriods: 3 } });
    await reach(23);
    const [, second] = runIds(flow.workflowId);
    await resetToFirstTask(time.client, flow.workflowId, [2], second);
    const { missedPeriods, reason } = await endedAgain(flow);
    expect({ missedPeriods }).toEqual({ missedPeriods: 0 });
    expect(reason).toContain('nobody has looked what became of its periods from 3 to 3');
    await complete('2.1', { status: 'Succeed' });
  });

  test('long before the cancel leaves that one as it is', async () => {
    const { flow, input, reach, beginAgain } = await weekly();
    await reach(1);
    await beginAgain();
    await reach(8);
    await flow.command('pause');
    await reach(23);
    const at = new Date(inRome(later(input.anchor, 28))).toISOString();
    expect(await flow.command('cancel', { when: 'periodEnd' })).toMatchObject({ status: 'paused', endsAt: at });
    await reach(26);
    expect(await flow.status()).toMatchObject({ status: 'paused' });
    expect(await endedAgain(flow)).toMatchObject({ billedPeriods: 2, missedPeriods: 2 });
  });
});

/** What the latest run has come to: a reset has ended the one that was started. */
async function endedAgain({ workflowId }: { workflowId: string }): Promise<SubscriptionEnded> {
  return (await time.client.workflow.getHandle(workflowId).result()) as SubscriptionEnded;
}

function runIds(workflowId: string): string[] {
  return [...time.simulation.engine.all()]
    .filter(({ start }) => start.workflowId === workflowId)
    .map(({ start }) => start.runId);
}
