import { afterAll, beforeAll, expect, test } from 'vitest';
import { anotherCard, declinedFor, inRome, later, monthly, plantOn, subscribe } from '../support/subscriptions.js';
import { verifyNotification } from '../../src/client/index.js';
import { NOTIFY_SECRET } from '../support/telling.js';
import { HOUR, MINUTE, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';

interface Received {
  id: string;
  type: string;
  sequence: number;
  data: Readonly<Record<string, unknown>>;
}

let time: VirtualTime;
/** What the merchant's address was sent and took. */
const received: Received[] = [];
/** What it answers. */
const state = { status: 200 };
let url: string;
beforeAll(async () => {
  time = await startVirtualTime({ billing: true });
  url = await time.listen(({ headers, body }) => {
    const now = Number(headers['webhook-timestamp']) * 1_000;
    const notification = verifyNotification({ headers, body }, { secrets: NOTIFY_SECRET, now });
    if (state.status === 200) received.push(notification);
    return state.status;
  });
});
afterAll(async () => {
  await time?.close();
});

const about = (reference: string): Received[] => received.filter(({ data }) => data['subscription'] === reference);
const typesOf = (notices: readonly Received[]): string[] =>
  notices.map(({ type }) => type.replace('subscription.', ''));

test('each step of a subscription is told to the merchant in order, signed, over all its runs', async () => {
  const input = { ...(await monthly(time)), periods: 3, notify: { url } };
  const { reference } = input;
  await plantOn(time, reference, '1.1', declinedFor('insufficient_funds'));
  await plantOn(time, reference, '2.1', declinedFor('lost_stolen_card'));
  const flow = await subscribe(time, input);
  await time.passUntil(inRome(later(input.anchor, 33)));
  await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 3 });
  await time.passUntil((await time.now()) + MINUTE);
  const notices = about(reference);
  expect(typesOf(notices)).toEqual(['declined', 'billed', 'cardNeeded', 'billed', 'billed', 'ended']);
  expect(new Set(notices.map(({ id }) => id)).size).toBe(6);
  expect(notices[0]?.data).toMatchObject({
    period: 1,
    amount: 6_000,
    currency: 'EUR',
    payment: `${reference}.1.1`,
    subCategory: 'insufficient_funds',
    nextTryAt: new Date(inRome(later(input.anchor, 1))).toISOString(),
  });
  expect(notices.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
}, 60_000);

test('an address that is down for a day is told all of it afterwards, and billing has not waited', async () => {
  const daily = { interval: { every: 1, unit: 'day' as const }, periods: 3 };
  const input = { ...(await monthly(time, daily)), notify: { url } };
  state.status = 503;
  const flow = await subscribe(time, input);
  await time.passUntil(inRome(later(input.anchor, 1)) + HOUR);
  expect(await flow.status()).toMatchObject({ subscription: { billedPeriods: 2 } });
  state.status = 200;
  expect(await flow.ended()).toMatchObject({ billedPeriods: 3 });
  await time.passUntil((await time.now()) + 2 * HOUR);
  const notices = about(input.reference);
  expect(typesOf(notices).sort()).toEqual(['billed', 'billed', 'billed', 'ended']);
  expect(new Set(notices.map(({ data }) => data['period']))).toEqual(new Set([1, 2, 3, undefined]));
}, 60_000);
