import { afterEach, expect, test } from 'vitest';
import { anotherCard } from '../../support/subscriptions.js';
import { resetTo, tasksOf } from '../../support/resets.js';
import { answers, MINUTE, sharedTime } from './context.js';
import { beginWeekly } from './weekly.js';

const time = sharedTime({ billing: true });
const pass = async (ms: number) => await time.passUntil((await time.now()) + ms);
afterEach(async () => await time.sandbox.clearFaults());

test('a change of card that can not be looked up when a reset gives it again is not forgotten: nothing charges the old one', async () => {
  const { flow, input, reach, tried } = await beginWeekly(time);
  await reach(1);
  await flow.command('changeTerms', { metadata: { shop: '7' } });
  const token = await anotherCard(time, input.customerId);
  const changes = { commandId: 'another', token };
  const { runId } = await time.client.workflow.getHandle(flow.workflowId).describe();
  const task = (await tasksOf(time.client, flow.workflowId, runId)).at(-1);
  await flow.command('changeCard', changes);
  const away = await time.sandbox.addFault({ ...answers(503, 'GET', `*/payment-methods/${token}`), times: 1_000 });
  await resetTo(time.client, { workflowId: flow.workflowId, runId }, task);
  await pass(5 * MINUTE);
  expect(await flow.status()).toMatchObject({ status: 'paused', needsOperator: true });
  expect(await flow.explain()).toContain('after a reset the card of changeCard another could not be looked up');
  await reach(8);
  expect(await tried()).toHaveLength(1);
  await time.sandbox.removeFault(away.id);
  await flow.command('changeCard', changes);
  await flow.command('resume', { missedPeriods: 'billAll' });
  await pass(MINUTE);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 8 Succeed 6000 EUR']);
  expect(await flow.status()).toMatchObject({ status: 'active', subscription: { card: { token } } });
  await flow.command('cancel', { when: 'now' });
});

test.each(['the first', 'the last'])(
  'of two that a reset gives again the last one holds, where %s can not be looked up: nobody is led to the other one',
  async (which) => {
    const { flow, input, reach, tried } = await beginWeekly(time);
    await reach(1);
    await flow.command('changeTerms', { metadata: { shop: '7' } });
    const tokens = [await anotherCard(time, input.customerId), await anotherCard(time, input.customerId)];
    const { runId } = await time.client.workflow.getHandle(flow.workflowId).describe();
    const task = (await tasksOf(time.client, flow.workflowId, runId)).at(-1);
    const changes = tokens.map((token, at) => ({ commandId: `card-${at}`, token }));
    for (const change of changes) await flow.command('changeCard', change);
    const unknown = which === 'the first' ? tokens.slice(0, 1) : tokens;
    for (const token of unknown)
      await time.sandbox.addFault({ ...answers(503, 'GET', `*/payment-methods/${token}`), times: 1_000 });
    await resetTo(time.client, { workflowId: flow.workflowId, runId }, task);
    await pass(15 * MINUTE);
    const why = await flow.explain();
    expect(why).not.toContain('card-0');
    if (which === 'the first') expect(why).toContain('its card was given again or changed, so `resume`');
    else expect(why).toContain('the card of changeCard card-1 could not be looked up');
    await time.sandbox.clearFaults();
    if (which === 'the last') await flow.command('changeCard', changes[1]);
    await flow.command('resume', { missedPeriods: 'billAll' });
    expect(await flow.status()).toMatchObject({ status: 'active', subscription: { card: { token: tokens[1] } } });
    expect(await tried()).toHaveLength(1);
    await flow.command('cancel', { when: 'now' });
  },
);

test('one that the service can not be asked for without a reset changes nothing, as its caller is told', async () => {
  const { flow, input, reach, tried } = await beginWeekly(time);
  await reach(1);
  const token = await anotherCard(time, input.customerId);
  await time.sandbox.addFault({ ...answers(503, 'GET', `*/payment-methods/${token}`), times: 1_000 });
  const refused = flow
    .command('changeCard', { token })
    .catch(({ cause }: { cause: { message: string } }) => cause.message);
  await pass(5 * MINUTE);
  expect(await refused).toContain('nothing was changed, send the command again');
  await reach(8);
  expect(await tried()).toHaveLength(2);
  await flow.command('cancel', { when: 'now' });
});
