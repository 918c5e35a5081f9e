import { describe, expect, test } from 'vitest';
import { anotherCard, declinedFor, inRome, later } from '../../support/subscriptions.js';
import { firstRunOf, resetToFirstTask } from '../../support/resets.js';
import { braking } from './braking.js';
import { failsWith, HOUR, OPERATOR, SECOND, sharedTime } from './context.js';
import { beginResettable, beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const { brake, release } = braking(time);
const FOUR_WEEKS = { interval: { every: 4, unit: 'week' as const }, periods: 1 };
const UNCONFIRMED = { category: 'provider_network_error' };
const STOLEN = { ...OPERATOR, status: 'declined', category: 'lost_stolen_card' } as const;

const begin = async (faults: WeeklyArguments[1]) => await beginWeekly(time, FOUR_WEEKS, faults);

describe('what a person says of a payment in doubt is about the card that it was tried with', () => {
  test.each(['unconfirmed', 'lost'])('another one is tried at once: %s', async (doubt) => {
    const { flow, input, reach, tried, complete } = await begin({
      '1.1': doubt === 'lost' ? { status: 'Pending' } : UNCONFIRMED,
    });
    await reach(0, 13);
    if (doubt === 'lost') {
      await time.client.workflow.getHandle(`payment-${flow.reference}.1.1`).terminate('by accident');
      await time.passUntil((await time.now()) + HOUR);
      await complete('1.1', { status: 'Failed', category: 'payment_method_declined', subCategory: 'lost_stolen_card' });
    }
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'operator' });
    const token = await anotherCard(time, input.customerId);
    await flow.command('changeCard', { token });
    await flow.command('settleManually', STOLEN);
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1, card: { token } });
    expect((await tried()).at(-1)).toBe('1.2 day 0 Succeed 6000 EUR');
  });

  test('another one is not charged for it beside the period that is due by then', async () => {
    const context = await beginWeekly(time, { periods: 2 }, { '1.1': { status: 'Pending' } });
    const { flow, input, reach, tried, complete } = context;
    await reach(0, 13);
    await time.client.workflow.getHandle(`payment-${flow.reference}.1.1`).terminate('by accident');
    await reach(8);
    await complete('1.1', { status: 'Failed', category: 'payment_method_declined' });
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await flow.command('settleManually', STOLEN);
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1, unpaidPeriods: 1 });
    expect((await tried()).map((one) => one.split(' ')[0])).toEqual(['1.1', '2.1']);
  });

  test('another one that is looked up as the next period begins is not charged beside it, and ends nothing', async () => {
    const [soft, hard] = [declinedFor('insufficient_funds'), declinedFor('lost_stolen_card')];
    const { flow, input, reach, tried } = await beginWeekly(
      time,
      { dunning: { retryDays: [6] } },
      { '1.1': soft, '1.2': hard },
    );
    await reach(6);
    const endsAt = Date.parse((await flow.status()).dueAt ?? '');
    const token = await anotherCard(time, input.customerId);
    await time.passUntil(endsAt - 10 * SECOND);
    const looking = time.hold('getPaymentMethod');
    const changed = flow.command('changeCard', { token });
    await looking.reached;
    await time.passUntil(endsAt + SECOND);
    looking.release();
    await changed;
    await reach(8);
    expect((await tried()).map((one) => one.split(' ')[0])).toEqual(['1.1', '1.2', '2.1']);
    expect(await flow.status()).toMatchObject({
      status: 'active',
      subscription: { billedPeriods: 1, unpaidPeriods: 1, card: { token } },
    });
    await flow.command('cancel', { when: 'now' });
  });

  test('another one is tried at once after a try of it that a brake has stopped', async () => {
    const { flow, input, reach, tried } = await begin({ '1.1': UNCONFIRMED });
    await reach(0, 13);
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await brake();
    await flow.command('billNow', { period: 1, confirmRisk: true, ...OPERATOR });
    await release();
    await flow.command('settleManually', STOLEN);
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
    expect((await tried()).at(-1)).toBe('1.3 day 0 Succeed 6000 EUR');
  });

  test('without another one its own is not tried again', async () => {
    const { flow, input, reach, tried } = await begin({ '1.1': UNCONFIRMED });
    await reach(0, 13);
    await flow.command('changeCard', { token: input.token });
    await flow.command('settleManually', STOLEN);
    await flow.worksOn();
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card' });
    expect(await tried()).toHaveLength(1);
    await flow.command('cancel', { when: 'now' });
  });
});

