import { afterEach, beforeEach, expect, test } from 'vitest';
import { resetToFirstTask } from '../../support/resets.js';
import { tellingOf } from '../../support/telling.js';
import { beginActions, beginHold, ledgerRows } from '../../support/virtual-flows.js';
import { type SimulatedTime, startSimulatedTime } from '../simulated-time.js';
import { answers, beginFlow, DAY, HOUR, inputOf, MINUTE, SECOND } from './context.js';
import { listenToAll, MERCHANT, type Told } from './told.js';

let time: SimulatedTime;
let all: Told[];

beforeEach(async () => {
  time = await startSimulatedTime({ perCall: { USD: 6_000 } }, { telling: tellingOf([{ url: `${MERCHANT}/all` }]) });
  all = listenToAll(time);
});
afterEach(async () => {
  await time.close();
});

const pass = async (ms: number): Promise<void> => time.passUntil((await time.now()) + ms);
const needs = () => all.map(({ notification }) => notification).filter(({ type }) => type === 'payment.needsAttention');

test('a person who is needed again after a mend is called again, and each time once', async () => {
  const rejects = (path: string) => ({ ...answers(401, 'POST', path), times: 2 });
  const flow = await beginHold(
    time,
    { captureDeadline: '2 days', onDeadline: 'capture' },
    { faults: [rejects('*/authorizations')] },
  );
  await pass(HOUR);
  expect(await flow.status()).toMatchObject({ status: 'authorized', needsOperator: false });
  expect(needs()).toHaveLength(1);
  await time.sandbox.addFault(rejects('*/captures'));
  await pass(2 * DAY);
  expect(await flow.outcome()).toMatchObject({ status: 'captured' });
  await pass(MINUTE);
  const [first, second, ...more] = needs();
  expect(more).toEqual([]);
  expect(second?.data).toMatchObject({ why: first?.data['why'] });
  expect(second?.id).not.toBe(first?.id);
  expect(second?.sequence).toBeGreaterThan(first?.sequence ?? Infinity);
});

test('a person who is needed again within half an hour is needed for the same, and called once', async () => {
  await time.sandbox.addFault({ action: 'result', status: 'Pending', method: 'POST', path: '*/charges' });
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const lookAgain = async () => {
    await time.holdfast.retryNow({ workflowId: flow.workflowId });
    await pass(5 * SECOND);
    return (await flow.status()).needsOperator;
  };
  await pass(MINUTE);
  for (const [calmFor, called] of [
    [MINUTE, 1],
    [20 * MINUTE, 1],
    [40 * MINUTE, 1],
    [MINUTE, 2],
  ] as const) {
    const rejected = await time.sandbox.addFault(answers(401, 'GET', '*/charges/*'));
    expect(await lookAgain()).toBe(true);
    await time.sandbox.removeFault(rejected.id);
    expect(await lookAgain()).toBe(false);
    expect(needs()).toHaveLength(called);
    await pass(calmFor);
  }
});

test('money shown twice while keys are rejected is told once they work again', async () => {
  await time.sandbox.addFault({ action: 'result', status: 'Pending', method: 'POST', path: '*/charges' });
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await pass(MINUTE);
  const rejected = await time.sandbox.addFault(answers(401, 'GET', '*/charges/*'));
  await pass(HOUR);
  await flow.event({ eventType: 'payment.charge.update', transactionId: 'second', status: 'Succeed', amount: 6_000 });
  expect(needs()).toHaveLength(1);
  await time.sandbox.removeFault(rejected.id);
  await pass(HOUR);
  expect(await flow.status()).toMatchObject({ status: 'pending', needsOperator: true });
  await pass(DAY);
  expect(needs().map(({ data }) => data['why'])).toEqual([
    expect.stringContaining('rejects the credentials'),
    expect.stringContaining('charge second Succeed'),
    // What lasts hides no question that comes later.
    expect.stringContaining('no final answer for 24 hours to the charge'),
  ]);
});

test('that another person has to approve a refund is told with its amount, and what is asked of none under way without', async () => {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { amount: 12_000 }));
  const { paymentId = '' } = await flow.outcome();
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: flow.reference });
  await actions.command('refund', { commandId: 'big', amount: 6_001, who: 'Ada' });
  await pass(MINUTE);
  await time.holdfast.reject({ workflowId: actions.workflowId }, { commandId: 'big', who: 'Grace', why: 'case 17' });
  await actions.event({ eventType: 'payment.refund.create', transactionId: 'of-nobody', status: 'Succeed' });
  await pass(DAY);
  expect(needs().map(({ data }) => [data['flow'], data['amount'], data['currency']])).toEqual([
    ['paymentActions', 6_001, 'USD'],
    ['paymentActions', undefined, 'USD'],
  ]);
});

test('what a person is needed for in another run of the commands to a payment is told under another id, and after a reset under the same', async () => {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = await flow.outcome();
  const rejected = async (commandId: string, meanwhile: (workflowId: string) => Promise<unknown> = async () => {}) => {
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: flow.reference });
    const fault = await time.sandbox.addFault(answers(401, 'GET', `/payments/${paymentId}`));
    await actions.command('refund', { commandId, amount: 100 });
    await pass(HOUR);
    await meanwhile(actions.workflowId);
    await pass(HOUR);
    await time.sandbox.removeFault(fault.id);
    await pass(31 * DAY);
  };
  await rejected('one');
  await rejected('two', (workflowId) => resetToFirstTask(time.client, workflowId));
  const [first, second, again, ...more] = needs();
  expect(more).toEqual([]);
  expect(second?.data).toMatchObject({ why: first?.data['why'] });
  expect(second?.id).not.toBe(first?.id);
  expect(again?.id).toBe(second?.id);
  expect(await ledgerRows(time, paymentId)).toHaveLength(3);
});
