import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SubscriptionInput } from '../../src/contract/subscription.js';
import {
  anotherCard,
  bills,
  declinedFor,
  inRome,
  later,
  localDay,
  monthly,
  plantOn,
  ROME,
  subscribe,
  type VirtualSubscription,
} from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { startVirtualTime, type VirtualTime } from '../support/virtual-time.js';

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime({ billing: true });
});
afterAll(async () => {
  await time?.close();
});

/** Weekly ones, of which `day` is counted from the first bill. */
async function weekly(overrides: Partial<SubscriptionInput> = {}) {
  const input = { ...(await monthly(time, { interval: { every: 1, unit: 'week' } })), ...overrides };
  const flow = await subscribe(time, input);
  return {
    flow,
    input,
    reach: async (day: number, hour = 12) => await time.passUntil(inRome(later(input.anchor, day), hour)),
    /** `1.1 day 0 10h Succeed 6000 EUR` */
    tried: async () =>
      (await bills(time, flow.reference)).map((line) =>
        line.replace(/\d{4}-\d\d-\d\d/, (date) => `day ${(Date.parse(date) - Date.parse(input.anchor)) / 86_400_000}`),
      ),
  };
}

const FOUR_WEEKS = { interval: { every: 4, unit: 'week' as const }, periods: 2 };

const refusal = (message: string, type = 'StateConflict') => ({
  cause: { type, message: expect.stringContaining(message) },
});
const refused = async (flow: VirtualSubscription, name: string, request: object, message: string): Promise<void> => {
  await expect(flow.command(name, request)).rejects.toMatchObject(refusal(message));
};

describe('pause', () => {
  test('holds a past due bill, which is tried after resume and loses no time by it', async () => {
    const { flow, input, reach, tried } = await weekly({ dunning: { onGivenUp: 'cancel' } });
    await plantOn(time, flow.reference, '1.1', declinedFor('lost_stolen_card'));
    await reach(1);
    await flow.command('pause');
    await refused(flow, 'pause', {}, 'paused already');
    await refused(flow, 'billNow', { period: 1 }, 'resume it first');
    await reach(30);
    expect(await flow.explain()).toMatch(/paused since .*; `resume` lets it go on/);
    const resumed = await flow.command('resume');
    expect(resumed).toMatchObject({ status: 'pastDue', open: { period: 1 } });
    await refused(flow, 'resume', {}, 'not paused');
    // It was to be given up within a week, four weeks ago.
    await reach(32);
    expect(await flow.explain()).toMatch(/past due since .*; another card is needed until .*, card \*{4} 1111 is not/);
    await refused(flow, 'changeCard', { token: input.token }, '');
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await flow.worksOn();
    await flow.command('cancel', { when: 'periodEnd' });
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
    expect(await tried()).toEqual(['1.1 day 0 10h Failed 6000 EUR', '1.2 day 32 12h Succeed 6000 EUR']);
  });

  test('drops a past due bill where it is told to', async () => {
    const { flow, reach, tried } = await weekly({ periods: 2 });
    await plantOn(time, flow.reference, '1.1', declinedFor('insufficient_funds'));
    await reach(0);
    await flow.command('pause', { openPeriod: 'drop' });
    await flow.worksOn();
    expect(await flow.status()).toMatchObject({ status: 'paused', subscription: { unpaidPeriods: 1 } });
    await flow.command('resume');
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1, unpaidPeriods: 1 });
    expect(await tried()).toEqual(['1.1 day 0 10h Failed 6000 EUR', '2.1 day 7 10h Succeed 6000 EUR']);
  });
});

test('changePlan takes amount, interval and hour of the next period on, and leaves the open one as it is', async () => {
  const { flow, reach, tried } = await weekly({ periods: 3 });
  await plantOn(time, flow.reference, '1.1', declinedFor('insufficient_funds'));
  await reach(0);
  const plan = { amount: 7_500, interval: { every: 10, unit: 'day' }, billAt: '16:00' };
  expect(await flow.command('changePlan', plan)).toMatchObject({ amount: 7_500, open: { amount: 6_000 } });
  await expect(flow.command('changePlan', {})).rejects.toMatchObject(refusal('changes nothing', 'InvalidInput'));
  expect(await flow.ended()).toMatchObject({ billedPeriods: 3 });
  expect(await tried()).toEqual([
    '1.1 day 0 10h Failed 6000 EUR',
    '1.2 day 1 10h Succeed 6000 EUR',
    '2.1 day 7 16h Succeed 7500 EUR',
    '3.1 day 17 16h Succeed 7500 EUR',
  ]);
});

