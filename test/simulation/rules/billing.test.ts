import { describe, expect, test } from 'vitest';
import { declinedFor, inRome, later } from '../../support/subscriptions.js';
import { resetToEachTask, resetToFirstTask } from '../../support/resets.js';
import { failsWith, HOUR, OPERATOR, sharedTime } from './context.js';
import { beginWeekly, engineOf, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });

const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);
const engine = () => engineOf(time);

test('two periods are billed on their days, each once', async () => {
  const { flow, tried } = await weekly({ periods: 2 });
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2 });
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 7 Succeed 6000 EUR']);
});

test('a bill that is declined is tried again as a payment of its own', async () => {
  const { flow, tried } = await weekly(
    { periods: 1 },
    {
      '1.1': declinedFor('insufficient_funds'),
      '1.2': declinedFor('insufficient_funds'),
    },
  );
  expect(await flow.ended()).toMatchObject({ billedPeriods: 1 });
  expect(await tried()).toEqual([
    '1.1 day 0 Failed 6000 EUR',
    '1.2 day 1 Failed 6000 EUR',
    '1.3 day 3 Succeed 6000 EUR',
  ]);
});

test('a payment whose flow was terminated may have taken the money: no other leaves before a person has looked', async () => {
  const { flow, reach, tried } = await weekly({ periods: 2 }, { '1.1': { status: 'Pending' } });
  await reach(0);
  await time.client.workflow.getHandle(`payment-${flow.reference}.1.1`).terminate('by accident');
  await reach(20);
  expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'operator', needsOperator: true });
  expect(await tried()).toEqual(['1.1 day 0 Pending 6000 EUR']);
  const [sent] = await time.sandbox.ledger(`${flow.reference}.1.1`);
  await time.sandbox.complete(sent?.transaction_id ?? '', { status: 'Succeed' });
  await flow.command('settleManually', { ...OPERATOR, status: 'succeeded' });
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2 });
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 20 Succeed 6000 EUR']);
});

test('a payment that is reset under way is no lost one: its new run tells how it ended', async () => {
  const { flow, reach, tried } = await weekly({ periods: 1 }, { '1.1': { status: 'Pending' } });
  await reach(0);
  await resetToFirstTask(time.client, `payment-${flow.reference}.1.1`);
  await time.passUntil((await time.now()) + HOUR);
  expect(await flow.status()).toMatchObject({ status: 'billing', needsOperator: false });
  const [sent] = await time.sandbox.ledger(`${flow.reference}.1.1`);
  await time.sandbox.complete(sent?.transaction_id ?? '', { status: 'Succeed' });
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
});

test('a reset after the keys are forgotten joins the payments that were made, and bills nothing again', async () => {
  const { flow, reach, tried } = await weekly({ periods: 2 });
  await reach(2);
  const onLedger = ['1.1 day 0 Succeed 6000 EUR'];
  expect(await tried()).toEqual(onLedger);
  const resets = await resetToEachTask(engine(), flow.workflowId, async () => {
    await time.passUntil((await time.now()) + HOUR);
    expect(await flow.status()).toMatchObject({ subscription: { billedPeriods: 1 } });
    expect(await tried()).toEqual(onLedger);
  });
  expect(resets).toBeGreaterThan(2);
  await reach(15);
  expect(await tried()).toEqual([...onLedger, '2.1 day 7 Succeed 6000 EUR']);
});

test('a payment that is joined after a reset is shown, and refunded, as what it took, whatever the plan says now', async () => {
  const { flow, reach, moved, beginAgain } = await weekly({ periods: 2 });
  await reach(2);
  await flow.command('changePlan', { amount: 9_000 });
  await reach(8);
  await beginAgain();
  expect((await flow.status()).subscription).toMatchObject({ amount: 6_000, lastBilled: { period: 2, amount: 9_000 } });
  await expect(flow.command('refundPeriod', { period: 2, amount: 9_001 })).rejects.toMatchObject(
    failsWith('InvalidInput'),
  );
  expect(await flow.command('refundPeriod', { period: 2, amount: 9_000 })).toMatchObject({
    result: { status: 'succeeded' },
  });
  expect(await moved('2.1')).toEqual(['charge Succeed 9000 EUR', 'refund Succeed 9000 EUR']);
});

