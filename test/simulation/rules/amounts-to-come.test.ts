import { describe, expect, test } from 'vitest';
import { firstRunOf, resetToFirstTask } from '../../support/resets.js';
import { declinedFor, inRome, later } from '../../support/subscriptions.js';
import { failsWith, HOUR, sharedTime } from './context.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);
const NO_FUNDS = declinedFor('insufficient_funds');
const refused = (type: string, message: string) => failsWith(type, message);

describe('amounts that hold from a period on', () => {
  test('are billed as the sign-up says, an introductory price and what follows', async () => {
    const { flow, reach, tried } = await weekly({
      periods: 4,
      amount: 100,
      amounts: [
        { fromPeriod: 2, amount: 6_000 },
        { fromPeriod: 4, amount: 7_000 },
      ],
    });
    await reach(1);
    expect(await flow.status()).toMatchObject({
      subscription: { amount: 6_000, amounts: [{ fromPeriod: 4, amount: 7_000 }] },
    });
    await reach(22);
    expect(await tried()).toEqual([
      '1.1 day 0 Succeed 100 EUR',
      '2.1 day 7 Succeed 6000 EUR',
      '3.1 day 14 Succeed 6000 EUR',
      '4.1 day 21 Succeed 7000 EUR',
    ]);
  });

  test('are announced by a command, which leaves all before as it is, and is told which can change', async () => {
    const { flow, input, reach, tried } = await weekly({ periods: 4 });
    await reach(8);
    const early = { amount: 7_000, fromPeriod: 2 };
    const why = 'fromPeriod: 2 is billed, due or over already; the first one that can change is 3';
    await expect(flow.command('changePlan', early)).rejects.toMatchObject(refused('InvalidInput', why));
    await expect(
      time.holdfast.subscription.preview(flow.reference, { count: 3, change: { changePlan: early } }),
    ).rejects.toMatchObject({ type: 'InvalidInput', message: why });
    const rise = { amount: 7_000, fromPeriod: 4 };
    const { bills, changed } = await time.holdfast.subscription.preview(flow.reference, {
      count: 3,
      change: { changePlan: rise },
    });
    expect(bills.map(({ period, amount }) => `${period} ${amount}`)).toEqual(['3 6000', '4 6000']);
    expect(await flow.command('changePlan', rise)).toMatchObject({
      amount: 6_000,
      amounts: [rise],
      appliesFrom: { period: 4, date: later(input.anchor, 21) },
    });
    await reach(22);
    expect((await tried()).slice(2)).toEqual(['3.1 day 14 Succeed 6000 EUR', '4.1 day 21 Succeed 7000 EUR']);
    const { bills: done } = await time.holdfast.subscription.bills(flow.reference);
    expect(done.slice(2).map(({ period, from, amount }) => ({ period, date: from, amount }))).toEqual(
      changed?.map(({ period, date, amount }) => ({ period, date, amount })),
    );
  });

  test('change no bill that is open, whatever it is tried again for', async () => {
    const { flow, reach, tried } = await weekly({ periods: 2 }, { '1.1': NO_FUNDS });
    await reach(0);
    await flow.command('changePlan', { amount: 7_000 });
    await reach(8);
    expect(await tried()).toEqual([
      '1.1 day 0 Failed 6000 EUR',
      '1.2 day 1 Succeed 6000 EUR',
      '2.1 day 7 Succeed 7000 EUR',
    ]);
  });

  test('are refused with every fault at once', async () => {
    const { flow, reach } = await weekly({ periods: 4 });
    await reach(1);
    const all = {
      amount: 1,
      amounts: [
        { fromPeriod: 3, amount: 1 },
        { fromPeriod: 3, amount: -1 },
      ],
    };
    await expect(flow.command('changePlan', { ...all, fromPeriod: 0 })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/fromPeriod: .*amounts\.1\.amount: /s) },
    });
    const both = { amount: 1, fromPeriod: 3, interval: { every: 1, unit: 'month' } };
    await expect(flow.command('changePlan', both)).rejects.toMatchObject(
      refused('InvalidInput', 'fromPeriod: is for an amount only'),
    );
    await flow.command('cancel', { when: 'now' });
  });
});

