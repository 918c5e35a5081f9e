import { describe, expect, test } from 'vitest';
import { anotherCard, declinedFor, inRome, later } from '../../support/subscriptions.js';
import { DAY, failsWith, sharedTime } from './context.js';
import { listenToAll, MERCHANT, takenOf } from './told.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);
const NO_FUNDS = declinedFor('insufficient_funds');

describe('an end that is set later', () => {
  test.each(['periods', 'endsOn'])('holds by %s also for what came due before the interval was changed', async (by) => {
    const { flow, input, reach, tried } = await weekly();
    await reach(1);
    await flow.command('pause');
    await reach(22);
    await flow.command('changePlan', { interval: { every: 1, unit: 'year' } });
    await flow.command('changeTerms', by === 'periods' ? { periods: 2 } : { endsOn: later(input.anchor, 14) });
    await flow.command('resume', { missedPeriods: 'billAll' });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2 });
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 22 Succeed 6000 EUR']);
  });

  test('is answered with the next bill, or the end, as it will be', async () => {
    const { flow, input, reach } = await weekly({ periods: 5 });
    await reach(8);
    const answer = await flow.command('changeTerms', { periods: 2 });
    expect(answer.nextBill).toBeUndefined();
    expect(answer.endsAt).toBe(new Date(inRome(later(input.anchor, 14))).toISOString());
    const put = await flow.command('changeTerms', { periods: 3 });
    expect(put).toMatchObject({ nextBill: { period: 3 } });
    expect(put.endsAt).toBeUndefined();
    await flow.command('cancel', { when: 'now' });
  });

  test('and so while a bill is past due', async () => {
    const { flow, reach } = await weekly({ periods: 5 }, { '2.1': NO_FUNDS });
    await reach(7);
    const answer = await flow.command('changeTerms', { periods: 2 });
    expect(answer.nextBill).toBeUndefined();
    expect((await flow.status()).subscription?.nextBill).toBeUndefined();
    await flow.command('cancel', { when: 'now' });
  });

  test('is refused by a day on which the open bill had begun already: it would be tried all the same', async () => {
    const { flow, input, reach, tried } = await weekly({}, { '2.1': NO_FUNDS });
    await reach(7);
    await expect(flow.command('changeTerms', { endsOn: later(input.anchor, 7) })).rejects.toMatchObject(
      failsWith('InvalidInput', 'endsOn: period 2 began on'),
    );
    await flow.command('changeTerms', { endsOn: later(input.anchor, 8) });
    await reach(15);
    expect(await tried()).toHaveLength(3);
  });
});

test('fewer attempts than were declined give the bill up: the try that stood is not made', async () => {
  const { flow, reach, tried } = await weekly({ periods: 2 }, { '1.1': NO_FUNDS, '1.2': NO_FUNDS, '1.3': NO_FUNDS });
  await reach(2);
  expect(await tried()).toHaveLength(2);
  await flow.command('changeTerms', { dunning: { maxAttempts: 2, onGivenUp: 'continue' } });
  await reach(6);
  expect(await tried()).toHaveLength(2);
  expect(await flow.status()).toMatchObject({ subscription: { unpaidPeriods: 1 } });
  await flow.command('cancel', { when: 'now' });
});

test.each([NO_FUNDS, declinedFor('lost_stolen_card')])(
  'a bill charged early whose attempts are used up asks for no card, which would not be tried, before other terms allow it: $sub_category',
  async (decline) => {
    const all = listenToAll(time);
    const dunning = { retryDays: [], maxAttempts: 1 };
    const { flow, input, reach, tried } = await weekly(
      { dunning, notify: { url: `${MERCHANT}/hook` } },
      { '2.1': decline, '3.1': decline },
    );
    await reach(5);
    await flow.command('billNow', { period: 2 });
    await flow.worksOn();
    expect(await flow.status()).toMatchObject({
      status: 'pastDue',
      waitingFor: 'operator',
      needsOperator: true,
      operatorReason: expect.stringContaining('its maxAttempts (1) are used up; it is given up when it is due'),
    });
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    expect(await tried()).toHaveLength(2);
    await flow.command('changeTerms', { dunning: { ...dunning, maxAttempts: 2 } });
    await flow.command('billNow', { period: 2 });
    await reach(6);
    expect((await tried()).slice(1)).toEqual(['2.1 day 5 Failed 6000 EUR', '2.2 day 5 Succeed 6000 EUR']);
    expect(takenOf(all, flow.workflowId)).not.toContain('subscription.cardNeeded');
    await flow.command('changeTerms', { dunning });
    await reach(12);
    await flow.command('billNow', { period: 3 });
    expect(await flow.ended()).toMatchObject({ status: 'givenUp', billedPeriods: 2, unpaidPeriods: 1 });
  },
);

test('an undo of a cancel that waits for a payment is refused, and not answered with the end', async () => {
  const { flow, reach } = await weekly({ periods: 3 }, { '1.1': { status: 'Pending' } });
  await reach(0);
  const cancelled = flow.command('cancel', { when: 'now' });
  await expect(flow.command('cancel', { when: 'undo' })).rejects.toMatchObject(
    failsWith('StateConflict', 'it ends as soon'),
  );
  const [sent] = await time.sandbox.ledger(`${flow.reference}.1.1`);
  await time.sandbox.complete(sent?.transaction_id ?? '', { status: 'Succeed' });
  await time.passUntil((await time.now()) + DAY);
  expect(await cancelled).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
});
