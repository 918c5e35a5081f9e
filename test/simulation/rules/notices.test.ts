import { expect, test } from 'vitest';
import { resetToEachTask } from '../../support/resets.js';
import { tellingOf } from '../../support/telling.js';
import { DAY, HOUR, MINUTE, sharedTime } from './context.js';
import { listenToAll, MERCHANT, sentOf, type Told } from './told.js';
import { beginWeekly, engineOf, type WeeklyArguments } from './weekly.js';

const ATTENTION = { url: `${MERCHANT}/attention`, types: ['payment.needsAttention'] } as const;
const time = sharedTime({ billing: true }, { telling: tellingOf([ATTENTION]) });

let answersTo: (notification: Told['notification']) => number;

/** Weekly, and what its merchant's address was sent and has taken, as `billed 1`. */
async function beginNotified(periods: number, faults: WeeklyArguments[1] = {}) {
  const all = listenToAll(time, ({ notification }) => answersTo(notification));
  const begun = await beginWeekly(time, { periods, notify: { url: `${MERCHANT}/hook` } }, faults);
  const ofIt = () => all.filter(({ notification }) => notification.data['subscription'] === begun.flow.reference);
  const sent = () => ofIt().filter(({ path }) => path === '/hook');
  return {
    ...begun,
    ofPayments: () => ofIt().flatMap(({ path, notification }) => (path === '/attention' ? [notification] : [])),
    sent: () => sent().map(({ notification }) => notification),
    taken: () =>
      sent().flatMap(({ notification: { type, data }, status }) =>
        status === 200 ? [[type.replace('subscription.', ''), data['period']].filter(Boolean).join(' ')] : [],
      ),
  };
}

test('a notification that is refused holds up no other, and is sent again for its three days', async () => {
  let refuses = true;
  answersTo = ({ data }) => (data['period'] === 1 && refuses ? 422 : 200);
  const { flow, reach, taken } = await beginNotified(4);
  await reach(0);
  await flow.command('pause');
  await flow.worksOn();
  await time.passUntil((await time.now()) + 10 * MINUTE);
  expect(taken()).toEqual(['paused']);
  await flow.command('resume');
  await time.passUntil((await time.now()) + DAY);
  expect(taken()).toEqual(['paused', 'resumed']);
  refuses = false;
  await time.passUntil((await time.now()) + 2 * HOUR);
  expect(taken()).toEqual(['paused', 'resumed', 'billed 1']);
  expect(await flow.ended()).toMatchObject({ billedPeriods: 4 });
});

test('a subscription that has ended waits for no address, and what is refused for three days is given up', async () => {
  answersTo = ({ type }) => (type === 'subscription.ended' ? 200 : 404);
  const { flow, reach, taken } = await beginNotified(1);
  await reach(0);
  await flow.command('cancel', { when: 'now' });
  await time.passUntil((await time.now()) + MINUTE);
  expect((await time.client.workflow.getHandle(flow.workflowId).describe()).status.name).toBe('COMPLETED');
  await time.passUntil((await time.now()) + 4 * DAY);
  expect(taken()).toEqual(['ended']);
  const { notifications } = await sentOf(time, flow.workflowId);
  expect(notifications.map(({ deliveries = [] }) => deliveries[0]?.status)).toEqual(['givenUp', 'delivered']);
});

test('a notification after a reset has the id of one before it where it says the same', async () => {
  answersTo = () => 200;
  const { flow, reach, sent } = await beginNotified(2);
  await reach(0);
  await flow.command('pause');
  await flow.worksOn();
  await resetToEachTask(
    engineOf(time),
    flow.workflowId,
    async () => await time.passUntil((await time.now()) + HOUR),
    (task) => task === 0,
  );
  await flow.command('cancel', { when: 'now' });
  await time.client.workflow.getHandle(flow.workflowId).result();
  await time.passUntil((await time.now()) + MINUTE);
  const idsOf = (type: string) => sent().flatMap((one) => (one.type === `subscription.${type}` ? [one.id] : []));
  expect(new Set(idsOf('billed')).size).toBe(1);
  expect(idsOf('billed').length).toBeGreaterThan(1);
  // The pause in doubt that follows a reset is news.
  expect(new Set(idsOf('paused')).size).toBe(2);
  expect(idsOf('ended')).toHaveLength(1);
  expect(new Set([...idsOf('billed'), ...idsOf('paused'), ...idsOf('ended')]).size).toBe(4);
});

test('a bill that is joined after a reset is told with what it took, whatever the plan says now', async () => {
  answersTo = () => 200;
  const { flow, reach, sent, beginAgain } = await beginNotified(2);
  await reach(2);
  await flow.command('changePlan', { amount: 9_000 });
  await reach(8);
  await beginAgain();
  const billed = sent().filter(({ type, data }) => type === 'subscription.billed' && data['period'] === 2);
  expect(billed.length).toBeGreaterThan(1);
  expect(new Set(billed.map(({ data }) => data['amount']))).toEqual(new Set([9_000]));
});

test('a bill that opens without a card that may be tried asks for one', async () => {
  answersTo = () => 200;
  const { reach, taken, complete } = await beginNotified(2, { '1.1': { status: 'Pending' } });
  await reach(8);
  const stolen = { status: 'Failed', category: 'payment_method_declined', subCategory: 'lost_stolen_card' } as const;
  await complete('1.1', stolen);
  await reach(8, 18);
  expect(taken()).toEqual(['unpaid 1', 'cardNeeded 2']);
});

test('a bill whose payment needs a person is told while nobody knows how it ends, once', async () => {
  answersTo = () => 200;
  const { flow, reach, ofPayments, taken, complete } = await beginNotified(1, { '1.1': { status: 'Pending' } });
  await reach(3);
  const { operatorReason } = await time.holdfast.status(`${flow.reference}.1.1`);
  expect(ofPayments()).toMatchObject([
    {
      type: 'payment.needsAttention',
      workflowId: `payment-${flow.reference}.1.1`,
      data: { flow: 'charge', reference: `${flow.reference}.1.1`, amount: 6_000, currency: 'EUR', why: operatorReason },
    },
  ]);
  await complete('1.1', { status: 'Succeed' });
  await reach(5);
  expect(taken()).toEqual(['billed 1']);
  expect(ofPayments()).toHaveLength(1);
});
