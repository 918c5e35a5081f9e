import { describe, expect, test } from 'vitest';
import { anotherCard, declinedFor, inRome, later } from '../../support/subscriptions.js';
import { failsWith, HOUR, sharedTime } from './context.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const NO_FUNDS = declinedFor('insufficient_funds');
const STOLEN = declinedFor('lost_stolen_card');

async function metered(overrides: WeeklyArguments[0] = {}, faults: WeeklyArguments[1] = {}) {
  const begun = await beginWeekly(time, { metered: true, amount: undefined, ...overrides } as never, faults);
  const set = async (period: number, amount: number, more: object = {}) =>
    await begun.flow.command('setAmount', { period, amount, ...more });
  return { ...begun, set, bills: async () => (await time.holdfast.subscription.bills(begun.flow.reference)).bills };
}

describe('a metered subscription', () => {
  test('bills what was supplied before each period, the last word of each', async () => {
    const { flow, reach, tried, set } = await metered({ periods: 3 });
    await set(1, 100);
    await set(1, 150);
    await set(3, 350);
    expect(await flow.status()).toMatchObject({ subscription: { amount: 150 } });
    await reach(1);
    await set(2, 250);
    await reach(15);
    expect(await tried()).toEqual([
      '1.1 day 0 Succeed 150 EUR',
      '2.1 day 7 Succeed 250 EUR',
      '3.1 day 14 Succeed 350 EUR',
    ]);
  });

  test('never bills a guess: it waits as long as nobody says what a period costs, and asks a person after a day', async () => {
    const { flow, input, reach, tried, set, bills } = await metered({ periods: 3 });
    await reach(0);
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'amount', needsOperator: false });
    await expect(flow.command('billNow', { period: 1 })).rejects.toMatchObject(
      failsWith('StateConflict', 'period 1 has no amount yet'),
    );
    await reach(2);
    expect(await flow.status()).toMatchObject({ waitingFor: 'amount', needsOperator: true });
    expect(await flow.explain()).toMatch(/^Metered subscription in EUR.* has no amount; `setAmount` supplies it/);
    await set(2, 250);
    // The second one comes due meanwhile, and waits for the first.
    await reach(9);
    expect(await tried()).toEqual([]);
    expect(await bills()).toMatchObject([{ period: 1, status: 'open', attempts: 0 }]);
    const command = { commandId: 'first' };
    await set(1, 150, command);
    await set(1, 150, command);
    await flow.worksOn();
    expect(await flow.status()).toMatchObject({ status: 'active', needsOperator: false });
    expect(await tried()).toEqual(['1.1 day 9 Succeed 150 EUR', '2.1 day 9 Succeed 250 EUR']);
    expect((await bills())[0]).toMatchObject({ from: input.anchor, to: later(input.anchor, 7), amount: 150 });
    await expect(set(1, 200)).rejects.toMatchObject(failsWith('StateConflict', 'period 1 is billed, due or over'));
    await flow.command('cancel', { when: 'now' });
  });

  test('keeps an amount once its payment has begun, and tries it again with that one', async () => {
    const { flow, reach, tried, set } = await metered({ periods: 1 }, { '1.1': NO_FUNDS });
    await set(1, 150);
    await reach(0);
    await expect(set(1, 200)).rejects.toMatchObject(failsWith('StateConflict', 'keeps its amount'));
    await reach(2);
    expect(await tried()).toEqual(['1.1 day 0 Failed 150 EUR', '1.2 day 1 Succeed 150 EUR']);
    await flow.command('cancel', { when: 'now' });
  });

  test('has time to try a bill again whose amount came late', async () => {
    const { reach, tried, set, flow } = await metered({ periods: 2 }, { '1.1': NO_FUNDS });
    await reach(9);
    await set(1, 150);
    await set(2, 0);
    await reach(11);
    expect(await tried()).toEqual(['1.1 day 9 Failed 150 EUR', '1.2 day 10 Succeed 150 EUR']);
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2 });
  });

  test('bills nothing for an amount of 0, also for one that it waits for', async () => {
    const { flow, reach, tried, set, bills } = await metered({ periods: 2 });
    await reach(1);
    await set(1, 0);
    await set(2, 0);
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2 });
    expect(await tried()).toEqual([]);
    expect((await bills()).map(({ status }) => status)).toEqual(['nothing', 'nothing']);
  });

  test('is ended, paused and moved while it waits, like each subscription', async () => {
    const { flow, reach, tried, set, bills } = await metered({ periods: 3, interval: { every: 1, unit: 'month' } });
    await reach(0);
    await time.client.workflow.getHandle(flow.workflowId).signal('moveOn');
    await flow.worksOn();
    expect(await flow.status()).toMatchObject({ waitingFor: 'amount' });
    await flow.command('pause', { openPeriod: 'drop' });
    await flow.worksOn();
    expect(await bills()).toMatchObject([{ period: 1, status: 'unpaid', attempts: 0 }]);
    expect((await bills())[0]).not.toHaveProperty('amount');
    await flow.command('resume');
    await reach(33);
    await flow.command('cancel', { when: 'periodEnd' });
    await set(2, 250);
    await reach(34);
    expect((await tried()).map((line) => line.slice(0, 3))).toEqual(['2.1']);
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1, unpaidPeriods: 1 });
  });

  test('asks for a card that its next period needs once it is known what that costs', async () => {
    const { flow, input, reach, tried, set } = await metered({ dunning: { onGivenUp: 'continue' } }, { '1.1': STOLEN });
    await set(1, 150);
    await reach(8);
    expect(await flow.status()).toMatchObject({ waitingFor: 'amount' });
    await set(2, 250);
    await flow.worksOn();
    expect(await flow.status()).toMatchObject({ waitingFor: 'card', subscription: { open: { amount: 250 } } });
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await flow.worksOn();
    expect((await tried()).slice(1)).toEqual(['2.1 day 8 Succeed 250 EUR']);
    await flow.command('cancel', { when: 'now' });
  });

  test('has a day to be tried again where its amount came after the end of a cancelled subscription', async () => {
    const { flow, reach, tried, set } = await metered({}, { '1.1': NO_FUNDS });
    await reach(1);
    await flow.command('cancel', { when: 'periodEnd' });
    await reach(9);
    await set(1, 300);
    await flow.worksOn();
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'retry' });
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
    expect(await tried()).toEqual(['1.1 day 9 Failed 300 EUR', '1.2 day 10 Succeed 300 EUR']);
  });

  test('has a day where its amount came shortly before that end', async () => {
    const { flow, input, reach, tried, set } = await metered({}, { '1.1': STOLEN });
    await reach(1);
    await flow.command('cancel', { when: 'periodEnd' });
    await reach(7, 8);
    await set(1, 300);
    await reach(7, 20);
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card' });
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
    expect((await tried()).slice(1)).toEqual(['1.2 day 7 Succeed 300 EUR']);
  });

  test('has a day for another card where its amount came after that time was over', async () => {
    const dunning = { onGivenUp: 'continue' as const };
    const { flow, input, reach, tried, set } = await metered({ periods: 2, dunning }, { '1.1': STOLEN });
    await set(1, 150);
    await reach(15);
    await set(2, 250);
    await flow.worksOn();
    const giveUpAt = new Date(inRome(later(input.anchor, 16), 12)).toISOString().slice(0, 16);
    const open = { period: 2, giveUpAt: expect.stringContaining(giveUpAt) };
    expect(await flow.status()).toMatchObject({ waitingFor: 'card', subscription: { open } });
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await flow.ended();
    expect((await tried()).slice(1)).toEqual(['2.1 day 15 Succeed 250 EUR']);
  });

  test('follows the payment of an amount that a reset has lost', async () => {
    const { flow, reach, tried, set, beginAgain } = await metered({ periods: 2 });
    await set(1, 150);
    await reach(1);
    await beginAgain();
    await set(1, 999).catch(() => undefined);
    expect(await flow.status()).toMatchObject({ status: 'active', subscription: { lastBilled: { amount: 150 } } });
    expect(await tried()).toEqual(['1.1 day 0 Succeed 150 EUR']);
    await flow.command('cancel', { when: 'now' });
  });

  test('tries a declined payment again with its amount, also if a reset has lost that', async () => {
    const { flow, reach, tried, set, beginAgain } = await metered({ periods: 1 }, { '1.1': NO_FUNDS });
    await set(1, 150);
    await reach(0);
    await beginAgain();
    await reach(2);
    expect(await tried()).toEqual(['1.1 day 0 Failed 150 EUR', '1.2 day 1 Succeed 150 EUR']);
    await flow.command('cancel', { when: 'now' });
  });

  test('is given an amount that a reset has lost, where its payment can not be followed to say it', async () => {
    const { flow, reach, set, beginAgain, bills } = await metered({ periods: 1 }, { '1.1': { status: 'Pending' } });
    await set(1, 150);
    await reach(0);
    await time.client.workflow.getHandle(`payment-${flow.reference}.1.1`).terminate();
    await flow.worksOn();
    await beginAgain();
    await expect(set(1, 0)).rejects.toMatchObject(failsWith('StateConflict', 'keeps its amount'));
    await set(1, 150);
    await expect(set(1, 200)).rejects.toMatchObject(failsWith('StateConflict', 'keeps its amount'));
    await flow.command('settleManually', { status: 'succeeded', who: 'Ada', why: 'the ledger has it' });
    expect(await bills()).toMatchObject([{ status: 'paid', amount: 150 }]);
    await flow.command('cancel', { when: 'now' });
  });

  test('tries a bill that is past due again after an outage, though the next one is due', async () => {
    const { flow, input, reach, tried, set } = await metered({ periods: 2 }, { '1.1': NO_FUNDS });
    await set(1, 150);
    await set(2, 250);
    await reach(0);
    await time.stopWorker();
    await time.passUnserved(inRome(later(input.anchor, 8)));
    await time.startWorker();
    await time.passUntil((await time.now()) + HOUR);
    expect((await tried()).slice(1)).toEqual(['1.2 day 8 Succeed 150 EUR', '2.1 day 8 Succeed 250 EUR']);
    await flow.ended();
  });

  test('bills every period that came due in an outage, each with its amount', async () => {
    const { flow, input, reach, tried, set } = await metered({ periods: 3 });
    await reach(-1);
    for (const period of [1, 2, 3]) await set(period, period * 100);
    await time.stopWorker();
    await time.passUnserved(inRome(later(input.anchor, 16)));
    await time.startWorker();
    await time.passUntil((await time.now()) + HOUR);
    expect((await tried()).map((line) => line.replace(/day \d+/, ''))).toEqual([
      '1.1  Succeed 100 EUR',
      '2.1  Succeed 200 EUR',
      '3.1  Succeed 300 EUR',
    ]);
    await flow.command('cancel', { when: 'now' });
  });

  test('is refused amounts in another way, and others are refused these', async () => {
    const { flow, input, set } = await metered({ periods: 3 });
    await expect(flow.command('changePlan', { amount: 5 })).rejects.toMatchObject(
      failsWith('InvalidInput', 'amount: it is metered'),
    );
    await expect(set(4, 5)).rejects.toMatchObject(failsWith('InvalidInput', 'period: 4 is never billed'));
    const other = await beginWeekly(time);
    await expect(other.flow.command('setAmount', { period: 1, amount: 5 })).rejects.toMatchObject(
      failsWith('StateConflict', 'it is not metered'),
    );
    await other.flow.command('cancel', { when: 'now' });
    await flow.command('cancel', { when: 'now' });
    const both = { ...input, reference: `${input.reference}-2`, amount: 5, amounts: [{ fromPeriod: 2, amount: 1 }] };
    await expect(time.holdfast.subscribe(both)).rejects.toMatchObject({
      faults: [
        'amount: is not given with metered, but by setAmount',
        'amounts: is not given with metered, but by setAmount',
      ],
    });
    await expect(time.holdfast.subscribe({ ...both, metered: undefined, amount: undefined } as never)).rejects.toThrow(
      'amount: a missing value is not an amount',
    );
  });
});
