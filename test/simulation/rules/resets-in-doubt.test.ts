import { expect, test } from 'vitest';
import { SIGNAL_NAMES } from '../../../src/contract/names.js';
import { declinedFor } from '../../support/subscriptions.js';
import { failsWith, sharedTime } from './context.js';
import { listenToAll, MERCHANT } from './told.js';
import { beginResettable, inDoubtAfter, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const weekly = async (...given: WeeklyArguments) => await beginResettable(time, ...given);
const FIRST = '1.1 day 0 Succeed 6000 EUR';
const NO_FUNDS = declinedFor('insufficient_funds');

/** One that its merchant follows; `told`: what it has told of, as `paused`. */
async function beginTold(overrides: WeeklyArguments[0] = {}, faults: WeeklyArguments[1] = {}) {
  const all = listenToAll(time);
  const begun = await weekly({ ...overrides, notify: { url: `${MERCHANT}/hook` } }, faults);
  const told = () => {
    const ours = all
      .map(({ notification }) => notification)
      .filter(({ workflowId }) => workflowId === begun.flow.workflowId);
    // Another run tells some of it once more, under the same id.
    return [...new Map(ours.map(({ id, type }) => [id, type.replace('subscription.', '')])).values()];
  };
  return { ...begun, told };
}

test('an amount that was refused, and is done when a reset gives it again, is charged by nobody before a person has looked', async () => {
  const { flow, reach, reset, tried, told } = await beginTold();
  await reach(1);
  await flow.command('pause');
  await reach(8);
  const refused = flow.command('changePlan', { amount: 9_000, fromPeriod: 2 });
  await expect(refused).rejects.toMatchObject(failsWith('InvalidInput', 'due or over'));
  await reset(1);
  await reach(10);
  expect(await flow.status()).toMatchObject(inDoubtAfter('2 commands (changePlan, pause)'));
  expect(told()).toEqual(['billed', 'paused', 'paused']);
  for (const request of [{}, { missedPeriods: undefined }])
    await expect(flow.command('resume', request)).rejects.toMatchObject(
      failsWith('StateConflict', 'give missedPeriods: a reset has given it again'),
    );
  await reach(11);
  expect(await tried()).toEqual([FIRST]);
  expect(await flow.command('changePlan', { amount: 6_000, fromPeriod: 2 })).toMatchObject({
    appliesFrom: { period: 2 },
  });
  await flow.command('resume', { missedPeriods: 'billAll' });
  await flow.worksOn();
  expect(await tried()).toEqual([FIRST, '2.1 day 11 Succeed 6000 EUR']);
  expect(await flow.status()).toMatchObject({ status: 'active', needsOperator: false });
  expect(told()).toEqual(['billed', 'paused', 'paused', 'resumed', 'billed']);
  await flow.command('cancel', { when: 'now' });
});

test('a period whose skip was refused, and is done when a reset gives it again, is billed once a person takes it back', async () => {
  const { flow, reach, reset, tried } = await weekly();
  await reach(1);
  await flow.command('pause');
  await reach(8);
  await expect(flow.command('skipPeriod', { period: 2 })).rejects.toMatchObject(failsWith('StateConflict', 'is due'));
  await reset(1);
  expect(await flow.status()).toMatchObject(inDoubtAfter('2 commands (pause, skipPeriod)'));
  await flow.command('skipPeriod', { period: 2, undo: true });
  await flow.command('resume', { missedPeriods: 'billAll' });
  await flow.worksOn();
  expect(await tried()).toEqual([FIRST, '2.1 day 8 Succeed 6000 EUR']);
  await flow.command('cancel', { when: 'now' });
});

test('what a pause has left out is not charged when a reset gives it again with a later one: a person leaves it out again', async () => {
  const { flow, reach, reset, tried } = await weekly();
  await reach(1);
  await flow.command('pause');
  await reach(8);
  await flow.command('resume', { missedPeriods: 'skip' });
  await reach(9);
  await flow.command('pause');
  await reach(15);
  await flow.command('resume', { missedPeriods: 'billAll' });
  await flow.worksOn();
  const billed = [FIRST, '3.1 day 15 Succeed 6000 EUR'];
  expect(await tried()).toEqual(billed);
  await reach(16);
  await reset(1);
  await reach(18);
  expect(await tried()).toEqual(billed);
  expect(await flow.status()).toMatchObject(inDoubtAfter('4 commands (pause, resume)'));
  await flow.command('skipPeriod', { period: 2 });
  await expect(flow.command('skipPeriod', { period: 3 })).rejects.toMatchObject(
    failsWith('StateConflict', 'period 3 was billed before'),
  );
  await flow.command('resume', { missedPeriods: 'billAll' });
  await reach(20);
  expect(await tried()).toEqual(billed);
  expect(await flow.status()).toMatchObject({
    status: 'active',
    subscription: { billedPeriods: 2, skippedPeriods: 1, missedPeriods: 0 },
  });
  await flow.command('cancel', { when: 'now' });
});

test('a bill that is given up once more after a reset pauses in doubt, and tells so', async () => {
  const dunning = { retryDays: [], onGivenUp: 'pause' as const };
  const { flow, reach, beginAgain, tried, told } = await beginTold({ dunning }, { '1.1': NO_FUNDS });
  await reach(2);
  await flow.command('resume');
  await reach(4);
  await beginAgain();
  await reach(8);
  expect(await tried()).toHaveLength(1);
  expect(await flow.status()).toMatchObject({
    status: 'paused',
    needsOperator: true,
    operatorReason: expect.stringContaining('period 1 stayed unpaid before a reset'),
  });
  expect(told()).toEqual(['unpaid', 'paused', 'resumed', 'paused']);
  await flow.command('resume', { missedPeriods: 'billAll' });
  await flow.worksOn();
  expect(await tried()).toMatchObject([expect.anything(), '2.1 day 8 Succeed 6000 EUR']);
  await flow.command('cancel', { when: 'now' });
});

test('a bill whose tries are not over is given up by no reset', async () => {
  const faults = { '1.1': NO_FUNDS, '1.2': NO_FUNDS };
  const interval = { every: 4, unit: 'week' } as const;
  const { flow, reach, beginAgain, tried } = await weekly({ interval, missedPeriods: 'skip' }, faults);
  await reach(2);
  await beginAgain();
  await reach(14);
  expect(await tried()).toMatchObject(
    [/^1.1/, /^1.2/, /^1.3 day \d+ Succeed/].map((line) => expect.stringMatching(line)),
  );
  expect(await flow.status()).toMatchObject({ status: 'active', subscription: { billedPeriods: 1, unpaidPeriods: 0 } });
  await flow.command('cancel', { when: 'now' });
});

test('a `billNow` that was refused charges nothing when a reset gives it again', async () => {
  const { flow, reach, reset, tried, complete } = await weekly({}, { '3.1': { status: 'Pending' } });
  await reach(1);
  await time.stopWorker();
  await reach(15);
  await time.startWorker();
  await flow.worksOn();
  const billed = [FIRST, '3.1 day 15 Pending 6000 EUR'];
  expect(await tried()).toEqual(billed);
  await expect(flow.command('billNow', { period: 2 })).rejects.toMatchObject(
    failsWith('StateConflict', 'neither open'),
  );
  await reset(1);
  await reach(16);
  expect(await tried()).toEqual(billed);
  await complete('3.1', { status: 'Succeed' });
  await reach(17);
  expect(await flow.status()).toMatchObject({ subscription: { billedPeriods: 2, missedPeriods: 1 } });
  await flow.command('cancel', { when: 'now' });
});

test('commands that a reset of a reset run gives again wait for a person once more', async () => {
  const { flow, reach, reset, tasks, resetAfterOutage, tried } = await weekly();
  await reach(1);
  await flow.command('skipPeriod', { period: 5 });
  await reset(1);
  await reach(2);
  const { length } = await tasks(2);
  await flow.command('resume', { missedPeriods: 'billAll' });
  await reach(3);
  await flow.command('pause');
  await reach(8);
  await flow.command('resume', { missedPeriods: 'skip' });
  await reach(9);
  await resetAfterOutage(2, 10, (await tasks(2))[length]);
  expect(await tried()).toEqual([FIRST]);
  expect(await flow.status()).toMatchObject(inDoubtAfter('4 commands (pause, resume, skipPeriod)'));
  await flow.command('resume', { missedPeriods: 'skip' });
  await reach(15);
  expect(await tried()).toEqual([FIRST, '3.1 day 14 Succeed 6000 EUR']);
  await flow.command('cancel', { when: 'now' });
});

test('a doubt that was carried to a further run is ended by no `resume` of a person that a reset gives again', async () => {
  const { flow, reach, reset, tasks, resetAfterOutage, tried, told } = await beginTold();
  await reach(1);
  await flow.command('pause');
  const task = (await tasks(1)).length;
  await reach(2);
  await flow.command('resume');
  await resetAfterOutage(1, 3, (await tasks(1))[task]);
  expect(await flow.status()).toMatchObject(inDoubtAfter('1 command (resume)'));
  await time.client.workflow.getHandle(flow.workflowId).signal(SIGNAL_NAMES.moveOn);
  await reach(4);
  await flow.command('resume', { missedPeriods: 'skip' });
  await reach(9);
  const billed = [FIRST, '2.1 day 7 Succeed 6000 EUR'];
  expect(await tried()).toEqual(billed);
  await reset(3);
  expect(await flow.status()).toMatchObject(inDoubtAfter('1 command (resume)'));
  expect(told().filter((type) => type === 'paused')).toHaveLength(3);
  await flow.command('resume', { missedPeriods: 'billAll' });
  await reach(10);
  expect(await flow.status()).toMatchObject({ status: 'active', subscription: { billedPeriods: 2, missedPeriods: 0 } });
  expect(await tried()).toEqual(billed);
  await flow.command('cancel', { when: 'now' });
});

test('a person gives a first command to a run of a further reset that has given nothing again', async () => {
  const { flow, reach, reset, tasks, resetAfterOutage, tried } = await weekly();
  await reach(1);
  await flow.command('skipPeriod', { period: 5 });
  await reset(1);
  await reach(2);
  await resetAfterOutage(2, 3, (await tasks(2)).at(-1));
  await reach(4);
  await flow.command('resume', { missedPeriods: 'billAll' });
  await reach(8);
  expect(await tried()).toEqual([FIRST, '2.1 day 7 Succeed 6000 EUR']);
  await flow.command('cancel', { when: 'now' });
});

test('a bill that a pause had dropped is not tried when a person skips what was left open by the reset', async () => {
  const { flow, reach, tried, tasks, resetAfterOutage } = await weekly({}, { '1.1': NO_FUNDS });
  await reach(0);
  await flow.command('changeTerms', { metadata: { shop: '7' } });
  const task = (await tasks(0)).at(-1);
  await reach(0, 13);
  await flow.command('pause', { openPeriod: 'drop' });
  await reach(3);
  await flow.command('resume');
  await resetAfterOutage(0, 4, task);
  expect(await flow.status()).toMatchObject(inDoubtAfter('2 commands (pause, resume)'));
  expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR']);
  await flow.command('resume', { missedPeriods: 'skip' });
  await reach(6);
  expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR']);
  expect(await flow.status()).toMatchObject({ status: 'active', subscription: { unpaidPeriods: 1, billedPeriods: 0 } });
  await reach(8);
  expect((await tried()).slice(1)).toEqual(['2.1 day 7 Succeed 6000 EUR']);
  await flow.command('cancel', { when: 'now' });
});

test.each([
  ['tries a bill anew that had been given up', [1], { retryDays: [1, 3, 5] }, 2, 4],
  ['ends a subscription that had gone on', [1], { retryDays: [1], onGivenUp: 'cancel' }, 3, 5],
])('a change of the dunning that a reset gives again waits for a person: else it %s', async (...given) => {
  const [_what, retryDays, changed, on, resetOn] = given;
  const dunning = { retryDays, onGivenUp: 'continue' as const };
  const faults = { '1.1': NO_FUNDS, '1.2': NO_FUNDS };
  const { flow, reach, tried, resetAfterOutage } = await weekly({ dunning }, faults);
  await reach(on);
  const onLedger = ['1.1 day 0 Failed 6000 EUR', '1.2 day 1 Failed 6000 EUR'];
  expect(await tried()).toEqual(onLedger);
  await flow.command('changeTerms', { dunning: changed });
  await resetAfterOutage(0, resetOn);
  await flow.worksOn();
  expect(await tried()).toEqual(onLedger);
  expect(await flow.status()).toMatchObject(inDoubtAfter('1 command (changeTerms)'));
  await flow.command('resume', { missedPeriods: 'skip' });
  await reach(6);
  expect(await tried()).toEqual(onLedger);
  await flow.command('cancel', { when: 'now' });
});
