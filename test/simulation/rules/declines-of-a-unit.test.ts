import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveWorkflowId } from '../../../src/contract/names.js';
import { anotherCard, customerWithCard, declinedFor } from '../../support/subscriptions.js';
import { CARDS } from '../../support/charges.js';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import type { SimulatedWorker } from '../worker/worker.js';
import {
  answers,
  beginFlow,
  declined as declinedBy,
  failsWith,
  followPending,
  inputOf,
  OPERATOR,
  sharedTime,
} from './context.js';
import { listenToAll, MERCHANT } from './told.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });

const DECLINES = {
  categories: { payment_method_error: 'soft' },
  subCategories: { insufficient_funds: 'hard', expired_card: 'merchant' },
  unknown: 'hard',
  cap: { tries: 3, days: 10 },
};
let worker: SimulatedWorker | undefined;

beforeAll(async () => {
  await time.stopWorker();
  const unit = { ...DEFAULT_UNIT, declines: DECLINES };
  worker = time.simulation.startWorker({ env: { HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: unit }) } });
});
afterAll(async () => {
  await worker?.stop();
});

const FOUR_WEEKS = { interval: { every: 4, unit: 'week' as const }, periods: 1 };

test('a soft decline that the unit calls hard is not tried again with the same card', async () => {
  const { flow, input, reach, tried } = await beginWeekly(time, FOUR_WEEKS, { 1.1: declinedFor('insufficient_funds') });
  await reach(5);
  expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR']);
  expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card', needsOperator: false });
  await expect(flow.command('billNow', { period: 1 })).rejects.toMatchObject(
    failsWith('StateConflict', 'declined for good'),
  );
  await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
  expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR', '1.2 day 5 Succeed 6000 EUR']);
});

test('a hard decline that the unit calls soft is tried again with the same card', async () => {
  const faults = { 1.1: { category: 'payment_method_error' } };
  const { flow, tried } = await beginWeekly(time, FOUR_WEEKS, faults);
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
  expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR', '1.2 day 1 Succeed 6000 EUR']);
});

test('a decline that it calls the merchant’s asks for an operator, and one that no table knows is hard', async () => {
  const merchants = await beginWeekly(time, FOUR_WEEKS, { 1.1: declinedFor('expired_card') });
  const unknown = await beginWeekly(time, FOUR_WEEKS, { 1.1: { category: 'a_category_of_tomorrow' } });
  await unknown.reach(3);
  expect(await merchants.flow.status()).toMatchObject({ waitingFor: 'operator', needsOperator: true });
  expect(await unknown.flow.status()).toMatchObject({ waitingFor: 'card', needsOperator: false });
  expect([...(await merchants.tried()), ...(await unknown.tried())]).toEqual([
    '1.1 day 0 Failed 6000 EUR',
    '1.1 day 0 Failed 6000 EUR',
  ]);
});

test('its limit puts the next try off: three declines in ten days', async () => {
  const card = await customerWithCard(time, CARDS.declines);
  const { flow, reach, tried } = await beginWeekly(time, { ...FOUR_WEEKS, ...card });
  await reach(4);
  await expect(flow.command('billNow', { period: 1 })).rejects.toMatchObject(
    failsWith('StateConflict', 'as often as business unit "default" allows within 10 days'),
  );
  await reach(12);
  expect(await tried()).toEqual([
    '1.1 day 0 Failed 6000 EUR',
    '1.2 day 1 Failed 6000 EUR',
    '1.3 day 3 Failed 6000 EUR',
    '1.4 day 10 Failed 6000 EUR',
  ]);
});

test('a card that its limit stops is asked to be replaced each time that it is given', async () => {
  const all = listenToAll(time);
  const card = await customerWithCard(time, CARDS.declines);
  const notify = { url: `${MERCHANT}/hook` };
  const faults = { 1.4: declinedFor('insufficient_funds') };
  const { flow, input, reach } = await beginWeekly(time, { ...card, notify, periods: 1 }, faults);
  await reach(4);
  await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
  await reach(4, 14);
  await flow.command('changeCard', { token: input.token });
  await reach(5);
  expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card' });
  const asked = all.filter(({ notification }) => notification.type === 'subscription.cardNeeded');
  expect(asked.map(({ notification }) => notification.data['period'])).toEqual([1, 1, 1]);
  await flow.command('cancel', { when: 'now' });
});

