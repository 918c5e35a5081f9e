import { describe, expect, test } from 'vitest';
import { answers, HOUR, MINUTE, sharedTime } from './context.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

const time = sharedTime({ billing: true });

const weekly = async (...given: WeeklyArguments) => await beginWeekly(time, ...given);

describe('a refundPeriod that is given again after the end of its subscription', () => {
  test('gets the answer of before, and the payment is refunded once', async () => {
    const { flow, reach, moved } = await weekly({ periods: 2 });
    await reach(1);
    const refund = { commandId: 'returned', period: 1, amount: 5_500 };
    const first = await time.holdfast.subscription.refundPeriod(flow.reference, refund);
    expect(first).toMatchObject({ result: { status: 'succeeded', amount: 5_500 } });
    expect(await flow.ended()).toMatchObject({ status: 'completed' });
    expect(await time.holdfast.subscription.refundPeriod(flow.reference, refund)).toEqual(first);
    const other = time.holdfast.subscription.refundPeriod(flow.reference, { ...refund, amount: 5_000 });
    await expect(other).rejects.toMatchObject({ type: 'ReferenceConflict' });
    // What it knows nothing of is given to the payment, under the id that the flow would have used.
    const unknown = time.holdfast.subscription.refundPeriod(flow.reference, { commandId: 'forgotten', period: 1 });
    await expect(unknown).rejects.toMatchObject({
      type: 'StateConflict',
      message: expect.stringContaining(
        `refund({ payment: "${flow.reference}.1.1", commandId: "${flow.workflowId}:forgotten" })`,
      ),
    });
    const byPayment = time.holdfast.refund({
      payment: `${flow.reference}.1.1`,
      amount: 5_500,
      commandId: `${flow.workflowId}:returned`,
    });
    await time.passUntil((await time.now()) + MINUTE);
    expect(await byPayment).toMatchObject({ status: 'succeeded', amount: 5_500 });
    expect(await moved('1.1')).toEqual(['charge Succeed 6000 EUR', 'refund Succeed 5500 EUR']);
  });

  test.each(['once the subscription has ended', 'once it has gone on and ended'])(
    'that was in doubt is asked about by the same command again, %s',
    async (when) => {
      const { flow, reach, moved } = await weekly({ periods: 3 });
      await reach(1);
      const [bill] = await time.sandbox.ledger(`${flow.reference}.1.1`);
      const away = await time.sandbox.addFault(answers(503, 'POST', `/payments/${bill?.payment_id}/refunds`));
      const ask = async () =>
        await time.holdfast.subscription.refundPeriod(flow.reference, { commandId: 'returned', period: 1 });
      expect(await ask()).toMatchObject({ result: { status: 'unknown' } });
      await time.sandbox.removeFault(away.id);
      if (when === 'once it has gone on and ended') await reach(8);
      await time.holdfast.subscription.cancel(flow.reference, { when: 'now' });
      expect(await flow.ended()).toMatchObject({ status: 'cancelled' });
      await time.passUntil((await time.now()) + HOUR);
      expect(await ask()).toMatchObject({ status: 'cancelled', result: { status: 'succeeded', amount: 6_000 } });
      expect(await moved('1.1')).toEqual(['charge Succeed 6000 EUR', 'refund Succeed 6000 EUR']);
    },
  );
});

test('a billNow that is given again after the end of its subscription gets the answer of before', async () => {
  const { flow, reach, moved } = await weekly({ periods: 3 });
  await reach(1);
  const early = { commandId: 'early', period: 2 };
  const first = await time.holdfast.subscription.billNow(flow.reference, early);
  expect(first).toMatchObject({ result: { status: 'succeeded' } });
  await reach(8);
  await time.holdfast.subscription.cancel(flow.reference, { when: 'now' });
  await flow.ended();
  expect(await time.holdfast.subscription.billNow(flow.reference, early)).toEqual(first);
  expect(await moved('2.1')).toEqual(['charge Succeed 6000 EUR']);
  const late = time.holdfast.subscription.billNow(flow.reference, { period: 3 });
  await expect(late).rejects.toMatchObject({ type: 'StateConflict' });
});

test('a refundPeriod that is given again after its subscription was terminated is not simply called refused', async () => {
  const { flow, reach, moved } = await weekly({ periods: 3 });
  await reach(1);
  const refund = { commandId: 'returned', amount: 5_500 };
  await time.holdfast.subscription.refundPeriod(flow.reference, refund);
  await time.client.workflow.getHandle(flow.workflowId).terminate('by mistake');
  // The server has the first answer for the very same request alone, and in the same run.
  const again = time.holdfast.subscription.refundPeriod(flow.reference, { ...refund, who: 'Ada' });
  await expect(again).rejects.toMatchObject({
    type: 'StateConflict',
    message: expect.stringContaining('look at its payments and their refunds before you ask for it in another way'),
  });
  const byPeriod = time.holdfast.subscription.refundPeriod(flow.reference, { ...refund, period: 1 });
  await expect(byPeriod).rejects.toMatchObject({
    message: expect.stringContaining(`commandId: "${flow.workflowId}:returned"`),
  });
  expect(await moved('1.1')).toEqual(['charge Succeed 6000 EUR', 'refund Succeed 5500 EUR']);
});