test('commands that come in the very moment of a bill change nothing of it, and each is answered', async () => {
  const { flow, input, reach, tried } = await weekly({ periods: 4, interval: { every: 1, unit: 'day' } });
  await reach(0);
  await flow.command('skipPeriod', { period: 3 });
  await time.stopWorker();
  await time.passUnserved(inRome(later(input.anchor, 1)));
  const given = [
    ['changePlan', { amount: 7_000, commandId: 'rise' }],
    ['skipPeriod', { period: 2 }],
    ['skipPeriod', { period: 3, undo: true }],
    ['changePlan', { amount: 7_000, commandId: 'rise' }],
    ['changePlan', { amount: 9_000, fromPeriod: 2 }],
  ] as const;
  const answers = given.map(([name, request]) =>
    flow.command(name, request).then(
      ({ appliesFrom, skips }) => appliesFrom?.period ?? skips ?? 'done',
      (error: { cause: Error }) => error.cause.message,
    ),
  );
  await time.startWorker();
  expect(await Promise.all(answers)).toEqual([
    3,
    'Refused: period 2 is due already',
    'done',
    3,
    'Refused: fromPeriod: 2 is billed, due or over already; the first one that can change is 3',
  ]);
  await reach(3);
  expect((await tried()).map((line) => line.replace(/day \d /, ''))).toEqual([
    '1.1 Succeed 6000 EUR',
    '2.1 Succeed 6000 EUR',
    '3.1 Succeed 7000 EUR',
    '4.1 Succeed 7000 EUR',
  ]);
});

test('what commands have said goes from run to run, and is done again after a reset that gives them late', async () => {
  const { flow, reach, tried } = await weekly({ periods: 5, missedPeriods: 'billAll' });
  await flow.command('changePlan', { amount: 7_000, fromPeriod: 2 });
  await flow.command('skipPeriod', { period: 3 });
  await reach(15);
  await resetToFirstTask(time.client, flow.workflowId, [], await firstRunOf(time.client, flow.workflowId));
  await time.passUntil((await time.now()) + HOUR);
  expect(await flow.explain()).toContain('a reset has given it again 2 commands (changePlan, skipPeriod)');
  await flow.command('resume', { missedPeriods: 'billAll', commandId: 'after-the-reset' });
  await reach(29);
  expect(await tried()).toEqual([
    '1.1 day 0 Succeed 6000 EUR',
    '2.1 day 7 Succeed 7000 EUR',
    '4.1 day 21 Succeed 7000 EUR',
    '5.1 day 28 Succeed 7000 EUR',
  ]);
  const { bills } = await time.holdfast.subscription.bills(flow.reference);
  expect(bills.map(({ period, status, amount }) => `${period} ${status} ${amount}`)).toEqual([
    '1 paid 6000',
    '2 paid 7000',
    '3 skipped undefined',
    '4 paid 7000',
    '5 paid 7000',
  ]);
});

describe('an amount of 0', () => {
  test('bills nothing, counts the period and says so', async () => {
    const { flow, input, reach, tried } = await weekly({
      periods: 3,
      amount: 0,
      amounts: [{ fromPeriod: 2, amount: 6_000 }],
    });
    await reach(1);
    expect(await flow.status()).toMatchObject({ status: 'active', subscription: { billedPeriods: 1 } });
    await flow.command('changePlan', { amount: 0, fromPeriod: 3 });
    await expect(flow.command('billNow', { period: 1 })).rejects.toMatchObject(refused('StateConflict', 'period 1'));
    await reach(13);
    await expect(flow.command('billNow', { period: 3 })).rejects.toMatchObject(
      refused('StateConflict', 'period 3 costs nothing'),
    );
    expect(await flow.explain()).toContain('costs nothing');
    const ended = await flow.ended();
    // What costs nothing is granted for its days like each period.
    expect(ended).toMatchObject({ status: 'completed', billedPeriods: 3 });
    expect(Date.parse(ended.endedAt)).toBeGreaterThanOrEqual(inRome(later(input.anchor, 21)));
    expect(await tried()).toEqual(['2.1 day 7 Succeed 6000 EUR']);
    const { bills } = await time.holdfast.subscription.bills(flow.reference);
    expect(bills).toMatchObject([
      { period: 1, status: 'nothing', amount: 0, from: input.anchor, to: later(input.anchor, 7) },
      { period: 2, status: 'paid', amount: 6_000, payment: `${flow.reference}.2.1`, attempts: 1 },
      { period: 3, status: 'nothing', amount: 0 },
    ]);
  });

  test('denies no payment that was made before a reset which has lost the command', async () => {
    const { flow, reach, tried, beginAgain } = await weekly({ periods: 2, amount: 0 });
    await flow.command('changePlan', { amount: 6_000 });
    await reach(1);
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
    await beginAgain();
    expect(await flow.status()).toMatchObject({ subscription: { lastBilled: { period: 1, amount: 6_000 } } });
    const { bills } = await time.holdfast.subscription.bills(flow.reference);
    expect(bills).toMatchObject([{ period: 1, status: 'paid', amount: 6_000 }]);
    await flow.command('cancel', { when: 'now' });
  });
});

