import { describe, expect, test } from 'vitest';
import { declinedFor, inRome, later } from '../../support/subscriptions.js';
import { braking } from './braking.js';
import { failsWith, HOUR, OPERATOR, sharedTime } from './context.js';
import { listenToAll, MERCHANT } from './told.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const { brake } = braking(time);
const NO_FUNDS = declinedFor('insufficient_funds');
const NOTIFY = { notify: { url: `${MERCHANT}/hook` } };

async function weekly(...[overrides = {}, faults]: WeeklyArguments) {
  const all = listenToAll(time);
  const begun = await beginWeekly(time, overrides, faults);
  const { subscription } = time.holdfast;
  const { reference } = begun.flow;
  return {
    ...begun,
    bills: async () => (await subscription.bills(reference)).bills,
    preview: async (count: number, change?: object) =>
      await subscription.preview(reference, { count, ...(change !== undefined && { change }) }),
    told: (type: string) =>
      all.map(({ notification }) => notification).filter((one) => one.type === `subscription.${type}`),
  };
}

describe('the bills of a subscription', () => {
  test('say of each period what has become of it, with its days, payment and tries', async () => {
    const faults = { '3.1': NO_FUNDS, '4.1': NO_FUNDS, '4.2': NO_FUNDS };
    const dunning = { retryDays: [1], onGivenUp: 'continue' as const };
    const { flow, input, reach, bills } = await weekly({ periods: 6, billedThrough: 2, dunning }, faults);
    await reach(23);
    await flow.command('pause');
    await reach(29);
    await flow.command('resume', { missedPeriods: 'skip' });
    const open = await bills();
    expect(open).toMatchObject([
      { period: 1, through: 2, status: 'elsewhere', from: input.anchor, to: later(input.anchor, 14) },
      { period: 3, status: 'paid', amount: 6_000, payment: `${flow.reference}.3.2`, attempts: 2 },
      { period: 4, status: 'unpaid', amount: 6_000, payment: `${flow.reference}.4.2`, attempts: 2 },
      { period: 5, status: 'missed', from: later(input.anchor, 28), to: later(input.anchor, 35) },
    ]);
    expect(open[0]).not.toHaveProperty('attempts');
    expect(open[1]).toMatchObject({ from: later(input.anchor, 14), to: later(input.anchor, 21) });
    expect(open[1]?.paymentId).toMatch(/^[0-9a-f-]{36}$/);
    await flow.ended();
    // Asked after the end as well.
    expect((await bills()).map(({ period, status }) => `${period} ${status}`)).toEqual([
      ...['1 elsewhere', '3 paid', '4 unpaid', '5 missed', '6 paid'],
    ]);
  });

  test('keep their days when the interval changes, also that of one that is open then', async () => {
    const { flow, input, reach, bills } = await weekly({ periods: 4 }, { '2.1': NO_FUNDS });
    await reach(7);
    expect((await bills()).map(({ status }) => status)).toEqual(['paid', 'open']);
    await flow.command('changePlan', { interval: { every: 1, unit: 'day' } });
    await reach(10);
    await flow.command('changePlan', { billAt: '18:00' });
    await reach(17);
    expect((await bills()).map(({ from = '', to, status }) => [status, from, to])).toEqual(
      [
        ['paid', 0, 7],
        ['paid', 7, 14],
        ['paid', 14, 15],
        ['paid', 15, 16],
      ].map(([status, from, to]) => [status, later(input.anchor, Number(from)), later(input.anchor, Number(to))]),
    );
    await flow.ended();
  });

  test('are what was foreseen, with an hour that skips and a month that is short', async () => {
    const { flow, preview, bills } = await weekly({
      interval: { every: 1, unit: 'month' },
      billAt: '02:30',
      periods: 14,
    });
    const { bills: foreseen } = await preview(60);
    expect(foreseen).toHaveLength(14);
    await flow.ended();
    const done = await bills();
    expect(done.map(({ period, from, amount }) => [period, from, amount])).toEqual(
      foreseen.map(({ period, date, amount }) => [period, date, amount]),
    );
    for (const [index, { at = '' }] of done.entries())
      expect(Date.parse(at) - Date.parse(foreseen[index]?.dueAt ?? '')).toBeLessThan(60_000);
    expect((await preview(5)).bills).toEqual([]);
  });

  test('are not called unpaid where nobody knows it', async () => {
    const lost = await weekly({ periods: 2 }, { '1.1': { status: 'Pending' } });
    await lost.reach(0);
    await time.client.workflow.getHandle(`payment-${lost.flow.reference}.1.1`).terminate();
    await lost.flow.worksOn();
    expect(await lost.bills()).toMatchObject([{ period: 1, status: 'open' }]);
    expect(await lost.flow.command('cancel', { when: 'now' })).toMatchObject({ unpaidPeriods: 0 });
    expect(await lost.bills()).toMatchObject([{ period: 1, status: 'unknown', payment: `${lost.flow.reference}.1.1` }]);
    const dunning = { retryDays: [1], onGivenUp: 'continue' as const };
    const faults = { '1.1': { category: 'provider_network_error' } };
    const unconfirmed = await weekly({ periods: 1, dunning }, faults);
    await unconfirmed.flow.ended();
    expect(await unconfirmed.bills()).toMatchObject([{ period: 1, status: 'unpaid', confirmed: false }]);
  });

  test('that stay unpaid say who took a risk, and which payment may have taken the money', async () => {
    const unconfirmed = { category: 'provider_network_error' };
    const { flow, reach, bills } = await weekly({ periods: 2 }, { '1.1': unconfirmed, '1.2': unconfirmed });
    await reach(0);
    const atRisk = { period: 1, confirmRisk: true, ...OPERATOR };
    await flow.command('billNow', atRisk);
    await brake();
    await flow.command('billNow', { ...atRisk, commandId: 'again' });
    const payments = ['1.1', '1.2'].map((number) => `${flow.reference}.${number}`);
    const risks = payments.map((payment) => ({ payment, ...OPERATOR }));
    const said = { attempts: 3, payment: payments[1], confirmed: false, confirmedRisks: risks };
    expect(await bills()).toMatchObject([{ status: 'open', ...said }]);
    await flow.command('cancel', { when: 'now' });
    expect(await bills()).toMatchObject([{ status: 'unpaid', ...said }]);
  });

  test.each<[string, ...[name: string, request?: object][]]>([
    ['a cancel', ['cancel', { when: 'now' }]],
    ['the end of its period in a pause', ['pause'], ['cancel', { when: 'periodEnd' }]],
  ])('that are given up by %s are told and counted', async (_by, ...commands) => {
    const { flow, reach, told } = await weekly(NOTIFY, { '1.1': NO_FUNDS });
    await reach(0);
    for (const [name, request] of commands) await flow.command(name, request);
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', unpaidPeriods: 1, open: { period: 1 } });
    await flow.worksOn();
    const ofThis = told('unpaid').filter(({ data }) => data['subscription'] === flow.reference);
    const bill = { period: 1, amount: 6_000, currency: 'EUR', effect: 'continue' };
    expect(ofThis).toMatchObject([{ data: bill }]);
    const { bills, olderPeriods } = await time.holdfast.subscription.bills(flow.reference);
    expect(bills).toMatchObject([{ period: 1, status: 'unpaid', attempts: 1, payment: `${flow.reference}.1.1` }]);
    expect(olderPeriods).toBe(0);
  });

  test.each([['a pause'], ['an outage']])('that came due in %s are missed if it is cancelled then', async (what) => {
    const { flow, input, reach, bills, told } = await weekly(NOTIFY);
    await reach(1);
    if (what === 'a pause') {
      await flow.command('pause');
      await reach(15);
    } else {
      await time.stopWorker();
      await time.passUnserved(inRome(later(input.anchor, 15)));
      await time.client.workflow.getHandle(flow.workflowId).cancel();
      await time.startWorker();
      await flow.worksOn();
    }
    if (what === 'a pause') await flow.command('cancel', { when: 'now' });
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1, missedPeriods: 2 });
    await flow.worksOn();
    const days = { from: later(input.anchor, 7), to: later(input.anchor, 21) };
    const missed = { period: 2, through: 3, status: 'missed', ...days };
    expect(await bills()).toMatchObject([{ period: 1, status: 'paid' }, missed]);
    const ofThis = told('missed').filter(({ data }) => data['subscription'] === flow.reference);
    expect(ofThis).toMatchObject([{ data: { first: 2, last: 3 } }]);
  });

  test('to come are none after a cancel, and a preview is refused as the command would be', async () => {
    const { flow, reach, preview } = await weekly({ periods: 4 });
    await reach(1);
    await expect(preview(61, { changePlan: {}, skipPeriod: { period: 0 } })).rejects.toMatchObject({
      type: 'InvalidInput',
      faults: [
        expect.stringMatching(/^count: /),
        expect.stringMatching(/^change.changePlan: changes nothing/),
        expect.stringMatching(/^change.skipPeriod.period: /),
      ],
    });
    await flow.command('cancel', { when: 'periodEnd' });
    expect((await preview(5)).bills).toEqual([]);
    await expect(preview(5, { skipPeriod: { period: 2 } })).rejects.toMatchObject({ type: 'StateConflict' });
    await flow.command('cancel', { when: 'now' });
  });
});

