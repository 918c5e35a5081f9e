import { describe, expect, test } from 'vitest';
import { declinedFor, later } from '../../support/subscriptions.js';
import { failsWith, sharedTime } from './context.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);
const NO_FUNDS = declinedFor('insufficient_funds');

describe('a change of the plan is for the first period that is not due yet', () => {
  test('what came due in a pause is billed by the days and the amount that it came due with', async () => {
    const { flow, input, reach, tried } = await weekly();
    await reach(1);
    await flow.command('pause');
    await reach(22);
    const changed = await flow.command('changePlan', { interval: { every: 1, unit: 'year' }, amount: 9_000 });
    expect(changed).toMatchObject({ appliesFrom: { period: 5, date: later(input.anchor, 28) }, amount: 9_000 });
    await flow.command('resume', { missedPeriods: 'billAll' });
    await reach(29);
    expect(await tried()).toEqual([
      '1.1 day 0 Succeed 6000 EUR',
      '2.1 day 22 Succeed 6000 EUR',
      '3.1 day 22 Succeed 6000 EUR',
      '4.1 day 22 Succeed 6000 EUR',
      '5.1 day 28 Succeed 9000 EUR',
    ]);
    expect(await flow.status()).toMatchObject({ subscription: { billedPeriods: 5, missedPeriods: 0 } });
    expect(Date.parse((await flow.status()).dueAt ?? '') - Date.parse(input.anchor)).toBeGreaterThan(390 * 86_400_000);
    await flow.command('cancel', { when: 'now' });
  });

  test('twice, while what was due before each is not billed yet', async () => {
    const { flow, reach, tried } = await weekly(
      { periods: 5, missedPeriods: 'billAll' },
      { '1.1': { status: 'Pending' } },
    );
    await reach(8);
    expect(await flow.command('changePlan', { amount: 7_000 })).toMatchObject({ appliesFrom: { period: 3 } });
    await reach(15);
    expect(await flow.command('changePlan', { amount: 8_000, billAt: '16:00' })).toMatchObject({
      appliesFrom: { period: 4 },
    });
    const [sent] = await time.sandbox.ledger(`${flow.reference}.1.1`);
    await time.sandbox.complete(sent?.transaction_id ?? '', { status: 'Succeed' });
    await reach(30);
    expect(await tried()).toEqual([
      '1.1 day 0 Succeed 6000 EUR',
      // Nobody is told of it before the next look, which after two weeks comes daily.
      '2.1 day 16 Succeed 6000 EUR',
      '3.1 day 16 Succeed 7000 EUR',
      '4.1 day 21 Succeed 8000 EUR',
      '5.1 day 28 Succeed 8000 EUR',
    ]);
  });

  test('is refused where no such period is left', async () => {
    const { flow, reach } = await weekly({ periods: 2 }, { '2.1': NO_FUNDS });
    await reach(7);
    await expect(flow.command('changePlan', { amount: 7_000 })).rejects.toMatchObject(
      failsWith('StateConflict', 'no period is left'),
    );
    await flow.command('cancel', { when: 'now' });
  });
});

describe('resume', () => {
  /** From day 1 until `first`, with `billAll`, and from that hour until `second`; bill 2 is declined in between. */
  async function pausedTwice(first: number, second: number) {
    const subscription = await weekly({ periods: 5 }, { '2.1': NO_FUNDS });
    const { flow, reach } = subscription;
    await reach(1);
    await flow.command('pause');
    await reach(first);
    await flow.command('resume', { missedPeriods: 'billAll' });
    await reach(first, 13);
    await flow.command('pause');
    await reach(second);
    await flow.command('resume');
    return subscription;
  }

  test('without a word on missed periods leaves what an earlier one said of those that it left', async () => {
    const { flow, tried } = await pausedTwice(22, 23);
    expect(await flow.ended()).toMatchObject({ billedPeriods: 5, missedPeriods: 0 });
    expect(await tried()).toEqual([
      '1.1 day 0 Succeed 6000 EUR',
      '2.1 day 22 Failed 6000 EUR',
      '2.2 day 24 Succeed 6000 EUR',
      '3.1 day 24 Succeed 6000 EUR',
      '4.1 day 24 Succeed 6000 EUR',
      '5.1 day 28 Succeed 6000 EUR',
    ]);
  });

  test.each([
    ['nothing', 8, ['2.2 day 24 Succeed 6000 EUR', '5.1 day 28 Succeed 6000 EUR'], 2],
    ['one', 15, ['2.2 day 24 Succeed 6000 EUR', '3.1 day 24 Succeed 6000 EUR', '5.1 day 28 Succeed 6000 EUR'], 1],
  ])('does not bill what comes due in a later pause, where it has left %s', async (_what, day, billed, missed) => {
    const { flow, tried } = await pausedTwice(day, 23);
    expect(await flow.ended()).toMatchObject({ missedPeriods: missed });
    expect((await tried()).slice(2)).toEqual(billed);
  });

  test('leaves a period that is to be billed as due as it was, for every command', async () => {
    const { flow } = await pausedTwice(15, 16);
    await expect(flow.command('skipPeriod', { period: 3 })).rejects.toMatchObject(
      failsWith('StateConflict', 'period 3 is due already'),
    );
    expect(await flow.ended()).toMatchObject({ billedPeriods: 5 });
  });
});

