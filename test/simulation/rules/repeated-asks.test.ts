import { describe, expect, test } from 'vitest';
import type { SubscriptionInput } from '../../../src/contract/subscription.js';
import { bills, inRome, later, monthly } from '../../support/subscriptions.js';
import { DAY, HOUR, inputOf, sharedTime } from './context.js';

const time = sharedTime({ billing: true });

describe('subscribe', () => {
  /** Started by a call whose answer its caller may have lost. */
  async function started(overrides: Partial<SubscriptionInput> = {}): Promise<SubscriptionInput> {
    const input = await monthly(time, { interval: { every: 1, unit: 'week' }, periods: 4, ...overrides });
    expect(await time.holdfast.subscribe(input)).toMatchObject({ status: 'active', billedPeriods: 0 });
    return input;
  }

  test('sent again once its first day is over joins what runs, and what has ended', async () => {
    const input = await started();
    await time.passUntil(inRome(later(input.anchor, 1), 0));
    expect(await time.holdfast.subscribe(input)).toMatchObject({ status: 'active', billedPeriods: 1 });
    await time.passUntil(inRome(later(input.anchor, 30), 0));
    expect(await time.holdfast.subscribe(input)).toMatchObject({ status: 'completed', billedPeriods: 4 });
    expect(await bills(time, input.reference)).toHaveLength(4);
  });

  test('with a first day in the past starts nothing where there is nothing to join', async () => {
    const input = await monthly(time);
    const anchor = later(input.anchor, -20);
    await expect(time.holdfast.subscribe({ ...input, anchor })).rejects.toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining('is in the past'),
    });
    // The reference is still free.
    expect(await time.holdfast.subscribe(input)).toMatchObject({ status: 'active' });
    await time.holdfast.subscription.cancel(input.reference, { when: 'now' });
  });

  test('is compared with what it was started with, whatever commands have made of it', async () => {
    const input = await started();
    const changed = { interval: { every: 2, unit: 'week' as const }, amount: 9_000, billAt: '16:00' };
    await time.holdfast.subscription.changePlan(input.reference, changed);
    expect(await time.holdfast.subscribe(input)).toMatchObject({ status: 'active', amount: 9_000 });
    await expect(time.holdfast.subscribe({ ...input, ...changed })).rejects.toMatchObject({
      type: 'ReferenceConflict',
    });
    await time.holdfast.subscription.cancel(input.reference, { when: 'now' });
  });

  test.each<[string, Partial<SubscriptionInput>]>([
    ['interval', { interval: { every: 1, unit: 'year' } }],
    ['hour', { billAt: '11:00' }],
    ['zone', { timeZone: 'Europe/Paris' }],
    ['number of periods', { periods: 5 }],
    ['trial', { trialDays: 7 }],
    ['last period that was billed before', { billedThrough: 1 }],
    ['policy of retries', { dunning: { retryDays: [2] } }],
    ['policy of missed periods', { missedPeriods: 'billAll' }],
  ])('with another %s under the same reference is another subscription, running and ended', async (_what, other) => {
    const input = await started();
    const conflict = { type: 'ReferenceConflict' };
    await expect(time.holdfast.subscribe({ ...input, ...other })).rejects.toMatchObject(conflict);
    await time.holdfast.subscription.cancel(input.reference, { when: 'now' });
    await expect(time.holdfast.subscribe({ ...input, ...other })).rejects.toMatchObject(conflict);
    expect(await time.holdfast.subscribe(input)).toMatchObject({ status: 'cancelled' });
  });

  test('with another address for notifications joins: that decides no bill', async () => {
    const input = await started();
    const notify = { url: 'https://elsewhere.example/hook' };
    expect(await time.holdfast.subscribe({ ...input, notify })).toMatchObject({ status: 'active' });
    await time.holdfast.subscription.cancel(input.reference, { when: 'now' });
  });
});

test('a charge sent again days later is answered with what it took', async () => {
  const input = (await inputOf(time, 'charge')) as Parameters<typeof time.holdfast.charge>[0];
  expect(await time.holdfast.charge(input)).toMatchObject({ status: 'succeeded' });
  await time.passUntil((await time.now()) + 3 * DAY);
  expect(await time.holdfast.charge(input)).toMatchObject({ status: 'succeeded' });
});

test('a hold and its commands sent again after its deadline are answered with what they did', async () => {
  const input = (await inputOf(time, 'authorizeAndCapture', {
    captureMode: 'manual',
    captureDeadline: '2 hours',
  })) as Parameters<typeof time.holdfast.authorize>[0];
  expect(await time.holdfast.authorize(input)).toMatchObject({ status: 'authorized' });
  const command = { commandId: 'part', amount: 5_500 };
  const captured = { status: 'succeeded', amount: 5_500 };
  expect(await time.holdfast.capture(input.reference, command)).toMatchObject(captured);
  await time.passUntil((await time.now()) + 3 * DAY);
  expect(await time.holdfast.authorize(input)).toMatchObject({ status: 'captured', capturedAmount: 5_500 });
  expect(await time.holdfast.capture(input.reference, command)).toMatchObject(captured);
  const onLedger = (await time.sandbox.ledger(input.reference)).map(({ kind, amount }) => [kind, amount]);
  expect(onLedger.filter(([kind]) => kind === 'authorization')).toHaveLength(1);
});

test('a command sent again in a later period is answered with what it did', async () => {
  const input = await monthly(time, { interval: { every: 1, unit: 'week' } });
  await time.holdfast.subscribe(input);
  await time.passUntil(inRome(input.anchor) + HOUR);
  const early = { commandId: 'early', period: 2 };
  const result = { status: 'succeeded', reference: `${input.reference}.2.1` };
  expect(await time.holdfast.subscription.billNow(input.reference, early)).toMatchObject({ result });
  await time.passUntil(inRome(later(input.anchor, 20)));
  expect(await time.holdfast.subscription.billNow(input.reference, early)).toMatchObject({ result });
  await time.holdfast.subscription.cancel(input.reference, { when: 'now' });
});
