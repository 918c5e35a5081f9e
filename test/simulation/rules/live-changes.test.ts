import { describe, expect, test } from 'vitest';
import { declinedFor, inRome, later } from '../../support/subscriptions.js';
import { DAY, failsWith, HOUR, sharedTime } from './context.js';
import { listenToAll, MERCHANT, takenOf } from './told.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);
const NO_FUNDS = declinedFor('insufficient_funds');

describe('a cancel at the end of the period is taken back', () => {
  test('and every period is billed as if nothing had been said', async () => {
    const { flow, reach, tried } = await weekly({ periods: 3 });
    await reach(1);
    await flow.command('cancel', { when: 'periodEnd' });
    await reach(6);
    expect(await flow.command('cancel', { when: 'undo' })).toMatchObject({ cancelAtPeriodEnd: false });
    await reach(15);
    expect(await tried()).toEqual([
      '1.1 day 0 Succeed 6000 EUR',
      '2.1 day 7 Succeed 6000 EUR',
      '3.1 day 14 Succeed 6000 EUR',
    ]);
  });

  test('only where one stands, and not once it has ended', async () => {
    const { flow, reach, tried } = await weekly();
    await reach(1);
    await expect(flow.command('cancel', { when: 'undo' })).rejects.toMatchObject(
      failsWith('StateConflict', 'no cancel at the end of a period stands'),
    );
    await flow.command('cancel', { when: 'periodEnd' });
    await reach(8);
    await expect(flow.command('cancel', { when: 'undo' })).rejects.toThrow();
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  });
});

describe('a pause with an end', () => {
  test('resumes by itself then: what came due in it is not billed, and what follows is', async () => {
    const { flow, input, reach, tried } = await weekly({ periods: 4 });
    await reach(1);
    const until = new Date(inRome(later(input.anchor, 16))).toISOString();
    await flow.command('pause', { until });
    await reach(15);
    expect(await flow.status()).toMatchObject({ status: 'paused', dueAt: until });
    expect(await flow.explain()).toContain('until ');
    await reach(17);
    expect(await flow.status()).toMatchObject({ status: 'active', subscription: { missedPeriods: 2 } });
    await reach(22);
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '4.1 day 21 Succeed 6000 EUR']);
  });

  test('is over at its time also where no worker ran then', async () => {
    const { flow, input, reach, tried } = await weekly({ periods: 4 });
    await reach(1);
    await flow.command('pause', { until: new Date(inRome(later(input.anchor, 3))).toISOString() });
    await time.stopWorker();
    await time.passUnserved(inRome(later(input.anchor, 9)));
    await time.startWorker();
    await reach(10);
    // The second came due after the pause, in the outage: it is billed by the subscription's own policy.
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 9 Succeed 6000 EUR']);
  });

  test('is ended before by a resume, and nothing is left of it', async () => {
    const { flow, input, reach, tried } = await weekly({ periods: 3 });
    await reach(1);
    await flow.command('pause', { until: new Date(inRome(later(input.anchor, 10))).toISOString() });
    await flow.command('resume');
    await reach(15);
    expect(await tried()).toHaveLength(3);
  });

  test('is refused where its end is over, or is no instant', async () => {
    const { flow, reach } = await weekly();
    await reach(1);
    const refused = failsWith('InvalidInput', 'until: ');
    await expect(flow.command('pause', { until: '2020-01-01T00:00:00Z' })).rejects.toMatchObject(refused);
    await expect(flow.command('pause', { until: '2099-01-01' })).rejects.toMatchObject(refused);
    await flow.command('cancel', { when: 'now' });
  });
});

describe('terms that change while it runs', () => {
  test('a dunning plan holds for the open bill as well', async () => {
    const { flow, reach, tried } = await weekly({ periods: 1 }, { '1.1': NO_FUNDS, '1.2': NO_FUNDS, '1.3': NO_FUNDS });
    await reach(0);
    await flow.command('changeTerms', { dunning: { retryDays: [2], onGivenUp: 'continue' } });
    await reach(6);
    // The try of the next day stood already; without the change there would be others on the days 3 and 5.
    expect((await tried()).map((line) => line.slice(0, 9))).toEqual(['1.1 day 0', '1.2 day 1', '1.3 day 2']);
    expect(await flow.ended()).toMatchObject({ unpaidPeriods: 1 });
  });

  test('an end is moved: nothing is billed beyond it, and nothing before it is lost', async () => {
    const { flow, reach, tried } = await weekly({ periods: 5 });
    await reach(8);
    await flow.command('changeTerms', { periods: 3 });
    await expect(flow.command('changeTerms', { periods: 1 })).rejects.toMatchObject(
      failsWith('InvalidInput', 'periods: 2 are billed, due or over already'),
    );
    await reach(15);
    await time.passUntil((await time.now()) + 8 * DAY);
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 3 });
    expect(await tried()).toHaveLength(3);
  });

  test('an end that has come is put off before the last period is over', async () => {
    const { flow, reach, tried } = await weekly({ periods: 1 });
    await reach(3);
    await flow.command('changeTerms', { periods: 2 });
    await reach(8);
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 7 Succeed 6000 EUR']);
  });

  test('survive into later runs, and are refused with every fault', async () => {
    const { flow, input, reach } = await weekly({ periods: 4 });
    await reach(1);
    await flow.command('changeTerms', { missedPeriods: 'skip', statementSoftDescriptor: 'CLUB' });
    await reach(8);
    await time.stopWorker();
    await time.passUnserved(inRome(later(input.anchor, 16)));
    await time.startWorker();
    await time.passUntil((await time.now()) + HOUR);
    expect(await flow.status()).toMatchObject({ subscription: { missedPeriods: 1 } });
    await expect(flow.command('changeTerms', { dunning: { retryDays: [3, 2, 9] } })).rejects.toMatchObject(
      failsWith('InvalidInput', 'dunning.retryDays.1: 2 does not come after 3'),
    );
    await expect(flow.command('changeTerms', {})).rejects.toMatchObject(failsWith('InvalidInput', 'changes nothing'));
  });

  test('send what comes next to another address, in later runs too, and refuse one that nothing may be sent to', async () => {
    const all = listenToAll(time);
    const [old, next] = [`${MERCHANT}/old`, `${MERCHANT}/new`];
    const { flow, reach } = await weekly({ periods: 3, notify: { url: old } });
    await reach(1);
    const elsewhere = { notify: { url: 'https://elsewhere.example/hook' }, dunning: { retryDays: [3, 2] } };
    await expect(flow.command('changeTerms', elsewhere)).rejects.toMatchObject({
      cause: {
        type: 'InvalidInput',
        message: expect.stringMatching(/retryDays\.1: .*; notify\.url: .* elsewhere\.example/),
      },
    });
    await flow.command('changeTerms', { notify: { url: next } });
    await reach(15);
    await flow.command('cancel', { when: 'now' });
    await time.passUntil((await time.now()) + HOUR);
    const billed = 'subscription.billed';
    expect(takenOf(all, flow.workflowId, '/old')).toEqual([billed]);
    expect(takenOf(all, flow.workflowId, '/new')).toEqual([billed, billed, 'subscription.ended']);
  });
});