describe('a pause until an instant', () => {
  const PAUSES = { dunning: { retryDays: [], onGivenUp: 'pause' as const } };

  test('is over then, also where a bill that was under way is given up meanwhile', async () => {
    const { flow, input, reach, tried, complete } = await weekly(PAUSES, { '1.1': { status: 'Pending' } });
    await reach(1);
    const until = `${later(input.anchor, 10)}T12:00:00Z`;
    await flow.command('pause', { until });
    await complete('1.1', { ...NO_FUNDS, status: 'Failed' });
    await reach(3);
    expect(await flow.status()).toMatchObject({
      ...{ status: 'paused', dueAt: until.replace('Z', '.000Z') },
      subscription: { unpaidPeriods: 1 },
    });
    await reach(14);
    expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR', '3.1 day 14 Succeed 6000 EUR']);
    await flow.command('cancel', { when: 'now' });
  });

  test('that passes while a payment pends is told as over only once that has ended', async () => {
    const { flow, input, reach, complete } = await weekly({}, { '1.1': { status: 'Pending' } });
    await reach(1);
    await flow.command('pause', { until: `${later(input.anchor, 2)}T12:00:00Z` });
    await reach(4);
    expect(await flow.explain()).toMatch(/paused since .* until .* and its payment .*\.1\.1, under way, has ended; /);
    await complete('1.1', { status: 'Succeed' });
    await reach(5);
    expect(await flow.status()).toMatchObject({ status: 'active' });
    await flow.command('cancel', { when: 'now' });
  });
});

test('after an outage the latest period is billed that is not to be skipped', async () => {
  const { flow, reach, tried } = await weekly({ periods: 4, missedPeriods: 'billLatest' });
  await reach(1);
  await flow.command('skipPeriod', { period: 4 });
  await time.stopWorker();
  await reach(22);
  await time.startWorker();
  expect(await flow.ended()).toMatchObject({ billedPeriods: 2, missedPeriods: 1, skippedPeriods: 1 });
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '3.1 day 22 Succeed 6000 EUR']);
  const { bills } = await time.holdfast.subscription.bills(flow.reference);
  expect(bills.map(({ period, status }) => `${period} ${status}`)).toEqual([
    ...['1 paid', '2 missed', '3 paid', '4 skipped'],
  ]);
});

describe('an answer shows the next bill as it will be', () => {
  test('after a change of the hour, and after a pause of weeks', async () => {
    const { flow, input, reach } = await weekly();
    await reach(1);
    const second = { period: 2, date: later(input.anchor, 7) };
    const { nextBill: before } = await flow.command('changePlan', { amount: 6_500 });
    const { nextBill: after } = await flow.command('changePlan', { billAt: '16:00' });
    expect([before, after]).toMatchObject([second, second]);
    expect(Date.parse(after?.dueAt ?? '') - Date.parse(before?.dueAt ?? '')).toBe(6 * 3_600_000);
    expect((await flow.command('pause')).nextBill).toBeUndefined();
    await reach(23);
    expect((await flow.command('resume')).nextBill).toMatchObject({ period: 5, date: later(input.anchor, 28) });
    await flow.command('cancel', { when: 'now' });
  });

  test('after the one that it has billed early, and none after the last one', async () => {
    const { flow, input, reach } = await weekly({ periods: 3 });
    await reach(1);
    const answer = await flow.command('billNow', { period: 2 });
    expect(answer).toMatchObject({ billedPeriods: 2, nextBill: { period: 3, date: later(input.anchor, 14) } });
    expect((await flow.command('billNow', { period: 3 })).nextBill).toBeUndefined();
    await flow.command('cancel', { when: 'now' });
  });

  test('beside a bill that is past due, in whichever run', async () => {
    const { flow, reach } = await weekly({}, { '1.1': NO_FUNDS });
    await reach(0);
    const { subscription } = await flow.status();
    expect(subscription).toMatchObject({ open: { period: 1 }, nextBill: { period: 2 } });
    await time.client.workflow.getHandle(flow.workflowId).signal('moveOn');
    await flow.worksOn();
    expect((await flow.status()).subscription).toEqual(subscription);
    await flow.command('cancel', { when: 'now' });
  });

  test('and none once nothing will be billed', async () => {
    const { flow, reach } = await weekly();
    await reach(1);
    expect((await flow.command('cancel', { when: 'periodEnd' })).nextBill).toBeUndefined();
    expect(await flow.explain()).not.toContain('period 2 is billed');
    expect(await flow.ended()).not.toHaveProperty('nextBill');
  });
});