describe('billNow', () => {
  test('bills the next period early, once, and what follows on its day; the command is remembered by later runs', async () => {
    const { flow, reach, tried } = await weekly({ periods: 3 });
    await reach(2);
    const command = { commandId: 'early', period: 2 };
    const result = { status: 'succeeded', reference: `${flow.reference}.2.1` };
    expect(await flow.command('billNow', command)).toMatchObject({ result });
    // The run that did it is over.
    expect(await flow.command('billNow', command)).toMatchObject({ result });
    await refused(flow, 'billNow', { period: 2 }, 'has been billed by payment');
    await refused(flow, 'billNow', { period: 9 }, 'neither open nor the next one, which is 3');
    await expect(flow.command('billNow', { commandId: 'early', period: 3 })).rejects.toMatchObject(
      refusal('with another request', 'ReferenceConflict'),
    );
    await reach(8);
    expect(await flow.explain()).toMatch(/2 periods billed; period 3 is billed on .* at 10:00 Europe\/Rome with card/);
    expect(await flow.command('billNow', command)).toMatchObject({ result });
    expect(await flow.ended()).toMatchObject({ billedPeriods: 3 });
    expect(await tried()).toEqual([
      '1.1 day 0 10h Succeed 6000 EUR',
      '2.1 day 2 12h Succeed 6000 EUR',
      '3.1 day 14 10h Succeed 6000 EUR',
    ]);
  });

  test('tries a declined bill at once and tells how that went; beyond the end of the plan there is nothing', async () => {
    const { flow, reach } = await weekly({ periods: 1 });
    for (const on of ['1.1', '1.2']) await plantOn(time, flow.reference, on, declinedFor('insufficient_funds'));
    await reach(0);
    await refused(flow, 'billNow', { period: 2 }, 'period 2 can not be billed while period 1 is open');
    expect(await flow.command('billNow', { period: 1 })).toMatchObject({
      status: 'pastDue',
      open: { declines: 2 },
      result: { status: 'declined', reference: `${flow.reference}.1.2` },
    });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
  });

  test('an hour early leaves a bill that is declined as much time as on its day', async () => {
    const { flow, reach, tried } = await weekly({ periods: 1, dunning: { onGivenUp: 'cancel' } });
    for (const on of ['1.1', '1.2']) await plantOn(time, flow.reference, on, declinedFor('insufficient_funds'));
    await reach(0, 9);
    await flow.command('billNow', { period: 1 });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1, unpaidPeriods: 0 });
    expect(await tried()).toEqual([
      '1.1 day 0 09h Failed 6000 EUR',
      '1.2 day 1 10h Failed 6000 EUR',
      '1.3 day 3 10h Succeed 6000 EUR',
    ]);
  });

  test('days early ends nothing before the bill is due: what is paid lasts until then, and it is tried again on its day', async () => {
    const { flow, reach, tried } = await weekly({ ...FOUR_WEEKS, dunning: { onGivenUp: 'cancel', retryDays: [2] } });
    for (const on of ['2.1', '2.2', '2.3']) await plantOn(time, flow.reference, on, declinedFor('insufficient_funds'));
    await reach(3);
    await flow.command('billNow', { period: 2 });
    await reach(6);
    expect(await flow.status()).toMatchObject({
      status: 'pastDue',
      waitingFor: 'retry',
      subscription: { open: { period: 2, declines: 2, nextTryAt: expect.any(String) } },
    });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2 });
    expect(await tried()).toEqual([
      '1.1 day 0 10h Succeed 6000 EUR',
      '2.1 day 3 12h Failed 6000 EUR',
      '2.2 day 5 10h Failed 6000 EUR',
      '2.3 day 28 10h Failed 6000 EUR',
      '2.4 day 30 10h Succeed 6000 EUR',
    ]);
  });

  test.each([
    ['declined for good', { '2.1': 'lost_stolen_card' }, {}, 'card', 31],
    ['declined as often as a bill may be', { '2.1': 'insufficient_funds' }, { maxAttempts: 1 }, 'operator', 28],
  ])('days early, and %s, leaves the subscription until the bill is due as well', async (...given) => {
    const [_how, declines, more, waitingFor, day] = given;
    const dunning = { onGivenUp: 'cancel' as const, retryDays: [2], ...more };
    const { flow, input, reach, tried } = await weekly({ ...FOUR_WEEKS, dunning });
    for (const [on, why] of Object.entries(declines)) await plantOn(time, flow.reference, on, declinedFor(why));
    await reach(3);
    await flow.command('billNow', { period: 2 });
    await reach(27);
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor });
    expect(await flow.ended()).toMatchObject({ status: 'givenUp', billedPeriods: 1, unpaidPeriods: 1 });
    expect(localDay(await time.now(), ROME)).toBe(later(input.anchor, day));
    expect(await tried()).toHaveLength(2);
  });

  test('does not try a card again that was declined for good in the period before', async () => {
    const { flow, reach, tried } = await weekly({ periods: 2, dunning: { onGivenUp: 'continue', retryDays: [] } });
    await plantOn(time, flow.reference, '1.1', declinedFor('lost_stolen_card'));
    await reach(5);
    expect(await flow.status()).toMatchObject({ status: 'active', subscription: { unpaidPeriods: 1 } });
    await refused(flow, 'billNow', { period: 2 }, 'change the card');
    await flow.command('cancel', { when: 'now' });
    expect(await tried()).toHaveLength(1);
  });
});

