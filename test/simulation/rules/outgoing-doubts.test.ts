import { expect, test } from 'vitest';
import { DAY, failsWith, HOUR, MINUTE, sharedTime } from './context.js';
import { counterOf, limitedUnit } from './limited-unit.js';

const time = sharedTime();
const { charged, newDay, pass } = limitedUnit(time);

test('a counter that was terminated calls a person, and the next day counts again', async () => {
  const at = await newDay();
  const { actions, moved } = await charged();
  await actions.ask('refund', { commandId: 'a', amount: 5_000 });
  await time.client.workflow.getHandle(counterOf(at).workflowId).terminate();
  const { answer } = await actions.command('refund', { commandId: 'b', amount: 5_000 });
  await pass(HOUR);
  expect(await actions.status()).toMatchObject({
    needsOperator: true,
    operatorReason: expect.stringContaining('has ended'),
  });
  expect(await moved()).toHaveLength(2);
  await time.passUntil(at + DAY);
  expect(await answer).toMatchObject({ status: 'succeeded' });
});

test('what has waited long for its counter is looked into again, and has its whole time', async () => {
  await newDay();
  const disputed = await charged();
  const { actions } = await charged();
  const mend = time.fail('countOutgoing');
  const first = await disputed.actions.command('refund', { commandId: 'r', amount: 5_000 });
  const second = await actions.command('refund', { commandId: 'r', amount: 5_000 });
  await pass(MINUTE);
  const charge = (await time.sandbox.ledger()).find(({ payment_id: id }) => id === disputed.paymentId);
  await time.sandbox.dispute(charge?.transaction_id ?? '');
  await pass(30 * HOUR);
  mend();
  await expect(first.answer).rejects.toMatchObject(failsWith('StateConflict', 'is disputed'));
  expect(await second.answer).toMatchObject({ status: 'succeeded' });
});