describe('a period that is skipped', () => {
  test('is not billed, is counted as such, and the others keep their days', async () => {
    const { flow, input, reach, tried } = await weekly({ periods: 4 });
    await reach(1);
    const { changed } = await time.holdfast.subscription.preview(flow.reference, {
      count: 60,
      change: { skipPeriod: { period: 2 } },
    });
    expect(changed?.map(({ period, skipped = false }) => [period, skipped])).toEqual([
      [2, true],
      [3, false],
      [4, false],
    ]);
    const command = { period: 2, commandId: 'skip-2' };
    expect(await flow.command('skipPeriod', command)).toMatchObject({ skips: [2] });
    expect(await flow.command('skipPeriod', command)).toMatchObject({ skips: [2] });
    await flow.command('skipPeriod', { period: 4 });
    await flow.command('skipPeriod', { period: 4, undo: true });
    await expect(flow.command('billNow', { period: 2 })).rejects.toMatchObject(
      refused('StateConflict', 'period 2 is to be skipped'),
    );
    expect(await flow.explain()).toContain('is skipped');
    await reach(8);
    for (const period of [1, 2])
      await expect(flow.command('skipPeriod', { period })).rejects.toMatchObject(
        refused(
          'StateConflict',
          `period ${period} is billed, due or over already; the first one that can be skipped is 3`,
        ),
      );
    await reach(22);
    expect(await tried()).toEqual([
      '1.1 day 0 Succeed 6000 EUR',
      '3.1 day 14 Succeed 6000 EUR',
      '4.1 day 21 Succeed 6000 EUR',
    ]);
    const { bills, olderPeriods } = await time.holdfast.subscription.bills(flow.reference);
    expect(bills.map(({ period, status }) => `${period} ${status}`)).toEqual([
      '1 paid',
      '2 skipped',
      '3 paid',
      '4 paid',
    ]);
    expect(bills[1]).toMatchObject({ from: later(input.anchor, 7), to: later(input.anchor, 14) });
    expect(olderPeriods).toBe(0);
    expect(await flow.ended()).toMatchObject({ billedPeriods: 3, skippedPeriods: 1, missedPeriods: 0 });
  });

  test('stays so over an outage, and is not counted as missed', async () => {
    const { flow, input, reach, tried } = await weekly({ periods: 5, missedPeriods: 'billLatest' });
    await reach(1);
    await flow.command('skipPeriod', { period: 3 });
    await time.stopWorker();
    await time.passUnserved(inRome(later(input.anchor, 29)));
    await time.startWorker();
    await time.passUntil((await time.now()) + HOUR);
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '5.1 day 29 Succeed 6000 EUR']);
    expect(await flow.status()).toMatchObject({ subscription: { missedPeriods: 2, skippedPeriods: 1 } });
    const { bills } = await time.holdfast.subscription.bills(flow.reference);
    expect(bills.map(({ period, through, status }) => `${period}-${through ?? period} ${status}`)).toEqual([
      '1-1 paid',
      '2-2 missed',
      '3-3 skipped',
      '4-4 missed',
      '5-5 paid',
    ]);
  });

  test('is not taken back by a command that comes just after it', async () => {
    const { flow, input, reach, tried } = await weekly({ periods: 3 });
    await reach(1);
    await flow.command('skipPeriod', { period: 2 });
    await time.stopWorker();
    await time.passUnserved(inRome(later(input.anchor, 8)));
    const undo = expect(flow.command('skipPeriod', { period: 2, undo: true })).rejects.toThrow();
    await time.startWorker();
    await undo;
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
    await flow.command('cancel', { when: 'now' });
  });

  test('is not one that was billed early before a reset', async () => {
    const { flow, reach, tried, beginAgain } = await weekly({ periods: 3 });
    await reach(1);
    await flow.command('billNow', { period: 2 });
    await beginAgain();
    await expect(flow.command('skipPeriod', { period: 2 })).rejects.toMatchObject(
      refused('StateConflict', 'period 2 was billed before the subscription was reset'),
    );
    await reach(15);
    expect(await tried()).toEqual([
      '1.1 day 0 Succeed 6000 EUR',
      '2.1 day 1 Succeed 6000 EUR',
      '3.1 day 14 Succeed 6000 EUR',
    ]);
  });
});
