import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { fullOr } from '../../support/counts.js';
import { LIMITS } from '../engine/limits.js';
import { inRome, later } from '../../support/subscriptions.js';
import { tellingOf } from '../../support/telling.js';
import { answers, DAY, failsWith, HOUR, MINUTE, sharedTime, shownRuns } from './context.js';
import { listenToAll, MERCHANT, sentOf, takenOf } from './told.js';
import { beginWeekly } from './weekly.js';

const DAYS = fullOr(3_650, 30);
/** After so many events of a run the engine suggests the next one. */
const RUN = fullOr(LIMITS.suggestContinueAsNewEvents, 200);

const time = sharedTime(
  { billing: true },
  { suggestRunAfter: () => RUN, telling: tellingOf([{ url: `${MERCHANT}/all` }]) },
);

test(`a subscription whose card can't be looked up for ${DAYS} days begins then as it was meant to`, async () => {
  const { id } = await time.sandbox.addFault(answers(401, 'GET', '/customers/*'));
  const { flow, input, tried } = await beginWeekly(time, { periods: 2, missedPeriods: 'billAll' });
  const begun = await time.now();
  await time.passUntil(begun + 10 * DAY);
  expect(await time.holdfast.subscribe(input, { waitFor: '0 seconds' })).toMatchObject({ status: 'unknown' });
  await time.passUntil(begun + DAYS * DAY);
  const waits = { status: 'started', waitingFor: 'credentials', needsOperator: true };
  const { dueAt: _none, since, ...status } = await flow.status();
  expect(status).toMatchObject(waits);
  expect(Date.parse(since) - begun).toBeLessThan(MINUTE);
  const runs = shownRuns(time, flow.workflowId);
  expect(runs.length).toBeGreaterThan(1);
  expect(Math.max(...runs)).toBeLessThan(RUN + 200);
  // Daily by then.
  const eventsOf = () => shownRuns(time, flow.workflowId).reduce((sum, events) => sum + events, 0);
  const before = eventsOf();
  await time.passUntil((await time.now()) + 2 * DAY);
  expect(eventsOf() - before).toBeLessThan(40);
  await time.sandbox.removeFault(id);
  await time.passUntil((await time.now()) + DAY + HOUR);
  expect(await flow.status()).toMatchObject({ needsOperator: false, subscription: { billedPeriods: 2 } });
  expect((await tried()).map((line) => line.replace(/ day \d+/, ''))).toEqual([
    '1.1 Succeed 6000 EUR',
    '2.1 Succeed 6000 EUR',
  ]);
});

test.each([
  ['before its first bill is due', 0, 0],
  ['in its first period', 4, 1],
])(
  'a cancel at the end of the period that came %s, weeks before anything could be looked up, lets nothing be billed',
  async (_when, day, missedPeriods) => {
    const { id } = await time.sandbox.addFault(answers(401, 'GET', '/customers/*'));
    const { flow, reach, tried } = await beginWeekly(time);
    await reach(day, 8);
    const asked = flow.command('cancel', { when: 'periodEnd' }).catch(() => undefined);
    await reach(20);
    await time.sandbox.removeFault(id);
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 0, missedPeriods });
    await asked;
    await reach(30);
    expect(await tried()).toEqual([]);
  },
);

test.each([
  ['a skip of its first period', [['skipPeriod', { period: 1 }]], []],
  ['another amount', [['changePlan', { amount: 7_000 }]], ['1.1 day 3 Succeed 7000 EUR']],
  ['a pause that is over by then', [['pause', { until: 2 }]], []],
  [
    'a pause and its end',
    [
      ['pause', {}],
      ['resume', {}],
    ],
    ['1.1 day 3 Succeed 6000 EUR'],
  ],
] as [string, [string, { until?: number }][], string[]][])(
  '%s, accepted before the first due time, holds as of then, however late card and customer can be looked up',
  async (_what, commands, first) => {
    const { id } = await time.sandbox.addFault(answers(401, 'GET', '/customers/*'));
    const { flow, input, reach, tried } = await beginWeekly(time);
    await reach(-1);
    const asked = commands.map(([name, { until, ...request }]) =>
      flow
        .command(name, {
          ...request,
          ...(until !== undefined && { until: new Date(inRome(later(input.anchor, until))).toISOString() }),
        })
        .catch(() => undefined),
    );
    await reach(3, 8);
    await time.sandbox.removeFault(id);
    await reach(5);
    await Promise.all(asked);
    expect(await tried()).toEqual(first);
    await reach(7);
    expect((await tried()).slice(first.length)).toMatchObject([expect.stringMatching(/^2.1 day 7 Succeed/)]);
    await flow.command('cancel', { when: 'now' });
  },
);

test.each([
  ['the endpoints of its unit', {}, ['/all']],
  ['its own address too', { notify: { url: `${MERCHANT}/own` } }, ['/all', '/own']],
  [
    'the endpoints alone, if its own address is at fault',
    { notify: { url: `http://a:b@merchant.test/own` } },
    ['/all'],
  ],
])('a subscription that is refused once its caller has left tells %s', async (_whom, notify, paths) => {
  const told = listenToAll(time);
  const { id } = await time.sandbox.addFault(answers(401, 'GET', '/customers/*'));
  const { flow } = await beginWeekly(time, { token: randomUUID(), ...notify });
  await time.passUntil((await time.now()) + DAY);
  await time.sandbox.removeFault(id);
  await expect(flow.ended()).rejects.toMatchObject(failsWith('InvalidInput', 'token: '));
  await time.passUntil((await time.now()) + MINUTE);
  expect(takenOf(told, flow.workflowId)).toEqual(paths.map(() => 'subscription.ended'));
  const data = { subscription: flow.reference, status: 'refused', reason: expect.stringContaining('token: ') };
  expect(told.find(({ notification }) => notification.workflowId === flow.workflowId)?.notification).toMatchObject({
    data,
  });
  // An address that is at fault is not tried.
  const { notifications } = await sentOf(time, flow.workflowId);
  const tried = notifications.flatMap(({ deliveries = [] }) => deliveries.map(({ url }) => url));
  expect(tried.sort()).toEqual(paths.map((path) => `${MERCHANT}${path}`));
});
