import { describe, expect, test } from 'vitest';
import type { SubscriptionInput } from '../../../src/contract/subscription.js';
import { inRome, later, localDay, ROME } from '../../support/subscriptions.js';
import { resetToEachTask } from '../../support/resets.js';
import { DAY, failsWith, HOUR, sharedTime } from './context.js';
import { beginWeekly, engineOf } from './weekly.js';

const time = sharedTime({ billing: true });

/** Weekly, its anchor four weeks before the day after tomorrow: periods 1 to 4 were billed elsewhere. */
async function takenOver(overrides: Partial<SubscriptionInput> = {}, faults: Parameters<typeof beginWeekly>[2] = {}) {
  const anchor = localDay((await time.now()) - 26 * DAY, ROME);
  return await beginWeekly(time, { anchor, billedThrough: 4, ...overrides }, faults);
}
const FIRST = '5.1 day 28 Succeed 6000 EUR';
const SECOND = '6.1 day 35 Succeed 6000 EUR';

describe('a subscription that was billed elsewhere before', () => {
  test.each(['its number', 'its day'])('is billed from the first period after that, named by %s, on', async (by) => {
    const anchor = localDay((await time.now()) - 26 * DAY, ROME);
    const through = by === 'its day' ? localDay(Date.parse(anchor) + 26 * DAY, ROME) : 4;
    const { flow, reach, tried } = await takenOver({ billedThrough: through, periods: 6 });
    await flow.worksOn();
    expect((await flow.status()).subscription).toMatchObject({
      ...{ billedThrough: 4, billedPeriods: 0, missedPeriods: 0 },
      nextBill: { period: 5 },
    });
    await reach(29);
    expect(await tried()).toEqual([FIRST]);
    expect(await flow.ended()).toMatchObject({
      ...{ status: 'completed', billedThrough: 4, billedPeriods: 2, missedPeriods: 0, unpaidPeriods: 0 },
    });
    expect(await tried()).toEqual([FIRST, SECOND]);
  });

  test('keeps the 31st', async () => {
    const { flow, tried, input } = await takenOver({
      anchor: '2024-01-31',
      interval: { every: 1, unit: 'month' },
      // Of the months until now all are billed; the next short one does not move those after it.
      billedThrough: localDay(await time.now(), ROME),
    });
    await time.passUntil((await time.now()) + 370 * DAY);
    const days = (await tried()).map((line) => {
      const [, day = ''] = / day (\d+) /.exec(line) ?? [];
      return localDay(Date.parse(input.anchor) + Number(day) * DAY, ROME);
    });
    expect(days.length).toBeGreaterThanOrEqual(12);
    const lastOfMonth = (day: string): boolean => localDay(Date.parse(day) + DAY, ROME).endsWith('-01');
    expect(days.filter((day) => !lastOfMonth(day))).toEqual([]);
    await flow.command('cancel', { when: 'now' });
  });

  test('and paid for its first period at checkout is billed for the second, an interval later', async () => {
    const anchor = localDay(await time.now(), ROME);
    const { flow, tried } = await takenOver({ anchor, billedThrough: 1, periods: 2 });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedThrough: 1, billedPeriods: 1 });
    expect(await tried()).toEqual(['2.1 day 7 Succeed 6000 EUR']);
  });

  test('is billed the same after a reset to its first task, before its first bill and after it', async () => {
    const { flow, reach, tried } = await takenOver({ periods: 6 });
    await flow.worksOn();
    const reset = async () =>
      await resetToEachTask(
        engineOf(time),
        flow.workflowId,
        async () => await time.passUntil((await time.now()) + HOUR),
        (task) => task === 0,
      );
    await reset();
    expect(await tried()).toEqual([]);
    await reach(29);
    expect(await tried()).toEqual([FIRST]);
    await reset();
    await reach(34);
    expect(await tried()).toEqual([FIRST]);
    expect((await flow.status()).subscription).toMatchObject({ billedThrough: 4, billedPeriods: 1, missedPeriods: 0 });
    await reach(43);
    expect(await tried()).toEqual([FIRST, SECOND]);
  });

  test('is cancelled after a reset to its first task with the payment that is under way, and no other', async () => {
    const { flow, reach, complete, tried } = await takenOver({}, { '5.1': { status: 'Pending' } });
    await reach(28);
    const handle = time.client.workflow.getHandle(flow.workflowId);
    await resetToEachTask(
      engineOf(time),
      flow.workflowId,
      async () => {
        await handle.cancel();
        await time.passUntil((await time.now()) + HOUR);
      },
      (task) => task === 0,
    );
    await complete('5.1', { status: 'Succeed' });
    expect(await handle.result()).toMatchObject({ status: 'cancelled', billedPeriods: 1, lastBilled: { period: 5 } });
    expect(await tried()).toEqual([FIRST]);
  });

  test.each([
    ['billLatest', ['6.1 day 36 Succeed 6000 EUR'], 1],
    ['billAll', ['5.1 day 36 Succeed 6000 EUR', '6.1 day 36 Succeed 6000 EUR'], 0],
    ['skip', [], 2],
  ] as const)(
    'bills after an outage over its first two bills as %s says, and nothing of before',
    async (missedPeriods, billed, missed) => {
      const { flow, reach, tried } = await takenOver({ missedPeriods });
      await flow.worksOn();
      for (const worker of time.simulation.workers) worker.kill();
      await reach(36, 13);
      time.simulation.startWorker();
      await reach(37);
      expect((await tried()).map((line) => line.replace('day 37', 'day 36'))).toEqual(billed);
      expect((await flow.status()).subscription).toMatchObject({
        ...{ billedThrough: 4, billedPeriods: billed.length, missedPeriods: missed },
      });
      await flow.command('cancel', { when: 'now' });
    },
  );

  test('takes no command for what was billed before', async () => {
    const { flow, tried } = await takenOver();
    await flow.worksOn();
    for (const name of ['billNow', 'refundPeriod'])
      await expect(flow.command(name, { period: 4 })).rejects.toMatchObject(
        failsWith('StateConflict', 'period 4 was billed before this subscription began'),
      );
    expect(await flow.command('billNow', { period: 5 })).toMatchObject({ result: { status: 'succeeded' } });
    expect(await tried()).toHaveLength(1);
    await flow.command('cancel', { when: 'now' });
  });

  test('whose end is set to what was billed before ends with that period, and bills nothing', async () => {
    const { flow, input, tried } = await takenOver();
    await flow.worksOn();
    const end = inRome(later(input.anchor, 28));
    await flow.command('changeTerms', { periods: 4 });
    await flow.worksOn();
    expect((await flow.status()).subscription).toMatchObject({ endsAt: new Date(end).toISOString() });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedThrough: 4, billedPeriods: 0 });
    expect(await time.now()).toBeGreaterThanOrEqual(end);
    expect(await tried()).toEqual([]);
  });

  test('is refused with every fault, and bills nothing', async () => {
    const { flow, tried } = await takenOver({ billedThrough: 4, periods: 4, amount: 6_000, customerId: CUSTOMER });
    const handle = time.client.workflow.getHandle(flow.workflowId);
    await expect(handle.result()).rejects.toMatchObject({
      cause: { type: 'InvalidInput', message: expect.stringMatching(/billedThrough: nothing would.*customerId: /s) },
    });
    expect(await tried()).toEqual([]);
  });
});
const CUSTOMER = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';
