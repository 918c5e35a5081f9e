import { expect, test } from 'vitest';
import { createEnginePort } from '../../../src/client/engine-port.js';
import { resetToFirstTask } from '../../support/resets.js';
import {
  answers,
  beginFlow,
  DAY,
  HOUR,
  inputOf,
  MINUTE,
  runLengths,
  scheduledOf,
  SECOND,
  sharedTime,
} from './context.js';
import { counterOf, flowOf, limitedUnit } from './limited-unit.js';

const time = sharedTime();
const { charged, liftLimits, newDay, pass } = limitedUnit(time);

test('a refund below every limit is sent at once, and counted once by its day', async () => {
  const at = await newDay();
  const { actions, moved } = await charged();
  expect(await actions.ask('refund', { commandId: 'one', amount: 6_000 })).toMatchObject({ status: 'succeeded' });
  expect(await moved()).toEqual(['charge Succeed 12000 USD', 'refund Succeed 6000 USD']);
  expect(await time.holdfast.explain(counterOf(at))).toContain('1 credits and refunds, 60.00 USD');
});

test('a refund takes no room that another one takes at the same time', async () => {
  const at = await newDay();
  const three = [await charged(), await charged(), await charged()];
  await Promise.all(three.map(async ({ actions }) => await actions.command('refund', { amount: 6_000, who: 'Ada' })));
  await pass(MINUTE);
  const stands = await Promise.all(three.map(async ({ actions }) => (await actions.status()).waitingFor));
  expect(stands.toSorted()).toEqual(['approval', 'command', 'command']);
  expect(await time.holdfast.explain(counterOf(at))).toContain('2 credits and refunds, 120.00 USD');
});

test('credits that have waited for their payments over midnight take room on the day on which they are sent', async () => {
  const at = await newDay();
  const { actions } = await charged();
  await time.passUntil(at + 22 * HOUR);
  const away = await time.sandbox.addFault(answers(503, 'POST', '/payments'));
  const credits = [];
  for (let made = 0; made < 2; made += 1)
    credits.push(await beginFlow(time, 'credit', await inputOf(time, 'credit', { amount: 6_000 })));
  await time.passUntil(at + DAY);
  await time.sandbox.removeFault(away.id);
  for (const credit of credits) expect(await credit.outcome()).toMatchObject({ status: 'succeeded' });
  const [{ workflowId } = { workflowId: '' }] = credits;
  await resetToFirstTask(time.client, workflowId);
  await pass(HOUR);
  expect(await time.holdfast.explain(counterOf(at + DAY))).toContain('2 credits and refunds, 120.00 USD');
  await actions.command('refund', { commandId: 'r', amount: 6_000, who: 'Ada' });
  await pass(MINUTE);
  expect(await actions.status()).toMatchObject({ waitingFor: 'approval' });
});

test('a fourth refund of a day to the same card waits, whichever payments they are of', async () => {
  const at = await newDay();
  const { actions } = await charged('EUR');
  const { actions: other } = await charged('EUR');
  for (const commandId of ['a', 'b'])
    expect(await actions.ask('refund', { commandId, amount: 5_000 })).toMatchObject({ status: 'succeeded' });
  expect(await other.ask('refund', { commandId: 'c', amount: 5_000 })).toMatchObject({ status: 'succeeded' });
  await other.command('refund', { commandId: 'd', amount: 5_000, who: 'Ada' });
  await pass(MINUTE);
  expect(await other.status()).toMatchObject({
    approval: { why: expect.stringContaining('refund 4 of that day to the same card') },
  });
  // The next day has room, and somebody asks for another look.
  await time.passUntil(at + DAY);
  await time.holdfast.retryNow(flowOf(other.workflowId));
  await pass(MINUTE);
  expect(await other.status()).toMatchObject({ waitingFor: 'command', needsOperator: false });
});

