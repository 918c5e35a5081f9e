import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anotherCard, declinedFor, inRome, later, monthly, plantOn, subscribe } from '../support/subscriptions.js';
import { NOTIFY_SECRET } from '../support/virtual-charges.js';
import { HOUR, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';

interface Received {
  id: string;
  type: string;
  data: Record<string, unknown>;
  signature: string;
  body: string;
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
    const signature = String(headers['holdfast-signature']);
    if (state.status === 200) received.push({ ...(JSON.parse(body) as Received), signature, body });
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
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 3, undelivered: 0 });
  const notices = about(reference);
  expect(typesOf(notices)).toEqual(['declined', 'billed', 'card_needed', 'billed', 'billed', 'ended']);
  expect(new Set(notices.map(({ id }) => id)).size).toBe(6);
  expect(notices[0]?.data).toMatchObject({
    period: 1,
    amount: 6_000,
    currency: 'EUR',
    payment: `${reference}.1.1`,
    subCategory: 'insufficient_funds',
    nextTryAt: new Date(inRome(later(input.anchor, 1))).toISOString(),
  });
  for (const { signature, body } of notices) {
    const [, at, sum] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
    expect(sum).toBe(createHmac('sha256', NOTIFY_SECRET).update(`${at}.${body}`).digest('hex'));
  }
}, 60_000);

test('an address that is down for a day is told all of it afterwards, in order, and billing has not waited', async () => {
  const daily = { interval: { every: 1, unit: 'day' as const }, periods: 3 };
  const input = { ...(await monthly(time, daily)), notify: { url } };
  state.status = 503;
  const flow = await subscribe(time, input);
  await time.passUntil(inRome(later(input.anchor, 1)) + HOUR);
  expect(await flow.status()).toMatchObject({ subscription: { billedPeriods: 2, undelivered: 2 } });
  expect(await flow.explain()).toMatch(/2 notifications wait for the merchant's address/);
  state.status = 200;
  expect(await flow.ended()).toMatchObject({ billedPeriods: 3, undelivered: 0 });
  const notices = about(input.reference);
  expect(typesOf(notices)).toEqual(['billed', 'billed', 'billed', 'ended']);
  expect(notices.map(({ data }) => data['period'])).toEqual([1, 2, 3, undefined]);
}, 60_000);

test('what an address has not taken for three days is given up, over however many runs, and holds up nothing later', async () => {
  const daily = { interval: { every: 1, unit: 'day' as const }, periods: 5 };
  const input = { ...(await monthly(time, daily)), notify: { url } };
  state.status = 503;
  const flow = await subscribe(time, input);
  await time.passUntil(inRome(later(input.anchor, 3)) + 2 * HOUR);
  state.status = 200;
  expect(await flow.ended()).toMatchObject({ billedPeriods: 5, undelivered: 1 });
  const notices = about(input.reference);
  expect(notices.map(({ data }) => data['period'])).toEqual([2, 3, 4, 5, undefined]);
}, 60_000);

test('an address that is down keeps an ended subscription open for three days and no longer', async () => {
  const oneDay = { interval: { every: 1, unit: 'day' as const }, periods: 1 };
  const input = { ...(await monthly(time, oneDay)), notify: { url } };
  state.status = 503;
  const flow = await subscribe(time, input);
  await time.passUntil(inRome(input.anchor) + 25 * HOUR);
  expect(await flow.status()).toMatchObject({ status: 'completed', waitingFor: 'nothing' });
  await time.passUntil(inRome(input.anchor) + 73 * HOUR);
  const { status } = await time.client.workflow.getHandle(flow.workflowId).describe();
  expect(status.name).toBe('COMPLETED');
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1, undelivered: 2 });
}, 60_000);
