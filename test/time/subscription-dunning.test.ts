import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Dunning, SubscriptionInput } from '../../src/contract/subscription.js';
import {
  anotherCard,
  bills,
  declinedFor,
  inRome,
  later,
  monthly,
  plantOn,
  subscribe,
  type VirtualSubscription,
} from '../support/subscriptions.js';
import { HOUR, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime({ billing: true });
});
afterAll(async () => {
  await time?.close();
});

const NO_FUNDS = declinedFor('insufficient_funds');
const STOLEN = declinedFor('lost_stolen_card');

interface Begun {
  input: SubscriptionInput;
  flow: VirtualSubscription;
  /** Local day of the first bill and those after it, as `1.2 2027-01-02`: what was tried and how it ended. */
  tried: () => Promise<string[]>;
}

/** Two months, or days, the first payments of which end as `faults` say. */
async function begin(
  faults: readonly Parameters<typeof plantOn>[3][],
  dunning: Dunning = {},
  unit: 'month' | 'day' = 'month',
): Promise<Begun> {
  const input = { ...(await monthly(time, { interval: { every: 1, unit } })), periods: 2, dunning };
  const { reference } = input;
  for (const [index, fault] of faults.entries()) await plantOn(time, reference, `1.${index + 1}`, fault);
  const flow = await subscribe(time, input);
  const days = new Map([0, 1, 2, 3, 5, 7, 9].map((day) => [later(input.anchor, day), `day ${day}`]));
  const tried = async (): Promise<string[]> =>
    (await bills(time, reference)).map((line) => {
      const [on = '', day = '', hour, status] = line.split(' ');
      return `${on} ${days.get(day) ?? 'later'} ${hour} ${status}`;
    });
  return { input, flow, tried };
}

describe('insufficient funds', () => {
  test('are retried on the days of the schedule at its local hour, as often as allowed, then given up', async () => {
    const { flow, tried } = await begin([NO_FUNDS, NO_FUNDS, NO_FUNDS], { localHour: 8, maxAttempts: 3 });
    expect(await flow.ended()).toMatchObject({ status: 'givenUp', billedPeriods: 0, unpaidPeriods: 1 });
    expect(await tried()).toEqual(['1.1 day 0 10h Failed', '1.2 day 1 08h Failed', '1.3 day 3 08h Failed']);
  });

  test('are explained: since when, when next, with which card, how often', async () => {
    const { flow, input } = await begin([NO_FUNDS]);
    await time.passUntil(inRome(input.anchor) + HOUR);
    await flow.worksOn();
    const day = (date: string): string =>
      new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric' }).format(Date.parse(date));
    const [since, next] = [day(input.anchor), day(later(input.anchor, 1))];
    expect(await flow.explain()).toMatch(
      new RegExp(
        `past due since ${since} at 10:0\\d Europe/Rome; next try ${next} at 10:00 Europe/Rome with card \\*{4} 1111; attempt 2 of 8`,
      ),
    );
  });
});

describe('a stolen card', () => {
  test('stops at once and waits for another card, which is tried at once', async () => {
    const { flow, input, tried } = await begin([STOLEN]);
    await time.passUntil(inRome(input.anchor) + 30 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card', needsOperator: false });
    expect(await tried()).toHaveLength(1);
    await expect(flow.command('billNow', { period: 1 })).rejects.toMatchObject({
      cause: { type: 'StateConflict', message: expect.stringContaining('change the card') },
    });
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await flow.worksOn();
    expect(await tried()).toEqual(['1.1 day 0 10h Failed', '1.2 day 1 16h Succeed']);
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2 });
  });

  test('that nobody replaces pauses where the policy says so', async () => {
    const { flow, input, tried } = await begin([STOLEN], { onGivenUp: 'pause' });
    await time.passUntil(inRome(later(input.anchor, 10)));
    expect(await flow.status()).toMatchObject({ status: 'paused', subscription: { unpaidPeriods: 1 } });
    expect(await tried()).toHaveLength(1);
    await time.client.workflow.getHandle(flow.workflowId).cancel();
    expect(await flow.ended()).toMatchObject({ status: 'cancelled' });
  });

  test('that nobody replaces leaves a daily period unpaid and the next one waiting: the policy is to continue', async () => {
    const { flow, input, tried } = await begin([STOLEN], {}, 'day');
    await time.passUntil(inRome(later(input.anchor, 1), 12));
    expect(await flow.status()).toMatchObject({
      waitingFor: 'card',
      subscription: { unpaidPeriods: 1, open: { period: 2 } },
    });
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1, unpaidPeriods: 1 });
    expect(await tried()).toEqual(['1.1 day 0 10h Failed', '2.1 day 1 12h Succeed']);
  });
});

test('a failure without a reason is a decline, and ends as one', async () => {
  const noReason = { category: 'provider_error' };
  const { flow, tried } = await begin([noReason, noReason, noReason], { maxAttempts: 3 });
  expect(await flow.ended()).toMatchObject({ status: 'givenUp', billedPeriods: 0, unpaidPeriods: 1 });
  expect(await tried()).toEqual(['1.1 day 0 10h Failed', '1.2 day 1 10h Failed', '1.3 day 3 10h Failed']);
});

test('an outcome that nobody knows blocks every further attempt until it is known', async () => {
  const { flow, input, tried } = await begin([{ status: 'Pending' }]);
  // Past the time at which a decline would be retried.
  await time.passUntil(inRome(later(input.anchor, 1)) + HOUR);
  expect(await flow.status()).toMatchObject({ status: 'billing', subscription: { open: { attempts: 1 } } });
  await expect(flow.command('billNow', { period: 1 })).rejects.toMatchObject({
    cause: { type: 'StateConflict', message: expect.stringContaining('under way') },
  });
  expect(await tried()).toEqual(['1.1 day 0 10h Pending']);
  const [pending] = await time.sandbox.ledger(`${flow.reference}.1.1`);
  const declined = { status: 'Failed', category: 'payment_method_declined' } as const;
  await time.sandbox.complete(pending?.transaction_id ?? '', declined);
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2 });
  expect(await tried()).toEqual(['1.1 day 0 10h Failed', '1.2 day 2 10h Succeed', '2.1 later 10h Succeed']);
});
