import { afterEach, beforeEach, expect, test } from 'vitest';
import { tellingOf } from '../../support/telling.js';
import { beginActions } from '../../support/virtual-flows.js';
import { type SimulatedTime, startSimulatedTime } from '../simulated-time.js';
import { beginFlow, DAY, inputOf, MINUTE } from './context.js';
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
