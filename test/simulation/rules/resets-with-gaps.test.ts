import { describe, expect, test } from 'vitest';
import { SIGNAL_NAMES } from '../../../src/contract/names.js';
import { anotherCard, declinedFor } from '../../support/subscriptions.js';
import { firstRunOf, resetTo, resetToFirstTask, tasksOf } from '../../support/resets.js';
import { DAY, sharedTime } from './context.js';
import { listenToAll, MERCHANT } from './told.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);
const RESET_WITHOUT_UPDATES = [2];

test('a payment that pends at a reset is followed before a later period is charged, and no period is missed', async () => {
  const { flow, reach, tried, complete, beginAgain } = await weekly({}, { '2.1': { status: 'Pending' } });
  await reach(15);
  await beginAgain();
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 7 Pending 6000 EUR']);
  expect(await flow.status()).toMatchObject({
    subscription: { missedPeriods: 0, billedPeriods: 1, open: { period: 2 } },
  });
  await complete('2.1', { status: 'Succeed' });
  await reach(18);
  expect(await tried()).toMatchObject([expect.anything(), '2.1 day 7 Succeed 6000 EUR', expect.stringMatching(/^3.1/)]);
  expect(await flow.status()).toMatchObject({ subscription: { missedPeriods: 0, billedPeriods: 3 } });
  await flow.command('cancel', { when: 'now' });
});

test('a subscription whose periods were all paid before a reset has none that is missed', async () => {
  const { flow, reach, tried, beginAgain } = await weekly({ missedPeriods: 'skip', periods: 3 });
  await reach(16);
  await beginAgain();
  await reach(23);
  expect(await time.client.workflow.getHandle(flow.workflowId).result()).toMatchObject({
    status: 'completed',
    billedPeriods: 3,
    missedPeriods: 0,
  });
  expect(await tried()).toHaveLength(3);
});

test('what was declined before a reset, and is too late by now, gets no further try', async () => {
  const declined = declinedFor('insufficient_funds');
  const { flow, reach, tried, beginAgain } = await weekly({ dunning: { retryDays: [6] } }, { '1.1': declined });
  await reach(5);
  await flow.command('pause', { openPeriod: 'drop' });
  await reach(8);
  await flow.command('resume', { missedPeriods: 'billAll' });
  await reach(15);
  const onLedger = await tried();
  await beginAgain();
  await reach(17);
  expect(await tried()).toEqual(onLedger);
  expect(await flow.status()).toMatchObject({
    subscription: { billedPeriods: 2, unpaidPeriods: 1, missedPeriods: 0 },
  });
  await flow.command('cancel', { when: 'now' });
});

test('one that is cancelled at once after a reset follows what was started behind a period that was skipped', async () => {
  const { flow, reach, complete, tried } = await weekly({}, { '3.1': { status: 'Pending' } });
  await reach(1);
  await flow.command('skipPeriod', { period: 2 });
  await reach(15);
  await time.stopWorker();
  const handle = time.client.workflow.getHandle(flow.workflowId);
  await resetToFirstTask(
    time.client,
    flow.workflowId,
    RESET_WITHOUT_UPDATES,
    await firstRunOf(time.client, flow.workflowId),
  );
  await handle.cancel();
  await time.startWorker();
  await time.passUntil((await time.now()) + DAY);
  expect(await flow.status()).toMatchObject({ subscription: { billedPeriods: 1, open: { period: 3 } } });
  await complete('3.1', { status: 'Succeed' });
  expect(await time.client.workflow.getHandle(flow.workflowId).result()).toMatchObject({
    status: 'cancelled',
    billedPeriods: 2,
  });
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '3.1 day 14 Succeed 6000 EUR']);
});

