import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { resetToFirstTask } from '../../support/resets.js';
import { answers, failsWith, HOUR, OPERATOR, sharedTime } from './context.js';
import { beginWeekly } from './weekly.js';

const time = sharedTime({ billing: true });
const DECLINED = { ...OPERATOR, status: 'declined' } as const;
const NOT_EXECUTED = { ...OPERATOR, status: 'notExecuted' } as const;
const FOUR_WEEKS = { interval: { every: 4, unit: 'week' as const }, periods: 1 };

/** Its first payment pends, and the flow of that was terminated. */
const lost = async () => {
  const context = await beginWeekly(time, FOUR_WEEKS, { '1.1': { status: 'Pending' } });
  const { flow, reach } = context;
  await reach(0);
  await time.client.workflow.getHandle(`payment-${flow.reference}.1.1`).terminate('by accident');
  await time.passUntil((await time.now()) + HOUR);
  expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'operator' });
  return context;
};

describe('what a person says of a payment in doubt is not believed against what is read', () => {
  test.each([DECLINED, NOT_EXECUTED])('by the service, which took the money: $status', async (said) => {
    const { flow, tried, complete } = await lost();
    await complete('1.1', { status: 'Succeed' });
    await expect(flow.command('settleManually', said)).rejects.toMatchObject(
      failsWith('StateConflict', `payment ${flow.reference}.1.1 has succeeded, and period 1 is billed by it`),
    );
    const { lastBilled } = await flow.ended();
    const [sent] = await time.sandbox.ledger(`${flow.reference}.1.1`);
    expect(lastBilled).toMatchObject({ paymentReference: `${flow.reference}.1.1`, paymentId: sent?.payment_id });
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  });

  test.each([DECLINED, NOT_EXECUTED])(
    'by the service, which took the money by a payment whose failure nobody has confirmed: $status',
    async (said) => {
      const unconfirmed = { category: 'provider_network_error' };
      const { flow, reach, tried, complete } = await beginWeekly(time, FOUR_WEEKS, { '1.1': unconfirmed });
      await reach(0, 13);
      expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'operator' });
      await complete('1.1', { status: 'Succeed' });
      await expect(flow.command('settleManually', said)).rejects.toMatchObject(
        failsWith('StateConflict', `payment ${flow.reference}.1.1 has succeeded, and period 1 is billed by it`),
      );
      expect(await flow.ended()).toMatchObject({ billedPeriods: 1 });
      expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
    },
  );

  test.each([DECLINED, NOT_EXECUTED])('by the service, where the payment still pends: $status', async (said) => {
    const { flow, complete } = await lost();
    await expect(flow.command('settleManually', said)).rejects.toMatchObject(
      failsWith('StateConflict', 'the payment service says Pending'),
    );
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'operator' });
    await complete('1.1', { status: 'Succeed' });
    await flow.command('settleManually', { ...OPERATOR, status: 'succeeded' });
    await flow.ended();
  });

  const soft = { ...DECLINED, category: 'payment_method_declined' };
  test.each([
    ['lost_stolen_card', 'payment_method_declined', DECLINED],
    ['lost_stolen_card', 'payment_method_declined', soft],
    ['a_word_of_its_own', 'payment_method_error', DECLINED],
  ])('by the service, which names a card that was declined for good: %s of %s', async (subCategory, category, said) => {
    const { flow, tried, complete } = await lost();
    await complete('1.1', { status: 'Failed', category, subCategory });
    await flow.command('settleManually', said);
    await flow.worksOn();
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card' });
    expect(await tried()).toHaveLength(1);
    await flow.command('cancel', { when: 'now' });
  });

  test('but by nothing that another flow has made on its payment', async () => {
    const { flow, tried, complete } = await lost();
    await complete('1.1', { status: 'Failed', category: 'payment_method_declined' });
    const { sandbox } = time.simulation.world;
    sandbox.through = async (request, serve) => {
      const reply = await serve(request);
      if (request.method !== 'GET' || !request.path.endsWith('/charges')) return reply;
      const [ours] = JSON.parse(String(reply.body)) as [object];
      const additional_details = { holdfast_key: 'payment-another:createCharge:1' };
      const theirs = { ...ours, id: randomUUID(), result: { status: 'Succeed' }, additional_details };
      return { ...reply, body: Buffer.from(JSON.stringify([ours, theirs])) };
    };
    await flow.command('settleManually', DECLINED);
    sandbox.through = (request, serve) => serve(request);
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
    expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR', '1.2 day 1 Succeed 6000 EUR']);
  });

  test('by the flow of the payment, which a reset has set going again', async () => {
    const { flow, tried, complete } = await lost();
    await resetToFirstTask(time.client, `payment-${flow.reference}.1.1`);
    await time.passUntil((await time.now()) + HOUR);
    await expect(flow.command('settleManually', DECLINED)).rejects.toMatchObject(
      failsWith('StateConflict', 'is under way again'),
    );
    await complete('1.1', { status: 'Succeed' });
    await time.passUntil((await time.now()) + 24 * HOUR);
    await expect(flow.command('settleManually', DECLINED)).rejects.toMatchObject(
      failsWith('StateConflict', 'has succeeded'),
    );
    expect(await flow.ended()).toMatchObject({ billedPeriods: 1 });
    expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  });

  test('by the flow of the payment, which names a card that was declined for good', async () => {
    const { flow, tried, complete } = await lost();
    await resetToFirstTask(time.client, `payment-${flow.reference}.1.1`);
    await time.passUntil((await time.now()) + HOUR);
    await complete('1.1', { status: 'Failed', category: 'payment_method_declined', subCategory: 'lost_stolen_card' });
    await time.passUntil((await time.now()) + 24 * HOUR);
    await flow.command('settleManually', DECLINED);
    await flow.worksOn();
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card' });
    expect(await tried()).toHaveLength(1);
    await flow.command('cancel', { when: 'now' });
  });

  test('but it is where the service does not answer', async () => {
    const { flow, tried, complete } = await lost();
    await complete('1.1', { status: 'Failed', category: 'payment_method_declined' });
    await time.sandbox.addFault({ ...answers(503, 'GET', '*/charges'), times: 3 });
    await flow.command('settleManually', NOT_EXECUTED);
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
    expect((await tried()).at(-1)).toBe('1.2 day 0 Succeed 6000 EUR');
  });
});

test('an amount is refused: the payment was for that of the bill', async () => {
  const { flow } = await lost();
  const said = { ...OPERATOR, status: 'succeeded', amount: 100 } as const;
  await expect(flow.command('settleManually', said)).rejects.toMatchObject(failsWith('InvalidInput', 'amount: '));
  expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'operator' });
  await flow.command('cancel', { when: 'now' });
});