describe('a card that was declined for good is not tried again by giving it after another one', () => {
  const STOLEN_CARD = declinedFor('lost_stolen_card');
  const isRefused = failsWith('StateConflict', 'its issuer has declined this very card for good');

  test('while its bill is open, whose second card is declined as well', async () => {
    const { flow, input, reach, tried } = await begin({ '1.1': STOLEN_CARD, '1.2': declinedFor('insufficient_funds') });
    await reach(0);
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await reach(0, 13);
    await expect(flow.command('changeCard', { token: input.token })).rejects.toMatchObject(isRefused);
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
    expect(await tried()).toHaveLength(3);
  });

  test('in later periods, also where a person has said that it was', async () => {
    const { flow, input, reach } = await beginWeekly(time, { periods: 3 }, { '1.1': UNCONFIRMED });
    await reach(0, 13);
    const token = await anotherCard(time, input.customerId);
    await flow.command('changeCard', { token });
    await flow.command('settleManually', STOLEN);
    await reach(8);
    await expect(flow.command('changeCard', { token: input.token })).rejects.toMatchObject(isRefused);
    // The other one was not declined.
    await flow.command('changeCard', { token });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 3 });
  });
});

test('a card is not called declined for what another one was before a reset', async () => {
  const { flow, input, reach, tried } = await begin({ '1.1': declinedFor('lost_stolen_card') });
  await reach(1);
  const token = await anotherCard(time, input.customerId);
  expect(await flow.command('changeCard', { token })).toMatchObject({ card: { token } });
  await reach(2);
  const billed = ['1.1 day 0 Failed 6000 EUR', '1.2 day 1 Succeed 6000 EUR'];
  expect(await tried()).toEqual(billed);
  await resetToFirstTask(time.client, flow.workflowId, [], await firstRunOf(time.client, flow.workflowId));
  await time.passUntil((await time.now()) + HOUR);
  expect(await flow.status()).toMatchObject({ status: 'active', subscription: { billedPeriods: 1, card: { token } } });
  expect(await flow.command('changeCard', { token })).toMatchObject({ card: { token } });
  const stolen = flow.command('changeCard', { token: input.token });
  await expect(stolen).rejects.toMatchObject(failsWith('StateConflict', 'has declined this very card for good'));
  expect(await tried()).toEqual(billed);
  await flow.command('cancel', { when: 'now' });
});

test('a card that was declined for good is charged by no `changeCard` that was refused, and is done when a reset gives it again', async () => {
  const { flow, input, reach, tried, reset } = await beginResettable(
    time,
    {},
    { '2.1': declinedFor('lost_stolen_card') },
  );
  await reach(7);
  const token = await anotherCard(time, input.customerId);
  await flow.command('changeCard', { token });
  await reach(8);
  await expect(flow.command('changeCard', { token: input.token })).rejects.toMatchObject(
    failsWith('StateConflict', 'has declined this very card for good'),
  );
  await reset(1);
  const billed = ['1.1 day 0 Succeed 6000 EUR', '2.1 day 7 Failed 6000 EUR', '2.2 day 7 Succeed 6000 EUR'];
  expect(await tried()).toEqual(billed);
  await expect(flow.command('billNow', { period: 3 })).rejects.toMatchObject(
    failsWith('StateConflict', 'period 3 can not be tried: its card was declined for good'),
  );
  expect(await flow.status()).toMatchObject({ status: 'active', subscription: { nextBill: { period: 3 } } });
  await reach(15);
  expect(await tried()).toEqual(billed);
  expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card' });
  await expect(flow.command('billNow', { period: 3 })).rejects.toMatchObject(failsWith('StateConflict', 'card'));
  await flow.command('changeCard', { token });
  await flow.worksOn();
  expect(await tried()).toEqual([...billed, '3.1 day 15 Succeed 6000 EUR']);
  await flow.command('cancel', { when: 'now' });
});