test('one that has continued since the reset follows it as well', async () => {
  const { flow, reach, complete, tried } = await weekly({}, { '3.1': { status: 'Pending' } });
  await reach(1);
  await flow.command('skipPeriod', { period: 2 });
  await reach(15);
  await time.stopWorker();
  const first = await firstRunOf(time.client, flow.workflowId);
  await resetToFirstTask(time.client, flow.workflowId, RESET_WITHOUT_UPDATES, first);
  const paused = flow.command('pause');
  await time.startWorker();
  await paused;
  const handle = time.client.workflow.getHandle(flow.workflowId);
  await handle.signal(SIGNAL_NAMES.moveOn);
  await flow.worksOn();
  expect(await flow.status()).toMatchObject({ status: 'paused', subscription: { billedPeriods: 0 } });
  await handle.cancel();
  await reach(16);
  expect(await flow.status()).toMatchObject({ subscription: { billedPeriods: 1, open: { period: 3 } } });
  await complete('3.1', { status: 'Succeed' });
  expect(await handle.result()).toMatchObject({ status: 'cancelled', billedPeriods: 2, missedPeriods: 1 });
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '3.1 day 14 Succeed 6000 EUR']);
});

test('a bill that is paid while the cancel comes is not called unpaid for what is followed behind it', async () => {
  const { flow, reach, complete } = await weekly({ missedPeriods: 'billAll' }, { '3.1': { status: 'Pending' } });
  await reach(1);
  await flow.command('skipPeriod', { period: 2 });
  await reach(15);
  const joining = time.hold('readAttempt');
  const first = await firstRunOf(time.client, flow.workflowId);
  await resetToFirstTask(time.client, flow.workflowId, RESET_WITHOUT_UPDATES, first);
  await joining.reached;
  const handle = time.client.workflow.getHandle(flow.workflowId);
  await handle.cancel();
  joining.release();
  await reach(16);
  await complete('3.1', { status: 'Succeed' });
  expect(await handle.result()).toMatchObject({ status: 'cancelled', billedPeriods: 2, unpaidPeriods: 0 });
});

const NO_FUNDS = declinedFor('insufficient_funds');
const STOLEN = declinedFor('lost_stolen_card');
/** The first payments of the first of four weeks are declined: there is room for all retries. */
const FOUR_WEEKS = { interval: { every: 4, unit: 'week' as const } };
const declinedTimes = async (times: number, overrides: WeeklyArguments[0] = {}) =>
  await weekly(
    { ...FOUR_WEEKS, periods: 1, ...overrides },
    Object.fromEntries(Array.from({ length: times }, (_, index) => [`1.${index + 1}`, NO_FUNDS])),
  );

test.each(['continue', 'cancel'] as const)(
  'a bill that was given up before a reset is not tried for another week: %s',
  async (onGivenUp) => {
    const { flow, reach, tried, beginAgain } = await declinedTimes(9, { dunning: { onGivenUp }, periods: 2 });
    await reach(10);
    const onLedger = await tried();
    expect(onLedger.map((line) => line.slice(0, 9))).toEqual(
      [0, 1, 3, 5, 7].map((day, at) => `1.${at + 1} day ${day}`),
    );
    await beginAgain();
    await reach(20);
    expect(await tried()).toEqual(onLedger);
    const handle = time.client.workflow.getHandle(flow.workflowId);
    if (onGivenUp === 'cancel')
      expect(await handle.result()).toMatchObject({ status: 'givenUp', billedPeriods: 0, unpaidPeriods: 1 });
    else {
      expect(await flow.status()).toMatchObject({ status: 'active', subscription: { unpaidPeriods: 1 } });
      await flow.command('cancel', { when: 'now' });
    }
  },
);

test('one that was amid its retries goes on with them, as a pause has moved them', async () => {
  const { flow, reach, tried, beginAgain } = await declinedTimes(3);
  await reach(0);
  await flow.command('pause');
  await reach(10);
  await flow.command('resume');
  await reach(12);
  await beginAgain();
  const handle = time.client.workflow.getHandle(flow.workflowId);
  expect(await handle.result()).toMatchObject({ status: 'completed', billedPeriods: 1 });
  expect((await tried()).map((line) => line.slice(0, 10).trim())).toEqual([
    '1.1 day 0',
    '1.2 day 11',
    '1.3 day 13',
    '1.4 day 15',
  ]);
});