describe('cancel', () => {
  test('now ends at once, a past due bill unpaid; at the end of the period nothing further is billed', async () => {
    const now = await weekly();
    const atEnd = await weekly();
    await plantOn(time, now.flow.reference, '1.1', declinedFor('insufficient_funds'));
    await now.reach(0);
    expect(await atEnd.flow.command('cancel', { when: 'periodEnd' })).toMatchObject({ cancelAtPeriodEnd: true });
    await refused(atEnd.flow, 'billNow', { period: 2 }, 'not billed any more');
    expect(await now.flow.command('cancel', { when: 'now', why: 'asked by phone' })).toMatchObject({
      status: 'cancelled',
      reason: 'asked by phone',
      open: { period: 1 },
    });
    expect(await atEnd.flow.ended()).toMatchObject({ status: 'cancelled', reason: 'at the end of the period' });
    expect(await now.tried()).toHaveLength(1);
    expect(await atEnd.tried()).toHaveLength(1);
  });

  test('at the end of the period ends a paused one, too, which nobody resumes', async () => {
    const { flow, reach, tried } = await weekly();
    await reach(0);
    await flow.command('pause');
    await flow.command('cancel', { when: 'periodEnd' });
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', reason: 'at the end of the period' });
    expect(await tried()).toHaveLength(1);
  });
});

test('refundPeriod refunds the last period by default, once per command, and never more than was billed', async () => {
  const { flow, reach } = await weekly();
  await refused(flow, 'refundPeriod', {}, 'no period has been billed');
  await reach(8);
  await expect(flow.command('refundPeriod', { amount: 6_001 })).rejects.toMatchObject(
    refusal('is more than the 60.00 EUR billed for period 2', 'InvalidInput'),
  );
  const part = { commandId: 'part', period: 1, amount: 5_000 };
  for (let count = 0; count < 2; count += 1) {
    expect(await flow.command('refundPeriod', part)).toMatchObject({ result: { status: 'succeeded', amount: 5_000 } });
  }
  expect(await flow.command('refundPeriod')).toMatchObject({ result: { status: 'succeeded', amount: 6_000 } });
  await refused(flow, 'refundPeriod', { period: 2 }, 'left');
  const refunds = (await time.sandbox.ledger()).filter(({ kind }) => kind === 'refund');
  expect(refunds.map(({ amount }) => amount)).toEqual([5_000, 6_000]);
  await flow.command('cancel', { when: 'now' });
});

test('refundPeriod that nobody answers holds up no bill, and the same command means the same period later', async () => {
  const { flow, input, reach } = await weekly();
  await reach(1);
  const refunds = async () => (await time.sandbox.ledger()).filter(({ kind }) => kind === 'refund').length;
  const before = await refunds();
  const lift = time.fail('refundBill');
  const command = { commandId: 'slow' };
  // As a client without a time limit: the days that pass are more than a caller of ours waits.
  const asked = flow.command('refundPeriod', command).catch((error: unknown) => error);
  await reach(8);
  expect(await asked).toMatchObject(refusal('send the same command again', 'ProviderUnavailable'));
  lift();
  // On a slow machine the bill may still be on its way, though its day is over.
  await until(
    () => bills(time, flow.reference),
    (made) => made.at(-1)?.includes(`2.1 ${later(input.anchor, 7)} 10h Succeed`) === true,
  );
  const result = { status: 'succeeded', amount: 6_000, reference: `${flow.reference}.1.1` };
  expect(await time.holdfast.subscription.refundPeriod(flow.reference, command)).toMatchObject({ result });
  expect(await refunds()).toBe(before + 1);
  await flow.command('cancel', { when: 'now' });
});

test('billNow whose payment failed without confirmation says so, and what an operator then finds out', async () => {
  const { flow, reach, tried } = await weekly();
  await reach(0, 9);
  const unreachable = { category: 'provider_network_error', times: 5 } as const;
  await plantOn(time, flow.reference, '1.1', unreachable);
  const command = { commandId: 'now', period: 1 };
  const asked = time.client.workflow.getHandle(flow.workflowId).executeUpdate('billNow', { args: [command] });
  // Taken before its day comes, which would bill it anyhow.
  await until(
    () => flow.status(),
    ({ status }) => status === 'billing',
  );
  await reach(1);
  expect(await asked).toMatchObject({ result: { status: 'declined', confirmed: false } });
  await flow.command('settleManually', { status: 'succeeded', who: 'ann@finance', why: 'on the settlement file' });
  expect(await flow.command('billNow', command)).toMatchObject({ result: { status: 'succeeded' } });
  expect(await tried()).toHaveLength(1);
  await flow.command('cancel', { when: 'now' });
});
