import { expect, test } from 'vitest';
import { declinedFor } from '../../support/subscriptions.js';
import { resetToEachTask } from '../../support/resets.js';
import { handedOn, plainPayload } from './handed-on.js';
import { failsWith, HOUR, sharedTime } from './context.js';
import { beginResettable, beginWeekly, engineOf, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });
const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);

/** Its first task comes before the first bill: what it did since then it does not know any more. */
async function resetToItsBeginning(workflowId: string): Promise<void> {
  await resetToEachTask(
    engineOf(time),
    workflowId,
    async () => await time.passUntil((await time.now()) + HOUR),
    (task) => task === 0,
  );
}

async function succeed(payment: string): Promise<void> {
  const [sent] = await time.sandbox.ledger(payment);
  await time.sandbox.complete(sent?.transaction_id ?? '', { status: 'Succeed' });
}

test.each(['now', 'periodEnd'] as const)(
  'a reset while a payment is under way, with a cancel (%s) that is given again, counts what that payment takes',
  async (when) => {
    const { flow, reach, tried } = await weekly({}, { '1.1': { status: 'Pending' } });
    await reach(0);
    const asked = flow.command('cancel', { when }).catch(() => undefined);
    await time.passUntil((await time.now()) + HOUR);
    await resetToItsBeginning(flow.workflowId);
    await reach(2);
    expect(await flow.status()).toMatchObject({
      status: 'billing',
      subscription: { open: { period: 1, attempts: 1 } },
    });
    await succeed(`${flow.reference}.1.1`);
    const handle = time.client.workflow.getHandle(flow.workflowId);
    expect(await handle.result()).toMatchObject({ status: 'cancelled', billedPeriods: 1, lastBilled: { period: 1 } });
    await asked;
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  },
);

test('a reset weeks after a cancel at the end of a period, which is given again then, bills none of the weeks between', async () => {
  const { flow, reach, tried, complete } = await weekly({}, { '1.1': { status: 'Pending' } });
  await reach(0);
  await flow.command('cancel', { when: 'periodEnd' });
  await complete('1.1', { status: 'Succeed' });
  await reach(23);
  await resetToItsBeginning(flow.workflowId);
  const handle = time.client.workflow.getHandle(flow.workflowId);
  expect(await handle.result()).toMatchObject({ status: 'cancelled', reason: 'at the end of the period' });
  await reach(30);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
});

test.each(['as it was', 'paused as well'])(
  'a reset amid a paid period, with a cancel at its end that is given again, lets it last until then: %s',
  async (how) => {
    const { flow, reach, tried, reset, dayOf } = await beginResettable(time);
    await reach(8);
    expect(await flow.command('cancel', { when: 'periodEnd' })).toMatchObject({ endsAt: dayOf(14) });
    if (how !== 'as it was') await flow.command('pause');
    await reach(9);
    await reset(1);
    expect(await flow.status()).toMatchObject({ subscription: { endsAt: dayOf(14) } });
    const handle = time.client.workflow.getHandle(flow.workflowId);
    expect(await handle.result()).toMatchObject({
      status: 'cancelled',
      billedPeriods: 2,
      endedAt: expect.stringContaining(dayOf(14).slice(0, 'yyyy-mm-ddThh:mm'.length)) as unknown,
    });
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 7 Succeed 6000 EUR']);
  },
);

test('a reset of one that was cancelled between two tries finds those that were made, and makes no other', async () => {
  const declined = declinedFor('insufficient_funds');
  const { flow, reach, tried } = await weekly({}, { '1.1': declined, '1.2': declined });
  await reach(2);
  await flow.command('cancel', { when: 'now' });
  const onLedger = ['1.1 day 0 Failed 6000 EUR', '1.2 day 1 Failed 6000 EUR'];
  expect(await tried()).toEqual(onLedger);
  await resetToItsBeginning(flow.workflowId);
  const handle = time.client.workflow.getHandle(flow.workflowId);
  expect(await handle.result()).toMatchObject({ status: 'cancelled', open: { attempts: 2, declines: 2 } });
  expect(await tried()).toEqual(onLedger);
});

