import { expect, test } from 'vitest';
import { failsWith, sharedTime } from './context.js';
import { beginResettable, inDoubtAfter, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const weekly = async (...given: WeeklyArguments) => await beginResettable(time, ...given);

test.each([[0], [1]])(
  'a pause that a reset gives again after its end charges nothing of its time (run %i)',
  async (run) => {
    const { flow, reach, reset, tried, dayOf } = await weekly();
    await reach(run === 0 ? -1 : 1);
    await flow.command('pause', { until: dayOf(10) });
    await reach(11);
    const billed = await tried();
    expect(billed).toHaveLength(run);
    await reset(run);
    await reach(12);
    expect(await tried()).toEqual(billed);
    expect(await flow.status()).toMatchObject(inDoubtAfter('1 command (pause)'));
    await flow.command('resume', { missedPeriods: 'skip' });
    await flow.worksOn();
    expect(await tried()).toEqual(billed);
    expect(await flow.status()).toMatchObject({
      status: 'active',
      subscription: { billedPeriods: run, missedPeriods: 2 - run },
    });
    await reach(14);
    expect((await tried()).slice(run)).toEqual(['3.1 day 14 Succeed 6000 EUR']);
    await flow.command('cancel', { when: 'now' });
  },
);

test.each([
  ['another interval', { interval: { every: 1, unit: 'year' }, amount: 9_000 }],
  ['another hour', { billAt: '16:00', amount: 9_000 }],
  ['an amount', { amount: 9_000 }],
])(
  '%s that a reset gives again, once the period is due that it may have been for, waits for a person',
  async (_what, change) => {
    const { flow, reach, reset, tried, dayOf } = await weekly();
    await reach(0, 8);
    expect(await flow.command('changePlan', change)).toMatchObject({ appliesFrom: { period: 1 } });
    await flow.command('pause');
    await flow.command('resume');
    await reach(2);
    const billed = ['1.1 day 0 Succeed 9000 EUR'];
    expect(await tried()).toEqual(billed);
    await reset(0);
    const waits = inDoubtAfter('3 commands (changePlan, pause, resume)');
    expect(await flow.status()).toMatchObject(waits);
    await reach(20);
    expect(await tried()).toEqual(billed);
    // Nothing bills by itself in the end.
    await expect(flow.command('pause', { until: dayOf(22) })).rejects.toMatchObject(
      failsWith('StateConflict', 'paused already'),
    );
    await reach(23);
    expect(await flow.status()).toMatchObject(waits);
    expect(await flow.command('resume', { missedPeriods: 'skip' })).toMatchObject({ status: 'active' });
    await reach(24);
    expect(await tried()).toEqual(billed);
    expect(await flow.status()).toMatchObject({
      needsOperator: false,
      subscription: { billedPeriods: 1, missedPeriods: 3 },
    });
    // Of this one it is known from when it holds.
    expect(await flow.command('changePlan', change)).toMatchObject({ appliesFrom: { period: 5 } });
    await flow.command('cancel', { when: 'now' });
  },
);

test('a yearly price that was charged before a reset is not charged again a week later', async () => {
  const { flow, reach, reset, tried } = await weekly();
  await reach(1);
  await flow.command('changePlan', { interval: { every: 1, unit: 'year' }, amount: 9_000 });
  await reach(9);
  const billed = ['1.1 day 0 Succeed 6000 EUR', '2.1 day 7 Succeed 9000 EUR'];
  expect(await tried()).toEqual(billed);
  await reset(1);
  await reach(15);
  expect(await tried()).toEqual(billed);
  expect(await flow.status()).toMatchObject({ status: 'paused', needsOperator: true });
  await flow.command('cancel', { when: 'now' });
});

test('an amount that a reset gives again names its period, and holds from there', async () => {
  const { flow, reach, reset, tried } = await weekly();
  await reach(-1);
  await flow.command('changePlan', { amount: 9_000, fromPeriod: 2 });
  await reach(2);
  await reset(0);
  expect(await flow.status()).toMatchObject(inDoubtAfter('1 command (changePlan)'));
  await flow.command('resume', { missedPeriods: 'billAll' });
  await reach(8);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 7 Succeed 9000 EUR']);
  await flow.command('cancel', { when: 'now' });
});

test('an amount of the last period that a reset gives again once that is due is charged for it', async () => {
  const { flow, reach, resetAfterOutage, tried } = await weekly({ periods: 2 });
  await reach(1);
  await flow.command('changePlan', { amount: 9_000, fromPeriod: 2 });
  await resetAfterOutage(1, 8);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  await flow.command('resume', { missedPeriods: 'billAll' });
  await flow.worksOn();
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 8 Succeed 9000 EUR']);
  await flow.command('cancel', { when: 'now' });
});

test('one that names no period waits for a person then', async () => {
  const { flow, reach, resetAfterOutage, tried } = await weekly({ periods: 2 });
  await reach(1);
  await flow.command('changePlan', { amount: 9_000 });
  await resetAfterOutage(1, 8);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  expect(await flow.status()).toMatchObject({ status: 'paused', needsOperator: true });
  await flow.command('cancel', { when: 'now' });
});

test('a pause that was over before a bill was due does not make it missed when a reset gives it again', async () => {
  const { flow, reach, resetAfterOutage, tried } = await weekly();
  await reach(1);
  await flow.command('pause');
  await flow.command('resume');
  await resetAfterOutage(1, 8);
  expect(await flow.status()).toMatchObject({
    ...inDoubtAfter('2 commands (pause, resume)'),
    subscription: { missedPeriods: 0 },
  });
  await flow.command('resume', { missedPeriods: 'billAll' });
  await flow.worksOn();
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 8 Succeed 6000 EUR']);
  expect(await flow.status()).toMatchObject({ status: 'active', needsOperator: false });
  await flow.command('cancel', { when: 'now' });
});

test.each([
  ['billAll', 22, 3],
  ['skip', 8, 1],
] as const)(
  'what a resume has said of the pause before, %s, decides nothing of what came due in an outage since',
  async (missedPeriods, day, missed) => {
    const { flow, reach, resetAfterOutage, tried } = await weekly();
    await reach(1);
    await flow.command('pause');
    await flow.command('resume', { missedPeriods });
    await resetAfterOutage(1, day);
    const first = ['1.1 day 0 Succeed 6000 EUR'];
    expect(await tried()).toEqual(first);
    expect(await flow.status()).toMatchObject(inDoubtAfter('2 commands (pause, resume)'));
    await flow.command('resume', { missedPeriods: 'skip' });
    await flow.worksOn();
    expect(await tried()).toEqual(first);
    expect(await flow.status()).toMatchObject({ status: 'active', subscription: { missedPeriods: missed } });
    await flow.command('cancel', { when: 'now' });
  },
);

test('a pause that had ended before the outage, whose end alone a reset gives again, makes no bill missed', async () => {
  const { flow, reach, tasks, resetAfterOutage, tried } = await weekly();
  await reach(1);
  await flow.command('pause');
  const { length } = await tasks(1);
  await reach(2);
  await flow.command('resume');
  await resetAfterOutage(1, 9, (await tasks(1))[length]);
  expect(await flow.status()).toMatchObject(inDoubtAfter('1 command (resume)'));
  await flow.command('resume', { missedPeriods: 'billAll' });
  await flow.worksOn();
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 9 Succeed 6000 EUR']);
  await flow.command('cancel', { when: 'now' });
});

test('a pause and its end after a reset are taken as they come', async () => {
  const { flow, reach, reset, tried } = await weekly();
  await reach(1);
  await reset(1);
  await reach(2);
  await flow.command('pause');
  await reach(8);
  await flow.command('resume');
  await reach(15);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '3.1 day 14 Succeed 6000 EUR']);
  expect(await flow.status()).toMatchObject({ status: 'active', subscription: { missedPeriods: 1 } });
  await flow.command('cancel', { when: 'now' });
});