describe('a bill that was given up before a reset is not charged on the card that came later, before a person has looked', () => {
  const withoutEnd = { dunning: { onGivenUp: 'continue' as const }, periods: 3 };

  test.each([
    ['which the run begins with', NO_FUNDS, 5, 'first', 1],
    ['which the run begins with, where nothing so late is billed', NO_FUNDS, 5, 'first, skip', 1],
    ['which comes as its payment is declined', STOLEN, 1, 'decline', 1],
    ['which comes while it waits for one', STOLEN, 1, 'wait', 1],
    ['which comes while it waits for one, and was never tried', STOLEN, 1, 'wait', 2],
  ])('%s', async (_when, decline, times, since, period) => {
    const day = (period - 1) * 28;
    const was =
      period === 1 ? 'was tried before a reset, and another card' : 'waited for another card before a reset, and one';
    const { flow, input, reach, tried } = await weekly(
      { ...FOUR_WEEKS, ...withoutEnd, missedPeriods: since === 'first, skip' ? 'skip' : 'billLatest' },
      Object.fromEntries(Array.from({ length: times }, (_, index) => [`1.${index + 1}`, decline])),
    );
    await reach(day);
    if (since === 'wait') await flow.command('changeTerms', { metadata: { shop: '7' } });
    const { runId } = await time.client.workflow.getHandle(flow.workflowId).describe();
    const task = (await tasksOf(time.client, flow.workflowId, runId)).at(since.startsWith('first') ? 0 : -1);
    await reach(day + 9);
    const onLedger = await tried();
    expect(onLedger).toHaveLength(times);
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await reach(day + 10);
    await resetTo(time.client, { workflowId: flow.workflowId, runId }, task);
    await reach(day + 12);
    expect(await tried()).toEqual(onLedger);
    expect(await flow.status()).toMatchObject({
      status: 'paused',
      operatorReason: expect.stringContaining(`period ${period} ${was} was given since: nobody knows`),
    });
    await flow.command('resume', { missedPeriods: 'billAll' });
    await flow.worksOn();
    expect((await tried()).at(-1)).toBe(`${period}.${period === 1 ? times + 1 : 1} day ${day + 12} Succeed 6000 EUR`);
    await flow.command('cancel', { when: 'now' });
  });

  test('where a run that follows that of the reset comes to it', async () => {
    const faults = Object.fromEntries([1, 2, 3, 4, 5].map((number) => [`2.${number}`, NO_FUNDS]));
    const { flow, input, reach, tried } = await weekly({ ...FOUR_WEEKS, ...withoutEnd }, faults);
    await reach(37);
    const onLedger = await tried();
    expect(onLedger).toHaveLength(6);
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await reach(38);
    await resetToFirstTask(time.client, flow.workflowId, [], await firstRunOf(time.client, flow.workflowId));
    await reach(40);
    expect(await tried()).toEqual(onLedger);
    expect(await flow.status()).toMatchObject({ status: 'paused', subscription: { open: { period: 2 } } });
    await flow.command('cancel', { when: 'now' });
  });

  test.each(['active', 'cancelled'])(
    'one that has no time left is given up once more, and nothing pauses: %s',
    async (status) => {
      const all = listenToAll(time);
      const { flow, input, reach, tried } = await weekly(
        { dunning: { retryDays: [1], onGivenUp: 'continue' }, notify: { url: `${MERCHANT}/hook` } },
        { '1.1': NO_FUNDS, '1.2': NO_FUNDS },
      );
      await reach(15);
      const first = await firstRunOf(time.client, flow.workflowId);
      const [task] = await tasksOf(time.client, flow.workflowId, first);
      await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
      const onLedger = await tried();
      expect(onLedger).toHaveLength(4);
      if (status === 'cancelled') await flow.command('cancel', { when: 'now' });
      await resetTo(time.client, { workflowId: flow.workflowId, runId: first }, task);
      await reach(16);
      expect(await tried()).toEqual(onLedger);
      expect(await flow.status()).toMatchObject({ status, subscription: { billedPeriods: 2, unpaidPeriods: 1 } });
      const told = all.filter(({ notification }) => notification.workflowId === flow.workflowId);
      const types = told.map(({ notification }) => notification.type);
      expect(types).toContain('subscription.unpaid');
      expect(types).not.toContain('subscription.paused');
      if (status === 'active') await flow.command('cancel', { when: 'now' });
    },
  );
});
