import { expect, test } from 'vitest';
import { resetToEachTask } from '../../support/resets.js';
import { DAY, HOUR, MINUTE, sharedTime } from './context.js';
import { beginWeekly, engineOf, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });

interface Notification {
  id: string;
  type: string;
  data: Readonly<Record<string, unknown>>;
}
let answersTo: (notification: Notification) => number;

/** Weekly, and what its merchant's address was sent and has taken, as `billed 1`. */
async function beginNotified(periods: number, faults: WeeklyArguments[1] = {}) {
  const all: { notification: Notification; status: number }[] = [];
  const url = await time.listen(({ body }) => {
    const notification = JSON.parse(body) as Notification;
    const status = answersTo(notification);
    all.push({ notification, status });
    return status;
  });
  const begun = await beginWeekly(time, { periods, notify: { url } }, faults);
  const sent = () => all.filter(({ notification }) => notification.data['subscription'] === begun.flow.reference);
  return {
    ...begun,
    sent: () => sent().map(({ notification }) => notification),
    taken: () =>
      sent().flatMap(({ notification: { type, data }, status }) =>
        status === 200 ? [[type.replace('subscription.', ''), data['period']].filter(Boolean).join(' ')] : [],
      ),
  };
}

test.each([400, 401, 404, 422])(
  'a notification that is refused with %i holds up no other, is shown, and is sent again for its three days',
  async (status) => {
    let refuses = true;
    answersTo = ({ data }) => (data['period'] === 1 && refuses ? status : 200);
    const { flow, reach, taken, sent } = await beginNotified(4);
    await reach(0);
    await flow.command('pause');
    await flow.worksOn();
    await time.passUntil((await time.now()) + 10 * MINUTE);
    expect(taken()).toEqual(['paused']);
    expect(await flow.status()).toMatchObject({ subscription: { undelivered: 1 } });
    expect(await flow.explain()).toContain(`1 of them was refused: the merchant's address answered ${status}`);
    await flow.command('resume');
    await time.passUntil((await time.now()) + DAY);
    expect(taken()).toEqual(['paused', 'resumed']);
    refuses = false;
    await time.passUntil((await time.now()) + 4 * HOUR);
    expect(taken()).toEqual(['paused', 'resumed', 'billed 1']);
    expect(await flow.status()).toMatchObject({ subscription: { undelivered: 0 } });
    expect(await flow.ended()).toMatchObject({ billedPeriods: 4, undelivered: 0 });
    expect(new Set(sent().flatMap((notification) => Object.keys(notification)))).toEqual(
      new Set(['id', 'type', 'at', 'data', 'businessUnit']),
    );
  },
);

test('a notification that is refused for three days is given up and counted, and the others have come at once', async () => {
  answersTo = ({ data }) => (data['period'] === 1 ? 400 : 200);
  const { flow, reach, taken, sent } = await beginNotified(2);
  await reach(4, 12);
  expect(await flow.status()).toMatchObject({ subscription: { undelivered: 1 } });
  expect(sent().length).toBeLessThan(150);
  const tries = sent().length;
  expect(await flow.ended()).toMatchObject({ billedPeriods: 2, undelivered: 1 });
  expect(taken()).toEqual(['billed 2', 'ended']);
  expect(sent().length).toBe(tries + 2);
});

test('a notification whose address is gone is given up at once and counted', async () => {
  answersTo = ({ data }) => (data['period'] === 1 ? 410 : 200);
  const { flow, reach, taken, sent } = await beginNotified(2);
  await reach(0);
  expect(sent()).toHaveLength(1);
  expect(await flow.status()).toMatchObject({ subscription: { undelivered: 1 } });
  expect(await flow.ended()).toMatchObject({ billedPeriods: 2, undelivered: 1 });
  expect(taken()).toEqual(['billed 2', 'ended']);
});

test.each([408, 429, 503])('what is answered %i comes later, and before what happened after it', async (status) => {
  let refuses = true;
  answersTo = () => (refuses ? status : 200);
  const { flow, reach, taken } = await beginNotified(1);
  await reach(0);
  await flow.command('pause');
  await time.passUntil((await time.now()) + 10 * HOUR);
  refuses = false;
  await time.passUntil((await time.now()) + 2 * HOUR);
  expect(taken()).toEqual(['billed 1', 'paused']);
  await flow.command('cancel', { when: 'now' });
});

test('a subscription that has ended waits for no more than the three days of what is refused', async () => {
  answersTo = ({ type }) => (type === 'subscription.ended' ? 200 : 404);
  const { flow, reach, taken } = await beginNotified(1);
  await reach(0);
  await flow.command('cancel', { when: 'now' });
  await time.passUntil((await time.now()) + HOUR);
  expect(taken()).toEqual(['ended']);
  await time.passUntil((await time.now()) + 3 * DAY + 4 * HOUR);
  const { status } = await time.client.workflow.getHandle(flow.workflowId).describe();
  expect(status.name).toBe('COMPLETED');
  expect(await flow.ended()).toMatchObject({ status: 'cancelled', undelivered: 1 });
});

test('a notification after a reset has the id of one before it only where it says the same', async () => {
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
  const numbered = (number: number) => sent().filter(({ id }) => id.startsWith(`${flow.workflowId}:${number}:`));
  // It says the same again, so that its reader knows it.
  expect(numbered(1).map(({ type }) => type)).toEqual(['subscription.billed', 'subscription.billed']);
  expect(new Set(numbered(1).map(({ id }) => id)).size).toBe(1);
  // The new run was not told of the pause.
  expect(numbered(2).map(({ type }) => type)).toEqual(['subscription.paused', 'subscription.ended']);
  expect(new Set(numbered(2).map(({ id }) => id)).size).toBe(2);
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
  expect(taken()).toEqual(['unpaid 1', 'card_needed 2']);
});