describe('billNow', () => {
  test('of a billed period is refused while another is open, and takes nothing', async () => {
    const { flow, reach, tried } = await weekly({ periods: 2 }, { '2.1': declinedFor('insufficient_funds') });
    await reach(7);
    expect(await flow.status()).toMatchObject({ status: 'pastDue' });
    await expect(flow.command('billNow', { period: 1 })).rejects.toMatchObject(
      failsWith('StateConflict', 'has been billed by'),
    );
    expect(await flow.ended()).toMatchObject({ billedPeriods: 2 });
    expect(await tried()).toEqual([
      '1.1 day 0 Succeed 6000 EUR',
      '2.1 day 7 Failed 6000 EUR',
      '2.2 day 8 Succeed 6000 EUR',
    ]);
  });

  test('takes nothing while it is paused, neither of the open bill nor of the next', async () => {
    const { flow, reach, tried } = await weekly({ periods: 2 }, { '1.1': declinedFor('insufficient_funds') });
    await reach(0);
    await flow.command('pause');
    for (const period of [1, 2]) {
      await expect(flow.command('billNow', { period })).rejects.toMatchObject(
        failsWith('StateConflict', 'resume it first'),
      );
    }
    await reach(3);
    expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR']);
    await flow.command('cancel', { when: 'now' });
    await flow.ended();
    expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR']);
  });

  test('of a period that was billed by the same command, in an earlier run, is answered with that payment', async () => {
    const { flow, reach, tried } = await weekly({ periods: 4 });
    await reach(2);
    const early = { commandId: 'early', period: 2 };
    const result = { status: 'succeeded', reference: `${flow.reference}.2.1` };
    expect(await flow.command('billNow', early)).toMatchObject({ result });
    await reach(15);
    expect(await flow.command('billNow', early)).toMatchObject({ result });
    await expect(flow.command('billNow', { ...early, period: 3 })).rejects.toMatchObject(
      failsWith('ReferenceConflict', 'with another request'),
    );
    await expect(flow.command('pause', { commandId: 'early' })).rejects.toMatchObject(failsWith('ReferenceConflict'));
    // By our client as well, whose requests of two commands may be the same text.
    const { subscription } = time.holdfast;
    await subscription.pause(flow.reference, { commandId: 'stop' });
    await subscription.resume(flow.reference, { commandId: 'ticket' });
    await expect(subscription.refundPeriod(flow.reference, { commandId: 'ticket' })).rejects.toMatchObject({
      type: 'ReferenceConflict',
    });
    expect((await flow.status()).subscription).toMatchObject({ billedPeriods: 3 });
    expect(await tried()).toEqual([
      '1.1 day 0 Succeed 6000 EUR',
      '2.1 day 2 Succeed 6000 EUR',
      '3.1 day 14 Succeed 6000 EUR',
    ]);
  });
});

describe('after an outage', () => {
  test('that has outlasted the period a late retry is given up: it is not tried beside the bill of the next', async () => {
    const { flow, reach, tried } = await weekly({ periods: 2 }, { '1.1': declinedFor('insufficient_funds') });
    await reach(0);
    await time.stopWorker();
    await reach(7, 14);
    await time.startWorker();
    expect(await flow.ended()).toMatchObject({ billedPeriods: 1, unpaidPeriods: 1 });
    expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR', '2.1 day 7 Succeed 6000 EUR']);
  });

  test('of three periods the last alone is billed, and the others are told as missed', async () => {
    const { flow, reach, tried } = await weekly({ periods: 4 });
    await time.stopWorker();
    await reach(14, 14);
    await time.startWorker();
    expect(await flow.ended()).toMatchObject({ billedPeriods: 2, missedPeriods: 2 });
    expect(await tried()).toEqual(['3.1 day 14 Succeed 6000 EUR', '4.1 day 21 Succeed 6000 EUR']);
  });
});

