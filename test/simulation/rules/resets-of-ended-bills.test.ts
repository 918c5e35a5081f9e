import { afterEach, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import type { SettleManually } from '../../../src/contract/messages.js';
import { paymentWorkflowId } from '../../../src/contract/names.js';
import { resetToEachTask, resetToFirstTask } from '../../support/resets.js';
import { answers, DAY, HOUR, lostReply, MINUTE, OPERATOR, sharedTime } from './context.js';
import { braking } from './braking.js';
import { declinedFor } from '../../support/subscriptions.js';
import { beginWeekly, engineOf } from './weekly.js';

const time = sharedTime({ billing: true });
const { brake, release } = braking(time);
const pass = async (ms: number) => await time.passUntil((await time.now()) + ms);

const listsLag = async (list_lag_ms: number) =>
  void (await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { list_lag_ms } }));
afterEach(async () => {
  await listsLag(0);
  await time.sandbox.clearFaults();
});

/** One bill of 60.00 EUR, whose payments have faults. */
async function beginBill(faults: Parameters<typeof beginWeekly>[2] = {}) {
  const weekly = await beginWeekly(time, { periods: 1 }, faults);
  const handleOf = (on: string) => time.client.workflow.getHandle(paymentWorkflowId(`${weekly.flow.reference}.${on}`));
  return {
    ...weekly,
    handleOf,
    reset: async (on: string) => await resetToFirstTask(time.client, handleOf(on).workflowId),
  };
}

const REFUSED = { action: 'status', status: 400, times: 1 } as const;
const UNAVAILABLE = { action: 'status', status: 503, times: 10_000 } as const;

test('a try that a brake has stopped is sent by no reset after the release: the next one has paid', async () => {
  const { reach, tried, handleOf, flow } = await beginBill();
  await brake();
  await reach(0);
  await release();
  await reach(0, 19);
  const paid = await tried();
  expect(paid).toMatchObject([expect.stringMatching(/^1\.[23] day 0 Succeed 6000 EUR$/)]);
  const look = async () => {
    await pass(3 * HOUR);
    expect(await tried()).toEqual(paid);
  };
  expect(await resetToEachTask(engineOf(time), handleOf('1.1').workflowId, look)).toBeGreaterThan(1);
  await flow.command('cancel', { when: 'now' });
});

test('one that was refused is sent by no reset once the fault is mended: a person has it billed by another payment', async () => {
  const { flow, reach, tried, handleOf, reset } = await beginBill({ '1.1': REFUSED });
  await reach(0);
  expect(await flow.explain()).toContain('was refused');
  await reset('1.1');
  await pass(3 * HOUR);
  expect(await handleOf('1.1').result()).toMatchObject({
    status: 'notExecuted',
    reason: expect.stringContaining('the subscription has gone on from the end of run'),
  });
  expect(await tried()).toEqual([]);
  expect(await flow.command('billNow', { period: 1 })).toMatchObject({ result: { status: 'succeeded' } });
  expect(await tried()).toEqual(['1.2 day 0 Succeed 6000 EUR']);
});

test('one that was terminated is sent by no reset: a person has said that it was not executed', async () => {
  const { flow, reach, tried, handleOf, reset } = await beginBill({ '1.1': UNAVAILABLE });
  await reach(0);
  await handleOf('1.1').terminate('by mistake');
  await flow.command('settleManually', { ...OPERATOR, status: 'notExecuted' });
  await pass(HOUR);
  const paid = ['1.2 day 0 Succeed 6000 EUR'];
  expect(await tried()).toEqual(paid);
  await time.sandbox.clearFaults();
  await reset('1.1');
  await pass(3 * HOUR);
  expect(await tried()).toEqual(paid);
});

test('one that is reset while it is under way is sent, and the bill paid by it', async () => {
  const { flow, reach, tried, reset } = await beginBill({ '1.1': UNAVAILABLE });
  await reach(0);
  await time.sandbox.clearFaults();
  await reset('1.1');
  await pass(HOUR);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  expect(await flow.status()).toMatchObject({ status: 'active', subscription: { billedPeriods: 1 } });
});

test('one that a reset finds to have taken the money pays the bill, which a person has called unpaid: no other is made', async () => {
  const { flow, reach, tried, reset } = await beginBill();
  const reference = `${flow.reference}.1.1`;
  await listsLag(DAY);
  await time.sandbox.addFault({ ...lostReply('*/charges'), reconciliation_id: reference });
  await reach(0, 10);
  await time.sandbox.addFault({ ...answers(400, 'POST', '*/charges'), reconciliation_id: reference });
  await pass(MINUTE);
  await time.holdfast.settleManually(reference, { ...OPERATOR, status: 'notExecuted' });
  await pass(MINUTE);
  expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'retry' });
  await listsLag(0);
  await reset('1.1');
  await pass(HOUR);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  expect(await flow.status()).toMatchObject({ status: 'active', subscription: { billedPeriods: 1 } });
});