test('a retried count counts once, and while the counter can not be reached nothing is sent', async () => {
  const at = await newDay();
  const { actions, moved } = await charged();
  const mend = time.fail('countOutgoing');
  const { answer } = await actions.command('refund', { commandId: 'r', amount: 5_000 });
  await pass(3 * HOUR);
  expect(await moved()).toEqual(['charge Succeed 12000 USD']);
  mend();
  expect(await answer).toMatchObject({ status: 'succeeded' });
  // A reset asks again, for what was sent already.
  await resetToFirstTask(time.client, actions.workflowId);
  await pass(HOUR);
  expect(await moved()).toEqual(['charge Succeed 12000 USD', 'refund Succeed 5000 USD']);
  expect(await time.holdfast.explain(counterOf(at))).toContain('1 credits and refunds, 50.00 USD');
});

test('a day of more requests than one run takes forgets none of them, and ends a day after it', async () => {
  const at = await newDay();
  const day = new Date(at).toISOString().slice(0, 10);
  const port = createEnginePort(time.client);
  const ask = async (number: number) =>
    await port.countOutgoing(
      { businessUnit: 'busy', day },
      { key: `k${number}`, amount: 1, currency: 'USD', perDay: 510 },
    );
  for (let number = 0; number < 510; number += 1) expect(await ask(number)).toEqual({ counted: true });
  for (const number of [0, 499, 509]) expect(await ask(number)).toEqual({ counted: true });
  expect(await ask(510)).toEqual({ counted: false, over: 'perDay', sum: 510, refunds: 0 });
  expect(runLengths(time, `outgoing-busy-${day}`)).toHaveLength(2);
  await time.passUntil(at + 2 * DAY);
  expect(await ask(511)).toBe('dayIsOver');
});

test('a service that rejects the read of the card calls a person, and the refund goes on once it is mended', async () => {
  await newDay();
  const { actions, paymentId, moved } = await charged('EUR');
  // The read before has been answered: this is the one of the card.
  const mend = time.fail('countOutgoing');
  const { answer } = await actions.command('refund', { commandId: 'r', amount: 5_000 });
  await pass(10 * SECOND);
  const fault = await time.sandbox.addFault(answers(401, 'GET', `/payments/${paymentId}/charges`));
  mend();
  await pass(10 * MINUTE);
  expect(await actions.status()).toMatchObject({ needsOperator: true });
  expect(await moved()).toHaveLength(1);
  await time.sandbox.removeFault(fault.id);
  expect(await answer).toMatchObject({ status: 'succeeded' });
  expect(await actions.status()).toMatchObject({ needsOperator: false });
});

test.each([404, 405, 501])(
  'where a service answers %i to its lists, the payment stands for the card',
  async (status) => {
    const at = await newDay();
    const { actions, paymentId } = await charged('EUR');
    const mend = time.fail('countOutgoing');
    const { answer } = await actions.command('refund', { commandId: 'r', amount: 5_000 });
    await pass(10 * SECOND);
    const fault = await time.sandbox.addFault(answers(status, 'GET', `/payments/${paymentId}/charges`));
    mend();
    await pass(MINUTE);
    expect(await actions.status()).toMatchObject({ waitingFor: 'command', needsOperator: false });
    await time.sandbox.removeFault(fault.id);
    expect(await answer).toMatchObject({ status: 'succeeded' });
    expect(await time.holdfast.explain(counterOf(at))).toContain('1 credits and refunds, 50.00 EUR');
  },
);

test('a unit without limits asks no counter', async () => {
  await liftLimits();
  await newDay();
  const { actions } = await charged();
  await actions.ask('refund', { commandId: 'r' });
  const flow = await beginFlow(time, 'credit', await inputOf(time, 'credit'));
  await flow.outcome();
  const asked = [...(await scheduledOf(time, actions.workflowId)), ...(await scheduledOf(time, flow.workflowId))];
  expect(asked).toContain('createCredit');
  expect(asked).not.toContain('countOutgoing');
});