describe('notices before bills', () => {
  test('are given once per period, before the trial ends and before each renewal', async () => {
    const { flow, input, reach, told, tried } = await weekly({
      ...NOTIFY,
      periods: 3,
      trialDays: 5,
      amounts: [{ fromPeriod: 3, amount: 7_000 }],
      notices: { beforeTrialEnds: 2, beforeRenewal: 3 },
    });
    await reach(2);
    expect(told('trialEnding')).toEqual([]);
    await reach(4);
    await reach(20);
    const due = (day: number) => ({
      date: later(input.anchor, day),
      dueAt: new Date(inRome(later(input.anchor, day))).toISOString(),
    });
    expect(told('trialEnding')).toMatchObject([
      {
        timestamp: expect.stringContaining(later(input.anchor, 3)),
        data: { period: 1, amount: 6_000, currency: 'EUR', ...due(5) },
      },
    ]);
    expect(told('renewing').map(({ data }) => data)).toMatchObject([
      { period: 2, amount: 6_000, ...due(12) },
      { period: 3, amount: 7_000, ...due(19) },
    ]);
    expect(told('renewing').map(({ timestamp }) => timestamp.slice(0, 10))).toEqual([
      later(input.anchor, 9),
      later(input.anchor, 16),
    ]);
    expect(await tried()).toHaveLength(3);
    await flow.ended();
  });

  test('are not given of what is not charged, and are late where no worker was there', async () => {
    const { flow, input, reach, told } = await weekly({ ...NOTIFY, periods: 5, notices: { beforeRenewal: 2 } });
    await reach(1);
    await flow.command('skipPeriod', { period: 2 });
    await flow.command('changePlan', {
      amounts: [
        { fromPeriod: 3, amount: 0 },
        { fromPeriod: 4, amount: 500 },
      ],
    });
    await reach(15);
    expect(told('skipped').map(({ data }) => data['period'])).toEqual([2]);
    expect(told('billed').map(({ data }) => data)).toMatchObject([{ period: 1 }, { period: 3, amount: 0 }]);
    await time.stopWorker();
    await time.passUnserved(inRome(later(input.anchor, 20)));
    await time.startWorker();
    await time.passUntil((await time.now()) + HOUR);
    expect(told('renewing').map(({ data }) => data['period'])).toEqual([4]);
    await flow.command('changeTerms', { notices: {} });
    await reach(27);
    await flow.command('cancel', { when: 'periodEnd' });
    await flow.ended();
    expect(told('renewing')).toHaveLength(1);
  });

  test('cost a timer only where they are asked for', async () => {
    const runs = async (more: object) => {
      const { flow } = await weekly({ ...NOTIFY, periods: 3, ...more });
      await flow.ended();
      const ours = [...time.simulation.engine.all()].filter(({ start }) => start.workflowId === flow.workflowId);
      return ours.flatMap(({ events }) => events.filter(({ timerStartedEventAttributes: timer }) => timer)).length;
    };
    expect((await runs({ notices: { beforeRenewal: 1 } })) - (await runs({}))).toBe(2);
  });
});

