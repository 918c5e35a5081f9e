import { describe, expect, test } from 'vitest';
import { declinedFor, inRome, later } from '../../support/subscriptions.js';
import { sharedTime } from './context.js';
import { listenToAll, MERCHANT } from './told.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);
const NO_FUNDS = declinedFor('insufficient_funds');

describe('a cancel at the end of the period over a bill that was charged early, and declined', () => {
  const early = async (...[of, faults]: WeeklyArguments) => {
    const one = await weekly(of, { '2.1': NO_FUNDS, ...faults });
    const endOf = (day: number) => new Date(inRome(later(one.input.anchor, day))).toISOString();
    await one.reach(1);
    await one.flow.command('billNow', { period: 2 });
    expect(await one.flow.command('cancel', { when: 'periodEnd' })).toMatchObject({ endsAt: endOf(7) });
    await one.reach(3);
    return { ...one, endOf, numbers: async () => (await one.tried()).map((row) => row.slice(0, 3)) };
  };

  test('does not charge it any more, and ends with the period that is paid', async () => {
    const { flow, numbers, endOf } = await early();
    const { endedAt, ...end } = await flow.ended();
    expect(end).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
    expect(Date.parse(endedAt)).toEqual(expect.closeTo(Date.parse(endOf(7)), -5));
    expect(await numbers()).toEqual(['1.1', '2.1']);
  });

  test('lets nobody be told of a next try, which does not come', async () => {
    const { flow, endOf } = await early();
    expect(await flow.explain()).toContain('left unbilled by the cancel; only `billNow` or another card pays it until');
    expect(await flow.explain()).not.toMatch(/next try|attempt 2/);
    const { waitingFor, dueAt, subscription } = await flow.status();
    expect({ waitingFor, dueAt }).toEqual({ waitingFor: 'command', dueAt: endOf(7) });
    expect(subscription?.open).toMatchObject({ period: 2, giveUpAt: endOf(7) });
    expect(subscription?.open).not.toHaveProperty('nextTryAt');
  });

  /** What the merchant is told where the buyer has it tried once more, which ends so. */
  const toldAfter = async (end: ReturnType<typeof declinedFor>, word: string) => {
    const all = listenToAll(time);
    const { flow, endOf } = await early({ notify: { url: MERCHANT } }, { '2.2': end });
    await flow.command('billNow', { period: 2, commandId: 'asked by the buyer' });
    await flow.ended();
    const told = all
      .map(({ notification }) => notification)
      .filter(({ type, data }) => type === `subscription.${word}` && data['subscription'] === flow.reference);
    return { flow, endOf, told };
  };

  test('asks for another card until its end at most', async () => {
    const { told, endOf } = await toldAfter(declinedFor('lost_stolen_card'), 'cardNeeded');
    expect(told.map(({ data }) => data['until'])).toEqual([endOf(7)]);
  });

  test('tells the merchant of no next try either, where the buyer has it tried in vain', async () => {
    const { flow, told } = await toldAfter(NO_FUNDS, 'declined');
    expect(told.map(({ data }) => [data['payment'], 'nextTryAt' in data])).toEqual([
      [`${flow.reference}.2.1`, true],
      [`${flow.reference}.2.2`, false],
    ]);
  });

  test.each([
    ['in the plan', {}],
    ['in its last period', { periods: 2 }],
  ])('ends with the period that the buyer pays all the same: %s', async (_where, plan) => {
    const { flow, numbers, endOf } = await early(plan);
    await flow.command('billNow', { period: 2, commandId: 'asked by the buyer' });
    expect(await flow.status()).toMatchObject({ subscription: { billedPeriods: 2 } });
    const { endedAt, ...end } = await flow.ended();
    expect(end).toMatchObject({ status: 'cancelled', billedPeriods: 2 });
    expect(Date.parse(endedAt)).toEqual(expect.closeTo(Date.parse(endOf(14)), -5));
    expect(await numbers()).toEqual(['1.1', '2.1', '2.2']);
  });

  test('that is undone has it tried again', async () => {
    const { flow, reach, numbers } = await early();
    await flow.command('cancel', { when: 'undo' });
    await reach(5);
    expect(await numbers()).toEqual(['1.1', '2.1', '2.2']);
    await flow.command('cancel', { when: 'now' });
  });
});