test('a bill whose payment was declined before a reset is tried again with the amount that it had, not with another', async () => {
  const { flow, reach, tried, beginAgain } = await weekly({ periods: 1 }, { '1.1': declinedFor('insufficient_funds') });
  await flow.command('changePlan', { amount: 7_000 });
  await reach(0);
  await beginAgain();
  await reach(2);
  expect(await tried()).toEqual(['1.1 day 0 Failed 7000 EUR', '1.2 day 1 Succeed 7000 EUR']);
  await flow.command('cancel', { when: 'now' });
});

test('an amount that is given again long after a reset, from a period whose days the plan knows no more, is refused', async () => {
  const { flow, reach, tried, beginAgain } = await weekly({ periods: 4 });
  await reach(1);
  await beginAgain();
  await flow.command('changePlan', { interval: { every: 1, unit: 'day' } });
  await reach(7);
  await expect(flow.command('changePlan', { amount: 500, fromPeriod: 1 })).rejects.toMatchObject(
    failsWith('InvalidInput', 'the first one that can change is 3'),
  );
  await flow.command('changePlan', { amount: 500 });
  await reach(9);
  expect(await tried()).toEqual([
    '1.1 day 0 Succeed 6000 EUR',
    '2.1 day 7 Succeed 6000 EUR',
    '3.1 day 8 Succeed 500 EUR',
    '4.1 day 9 Succeed 500 EUR',
  ]);
  await flow.command('cancel', { when: 'now' });
});

test('a reset after which no day for a retry is left gives up no bill whose payment is under way', async () => {
  const faults = { '1.1': declinedFor('insufficient_funds'), '1.2': { status: 'Pending' } } as const;
  const { flow, reach, tried } = await weekly({ periods: 2 }, faults);
  await reach(6);
  await resetToItsBeginning(flow.workflowId);
  await reach(8);
  // The second period has begun, and two payments are never under way side by side.
  expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR', '1.2 day 1 Pending 6000 EUR']);
  await succeed(`${flow.reference}.1.2`);
  const handle = time.client.workflow.getHandle(flow.workflowId);
  expect(await handle.result()).toMatchObject({ status: 'completed', billedPeriods: 2, unpaidPeriods: 0 });
  expect((await tried()).slice(0, 2)).toEqual(['1.1 day 0 Failed 6000 EUR', '1.2 day 1 Succeed 6000 EUR']);
});

test.each([
  ['by a later version', { v: 9 }],
  ['without a version', { v: undefined }],
])(
  'a run that was begun %s bills nothing and ends nothing before code that can read it is there',
  async (_by, mark) => {
    const { flow, reach, tried } = await weekly({ interval: { every: 1, unit: 'day' }, periods: 3 });
    const handed = handedOn(time, flow.workflowId);
    await reach(0);
    handed.replaceBy(plainPayload({ ...(await handed.clear()), ...mark }));
    await reach(2);
    const onLedger = ['1.1 day 0 Succeed 6000 EUR', '2.1 day 1 Succeed 6000 EUR'];
    expect(await tried()).toEqual(onLedger);
    const { status } = await time.client.workflow.getHandle(flow.workflowId).describe();
    expect(status.name).toBe('RUNNING');
    handed.restore();
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 3 });
    expect(await tried()).toEqual([...onLedger, '3.1 day 2 Succeed 6000 EUR']);
  },
);

test('what has come due since a reset is neither changed nor skipped', async () => {
  const { flow, reach, tried, beginAgain } = await weekly({ periods: 5 });
  await reach(8);
  await beginAgain();
  await flow.command('pause');
  await reach(22);
  await expect(flow.command('changePlan', { amount: 9_000, fromPeriod: 3 })).rejects.toMatchObject(
    failsWith('InvalidInput', 'fromPeriod: 3 is billed, due or over already'),
  );
  await expect(flow.command('skipPeriod', { period: 4 })).rejects.toMatchObject(
    failsWith('StateConflict', 'period 4 is due already'),
  );
  await flow.command('resume', { missedPeriods: 'billAll' });
  await reach(29);
  expect((await tried()).map((line) => line.replace(/ day \d+/, ''))).toEqual(
    [1, 2, 3, 4, 5].map((period) => `${period}.1 Succeed 6000 EUR`),
  );
});