describe('metadata', () => {
  test('is shown and told, changes as a whole, and is never sent to the service', async () => {
    const metadata = { plan: 'gold', 'source id': 'campaign ünï' };
    const { flow, reach, told, tried } = await weekly({ ...NOTIFY, periods: 3, metadata });
    await reach(1);
    expect(await flow.status()).toMatchObject({ metadata });
    expect(told('billed')[0]?.data['metadata']).toEqual(metadata);
    const next = { plan: 'silver' };
    expect(await flow.command('changeTerms', { metadata: next })).not.toHaveProperty('metadata');
    await reach(8);
    expect(told('billed')[1]?.data['metadata']).toEqual(next);
    expect(await time.holdfast.subscription.bills(flow.reference)).toMatchObject({ metadata: next });
    await flow.command('changeTerms', { metadata: {} });
    await flow.ended();
    await time.passUntil((await time.now()) + HOUR);
    expect(told('ended')[0]?.data).not.toHaveProperty('metadata');
    expect(await tried()).toHaveLength(3);
    expect(JSON.stringify(time.requests.posts(`${flow.reference}.1.1`))).not.toContain('gold');
  });

  test('is refused where it is too much, or holds a card number', async () => {
    const { flow, input, reach } = await weekly({ periods: 2 });
    await reach(0);
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`key ${index}`, 'x']));
    const large = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`key ${index}`, 'ü'.repeat(300)]));
    for (const [metadata, fault] of [
      [many, 'metadata: has more than 20 keys'],
      [large, 'metadata: takes more than 4096 bytes'],
      [{ note: '4111 1111 1111 1111' }, 'metadata.note: looks like it holds a card number'],
      [{ note: 'y'.repeat(501) }, 'metadata.note: '],
    ] as const) {
      await expect(flow.command('changeTerms', { metadata })).rejects.toMatchObject(failsWith('InvalidInput', fault));
      await expect(
        time.holdfast.subscribe({ ...input, reference: `${input.reference}-2`, metadata: metadata as never }),
      ).rejects.toThrow(fault);
    }
    const inKeys = { '4111111111111111': 'x', '': 'x' };
    await expect(flow.command('changeTerms', { metadata: inKeys })).rejects.toMatchObject({
      cause: {
        message: expect.stringMatching(
          /metadata\.\*+1111: as a key: looks like it holds a card number.*metadata\.: as a key: /s,
        ),
      },
    });
    await flow.command('cancel', { when: 'now' });
  });
});
