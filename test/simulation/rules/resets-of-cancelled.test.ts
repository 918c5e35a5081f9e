import { describe, expect, test } from 'vitest';
import type { SubscriptionEnded } from '../../../src/contract/subscription-commands.js';
import { resetToEachTask, resetToFirstTask } from '../../support/resets.js';
import { declinedFor, inRome, later } from '../../support/subscriptions.js';
import { failsWith, HOUR, OPERATOR, sharedTime } from './context.js';
import { beginWeekly, engineOf, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);
const NO_FUNDS = declinedFor('insufficient_funds');

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

  test('says what nobody has looked at also where it is cancelled at once, over such a payment', async () => {
    const pending = { status: 'Pending' } as const;
    const late = await weekly({ missedPeriods: 'billAll' }, { '1.1': pending, '2.1': pending });
    const { flow, reach, complete } = late;
    await reach(16);
    await complete('1.1', { status: 'Succeed' });
    await reach(17);
    await time.client.workflow.getHandle(`payment-${flow.reference}.2.1`).terminate('by mistake');
    await flow.worksOn();
    await flow.command('settleManually', { status: 'succeeded', ...OPERATOR });
    await reach(18);
    expect(await flow.status()).toMatchObject({ subscription: { billedPeriods: 3 } });
    await resetToFirstTask(time.client, flow.workflowId, [2], runIds(flow.workflowId)[1]);
    await reach(19);
    await flow.command('cancel', { when: 'now' });
    const { missedPeriods, reason } = await endedAgain(flow);
    expect({ missedPeriods }).toEqual({ missedPeriods: 0 });
    expect(reason).toContain(`payment ${flow.reference}.2.1 can't be followed`);
    expect(reason).toContain('nobody has looked what became of its periods from 3 to 3');
    await complete('2.1', { status: 'Succeed' });
  });

  test.each([
    ['which a later run is given', {}, 8, { billedPeriods: 2, missedPeriods: 2, unpaidPeriods: 0 }],
    [
      'which the run that it has made is given',
      { '1.1': NO_FUNDS },
      0,
      { billedPeriods: 0, missedPeriods: 3, unpaidPeriods: 1 },
    ],
  ])('long before the cancel leaves that one as it is, %s', async (_run, faults, paused, counts) => {
    const { flow, input, reach, beginAgain } = await weekly({}, faults);
    await reach(paused === 0 ? 0 : 1);
    await beginAgain();
    await reach(paused, 15);
    await flow.command('pause');
    await reach(23);
    const at = new Date(inRome(later(input.anchor, 28))).toISOString();
    expect(await flow.command('cancel', { when: 'periodEnd' })).toMatchObject({ status: 'paused', endsAt: at });
    await reach(26);
    expect(await flow.status()).toMatchObject({ status: 'paused' });
    expect(await endedAgain(flow)).toMatchObject({ status: 'cancelled', ...counts });
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