test('nor by a `billNow` of a bill whose retry on the other card was to come', async () => {
  const { flow, input, reach, tried, reset } = await beginResettable(
    time,
    {},
    { '2.1': declinedFor('lost_stolen_card'), '2.2': declinedFor('insufficient_funds') },
  );
  await reach(7);
  await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
  await reach(7, 14);
  await expect(flow.command('changeCard', { token: input.token })).rejects.toMatchObject(
    failsWith('StateConflict', 'has declined this very card for good'),
  );
  await reset(1);
  await flow.command('resume', { missedPeriods: 'billAll' });
  await expect(flow.command('billNow', { period: 2 })).rejects.toMatchObject(
    failsWith('StateConflict', 'period 2 can not be tried: its card was declined for good'),
  );
  expect(await tried()).toHaveLength(3);
  await flow.command('cancel', { when: 'now' });
});

test.each(['unconfirmed', 'lost'])('nor for what a person says of it after a reset: %s', async (doubt) => {
  const { flow, input, reach, tried } = await begin({ '1.1': doubt === 'lost' ? { status: 'Pending' } : UNCONFIRMED });
  await reach(0, 13);
  if (doubt === 'lost') {
    await time.client.workflow.getHandle(`payment-${flow.reference}.1.1`).terminate('by accident');
    await flow.worksOn();
    const [sent] = await time.sandbox.ledger(`${flow.reference}.1.1`);
    await time.sandbox.complete(sent?.transaction_id ?? '', { status: 'Failed', category: 'payment_method_declined' });
  }
  const token = await anotherCard(time, input.customerId);
  await flow.command('changeCard', { token });
  await resetToFirstTask(time.client, flow.workflowId, [], await firstRunOf(time.client, flow.workflowId));
  await reach(1);
  expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'operator' });
  await flow.command('settleManually', STOLEN);
  const outcome = await time.client.workflow.getHandle(flow.workflowId).result();
  expect(outcome).toMatchObject({ status: 'completed', billedPeriods: 1, card: { token } });
  expect((await tried()).at(-1)).toBe('1.2 day 1 Succeed 6000 EUR');
});

test.each([
  ['that has billed goes on', 1, 'billed'],
  ['that has skipped its first period, and billed the next one, goes on', 8, 'skipped'],
  ['that has missed it in a pause, and billed the next one, goes on', 8, 'missed'],
  ['that has not billed is refused', -1, 'refused'],
])('a subscription whose first card is gone when a reset looks it up, and %s', async (_what, day, first) => {
  const { flow, input, reach, tried } = await beginWeekly(time, { amounts: [{ fromPeriod: 2, amount: 9_000 }] });
  await reach(-1, 11);
  const token = await anotherCard(time, input.customerId);
  await flow.command('changeCard', { token });
  if (first === 'skipped') await flow.command('skipPeriod', { period: 1 });
  if (first === 'missed')
    await flow.command('pause', { until: new Date(inRome(later(input.anchor, 3))).toISOString() });
  await reach(day);
  await time.provider.deletePaymentMethod(input.customerId, input.token);
  await resetToFirstTask(time.client, flow.workflowId, [], await firstRunOf(time.client, flow.workflowId));
  await flow.worksOn();
  if (day === -1) {
    await expect(time.client.workflow.getHandle(flow.workflowId).result()).rejects.toMatchObject(
      failsWith('InvalidInput', 'token: '),
    );
    return;
  }
  if (first !== 'billed') {
    expect(await flow.status()).toMatchObject({ status: 'paused', needsOperator: true });
    await flow.command('resume', { missedPeriods: 'skip', commandId: 'after-the-reset' });
    await flow.worksOn();
  }
  expect(await flow.status()).toMatchObject({ status: 'active', subscription: { billedPeriods: 1, card: { token } } });
  await reach(8);
  const both = ['1.1 day 0 Succeed 6000 EUR', '2.1 day 7 Succeed 9000 EUR'];
  expect(await tried()).toEqual(first === 'billed' ? both : both.slice(1));
  await flow.command('cancel', { when: 'now' });
});