describe('a payment that a person has called unpaid, and that a reset finds to have taken the money, pays the bill', () => {
  /** The first payment's reply is lost, and no list shows it. */
  async function beginLost(faults: Parameters<typeof beginWeekly>[2] = {}) {
    const bill = await beginBill(faults);
    const reference = `${bill.flow.reference}.1.1`;
    await listsLag(DAY);
    await time.sandbox.addFault({ ...lostReply('*/charges'), reconciliation_id: reference });
    await bill.reach(0, 10);
    await time.sandbox.addFault({ ...answers(400, 'POST', '*/charges'), reconciliation_id: reference });
    await pass(MINUTE);
    return {
      ...bill,
      settle: async (word: Pick<SettleManually, 'status' | 'category'> = { status: 'notExecuted' }) =>
        await time.holdfast.settleManually(reference, { ...OPERATOR, ...word }),
    };
  }

  async function expectPaidByFirst({ flow, tried, reset }: Awaited<ReturnType<typeof beginLost>>, others: string[]) {
    await listsLag(0);
    await reset('1.1');
    await pass(8 * DAY);
    expect((await tried()).filter((one) => one.includes('Succeed'))).toEqual(['1.1 day 0 Succeed 6000 EUR']);
    expect((await tried()).slice(1)).toEqual(others);
    const subscription = { billedPeriods: 1, unpaidPeriods: 0 };
    expect(await flow.status()).toMatchObject({ subscription });
  }

  test('though the next one was declined for certain', async () => {
    const lost = await beginLost({ '1.2': declinedFor('insufficient_funds') });
    await lost.settle();
    await pass(6 * HOUR);
    await expectPaidByFirst(lost, ['1.2 day 0 Failed 6000 EUR']);
  });

  test('though that person has called it declined', async () => {
    const lost = await beginLost();
    await lost.settle({ status: 'declined', category: 'payment_method_declined' });
    await pass(HOUR);
    await expectPaidByFirst(lost, []);
  });

  test('though another card was waited for in vain', async () => {
    const lost = await beginLost({ '1.2': declinedFor('lost_stolen_card') });
    await lost.settle();
    await pass(6 * HOUR);
    expect(await lost.flow.status()).toMatchObject({ waitingFor: 'card' });
    await expectPaidByFirst(lost, ['1.2 day 0 Failed 6000 EUR']);
  });

  test('and while it is under way no other is made', async () => {
    const { flow, tried, reset, reach, settle } = await beginLost({ '1.2': declinedFor('insufficient_funds') });
    await settle();
    await pass(6 * HOUR);
    const [first] = await time.sandbox.ledger(`${flow.reference}.1.1`);
    await time.sandbox.addFault(answers(503, 'GET', `/payments/${first?.payment_id}/charges`));
    await listsLag(0);
    await reset('1.1');
    await reach(6);
    const before = ['1.1 day 0 Succeed 6000 EUR', '1.2 day 0 Failed 6000 EUR'];
    expect(await tried()).toEqual(before);
    expect(await flow.status()).toMatchObject({ status: 'billing' });
    await time.sandbox.clearFaults();
    await pass(DAY);
    expect(await tried()).toEqual(before);
    expect(await flow.status()).toMatchObject({ subscription: { billedPeriods: 1, unpaidPeriods: 0 } });
  });

  test('though a brake has stopped the next one', async () => {
    const lost = await beginLost();
    await brake();
    await lost.settle();
    await lost.reach(1, 20);
    await listsLag(0);
    await lost.reset('1.1');
    await pass(HOUR);
    await release();
    await expectPaidByFirst(lost, []);
  });

  test('though the subscription is cancelled before that is known', async () => {
    const { flow, settle, reset, tried } = await beginLost();
    await settle();
    await listsLag(0);
    await reset('1.1');
    await flow.command('cancel', { when: 'now' });
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1, unpaidPeriods: 0 });
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  });

  test('and none other is made where it is found not to have taken it while its bill is dropped', async () => {
    const { flow, settle, reset, tried, handleOf } = await beginLost();
    await settle();
    await reset('1.1');
    await pass(MINUTE);
    const looks = [time.hold('readAttempt')];
    const paused = flow.command('pause', { openPeriod: 'drop' });
    // For the payment after it, for itself, and once more before it is followed.
    for (const look of [1, 2, 3]) {
      await looks.at(-1)?.reached;
      if (look === 3) {
        await settle();
        expect(await handleOf('1.1').result()).toMatchObject({ status: 'notExecuted' });
      }
      looks.at(-1)?.release();
      if (look < 3) looks.push(time.hold('readAttempt'));
    }
    await paused;
    await pass(2 * DAY);
    expect(await tried()).toHaveLength(1);
    expect(await flow.status()).toMatchObject({ status: 'paused', subscription: { unpaidPeriods: 1 } });
    await flow.command('cancel', { when: 'now' });
  });
});