test('nor is the one before forgotten where two of them are given in turn', async () => {
  const all = listenToAll(time);
  const card = await customerWithCard(time, CARDS.declines);
  const { flow, input, reach } = await beginWeekly(time, {
    ...card,
    notify: { url: `${MERCHANT}/hook` },
    periods: 1,
  });
  await reach(4);
  const token = await anotherCard(time, input.customerId, CARDS.declines);
  await flow.command('changeCard', { token });
  await flow.worksOn();
  for (let tries = 1; tries < 3; tries += 1) await flow.command('billNow', { period: 1 });
  await flow.worksOn();
  const asked = () => all.filter(({ notification }) => notification.type === 'subscription.cardNeeded').length;
  expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card' });
  const before = asked();
  for (const given of [input.token, token, input.token]) {
    await flow.command('changeCard', { token: given });
    await flow.worksOn();
  }
  expect(asked() - before).toBe(3);
  await flow.command('cancel', { when: 'now' });
});

test('a charge tells its merchant by the same table', async () => {
  const declined = async (category: string, sub_category?: string) => {
    const fault = { ...declinedBy('*/charges'), category, ...(sub_category !== undefined && { sub_category }) };
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [fault]);
    return await flow.outcome();
  };
  expect(await declined('payment_method_declined', 'insufficient_funds')).toMatchObject({ retryable: 'newCard' });
  expect(await declined('payment_method_error')).toMatchObject({ retryable: 'newReference' });
});

test('what is resolved for somebody else goes by it too', async () => {
  const transactionId = await followPending(time, 'charge');
  await time.sandbox.complete(transactionId, {
    status: 'Failed',
    category: 'payment_method_declined',
    subCategory: 'insufficient_funds',
  });
  const { workflow } = time.client;
  expect(await workflow.getHandle(resolveWorkflowId(transactionId)).result()).toMatchObject({ retryable: 'newCard' });
});

describe('what a person says of a payment whose flow was terminated', () => {
  const lost = async (...[overrides = {}]: WeeklyArguments) => {
    const subscription = await beginWeekly(time, { ...FOUR_WEEKS, ...overrides }, { 1.1: { status: 'Pending' } });
    await subscription.reach(0);
    await time.client.workflow.getHandle(`payment-${subscription.flow.reference}.1.1`).terminate('by accident');
    await subscription.flow.worksOn();
    // Else what the service says counts.
    await time.sandbox.addFault({ ...answers(503, 'GET', '*/charges'), times: 3 });
    return subscription;
  };
  const said = { ...OPERATOR, status: 'declined' } as const;

  test.each([
    ['payment_method_error', 'retry'],
    ['expired_card', 'operator'],
    ['lost_stolen_card', 'card'],
    [undefined, 'card'],
  ])('counts by the same table: %s', async (category, waitingFor) => {
    const { flow } = await lost();
    await flow.command('settleManually', { ...said, ...(category !== undefined && { category }) });
    await flow.worksOn();
    expect(await flow.status()).toMatchObject({ waitingFor });
    await flow.command('cancel', { when: 'now' });
  });

  test('counts for the limit of the card that it was tried with', async () => {
    const card = await customerWithCard(time, CARDS.declines);
    const { flow, reach, tried } = await lost(card);
    await flow.command('settleManually', { ...said, category: 'payment_method_error' });
    await reach(12);
    expect((await tried()).slice(1)).toEqual([
      '1.2 day 1 Failed 6000 EUR',
      '1.3 day 3 Failed 6000 EUR',
      '1.4 day 10 Failed 6000 EUR',
    ]);
  });
});