describe('a cancel', () => {
  test('now, while a payment is under way, is answered once it is known what that took', async () => {
    const { flow, reach, tried } = await weekly({}, { '1.1': { status: 'Pending' } });
    await reach(0);
    const answer = flow.command('cancel', { when: 'now' });
    await time.passUntil((await time.now()) + HOUR);
    expect((await flow.status()).status).not.toBe('cancelled');
    const [sent] = await time.sandbox.ledger(`${flow.reference}.1.1`);
    await time.sandbox.complete(sent?.transaction_id ?? '', { status: 'Succeed' });
    expect(await answer).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  });

  test('at the end of the period bills nothing further', async () => {
    const { flow, reach, tried } = await weekly();
    await reach(1);
    await flow.command('cancel', { when: 'periodEnd' });
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
    await reach(15);
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  });
});

describe('what is commanded while a payment is under way holds in the runs that follow', () => {
  async function paidLater() {
    const { flow, reach, tried } = await weekly({}, { '1.1': { status: 'Pending' } });
    await reach(0);
    const pay = async () => {
      const [sent] = await time.sandbox.ledger(`${flow.reference}.1.1`);
      await time.sandbox.complete(sent?.transaction_id ?? '', { status: 'Succeed' });
      await reach(15);
      expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
    };
    return { flow, pay };
  }

  test('a pause: nothing more is billed', async () => {
    const { flow, pay } = await paidLater();
    await flow.command('pause');
    await pay();
    expect(await flow.status()).toMatchObject({ status: 'paused', subscription: { billedPeriods: 1 } });
    await flow.command('cancel', { when: 'now' });
  });

  test('a cancel at the end of the period: nothing more is billed', async () => {
    const { flow, pay } = await paidLater();
    await flow.command('cancel', { when: 'periodEnd' });
    await pay();
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
  });
});

test('a resume bills none of the periods of the pause unless that is asked for', async () => {
  const { flow, reach, tried } = await weekly({ periods: 4 });
  await reach(1);
  await flow.command('pause');
  await reach(16);
  await flow.command('resume');
  expect(await flow.ended()).toMatchObject({ billedPeriods: 2, missedPeriods: 2 });
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '4.1 day 21 Succeed 6000 EUR']);
});

describe('the last period', () => {
  test('is lived to its end: only then is it said to be over, and until then it is refunded like any other', async () => {
    const { flow, input, reach, moved } = await weekly({ periods: 2 });
    await reach(12);
    expect(await flow.status()).toMatchObject({
      status: 'active',
      subscription: { billedPeriods: 2, endsAt: new Date(inRome(later(input.anchor, 14))).toISOString() },
    });
    expect(await flow.explain()).toContain('2 periods billed; nothing more is billed, and it ends on');
    expect(await flow.command('refundPeriod', { period: 2 })).toMatchObject({ result: { status: 'succeeded' } });
    const { endedAt, status } = await flow.ended();
    expect([status, Date.parse(endedAt)]).toEqual(['completed', expect.closeTo(inRome(later(input.anchor, 14)), -5)]);
    expect(await moved('2.1')).toEqual(['charge Succeed 6000 EUR', 'refund Succeed 6000 EUR']);
  });

  test('that stayed unpaid is not waited for', async () => {
    const unpaid = { dunning: { maxAttempts: 1, onGivenUp: 'continue' as const } };
    const { flow, input } = await weekly({ periods: 1, ...unpaid }, { '1.1': declinedFor('insufficient_funds') });
    const { endedAt, status } = await flow.ended();
    expect([status, endedAt.slice(0, 10)]).toEqual(['completed', input.anchor]);
  });

  test('ends a subscription that is cancelled at its end, and not before', async () => {
    const { flow, input, reach } = await weekly({ periods: 1 });
    await reach(1);
    expect(await flow.command('cancel', { when: 'periodEnd' })).toMatchObject({ status: 'active' });
    const { endedAt, status } = await flow.ended();
    expect([status, endedAt.slice(0, 10)]).toEqual(['cancelled', later(input.anchor, 7)]);
  });
});
