import { afterEach, beforeEach, expect, test } from 'vitest';
import { notificationsWorkflowId, paymentActionsWorkflowId, SIGNAL_NAMES } from '../../../src/contract/names.js';
import { CARDS } from '../../support/charges.js';
import { resetToFirstTask } from '../../support/resets.js';
import { NOTIFY_SECRET, tellingOf } from '../../support/telling.js';
import { beginActions, beginHold } from '../../support/virtual-flows.js';
import { type SimulatedTime, startSimulatedTime } from '../simulated-time.js';
import { ADA } from './braking.js';
import { answers, beginFlow, DAY, HOUR, inputOf, MINUTE, scheduledOf } from './context.js';
import { listenToAll, MERCHANT, sentOf, type Told, takenOf } from './told.js';

let time: SimulatedTime;
let status: (told: Omit<Told, 'status'>) => number;
let all: Told[];

beforeEach(async () => {
  time = await startSimulatedTime({}, { telling: tellingOf([{ url: `${MERCHANT}/all` }]) });
  status = () => 200;
  all = listenToAll(time, (told) => status(told));
});
afterEach(async () => {
  await time.close();
});

const pass = async (ms: number): Promise<void> => time.passUntil((await time.now()) + ms);

test('a charge tells its end once, with what it took, and its notifications are a flow of their own', async () => {
  const input = await inputOf(time, 'charge');
  const flow = await beginFlow(time, 'charge', input);
  const { paymentId } = await flow.outcome();
  await pass(MINUTE);
  expect(takenOf(all, flow.workflowId)).toEqual(['payment.succeeded']);
  expect(all[0]?.notification).toMatchObject({
    id: expect.stringMatching(/^ntf_[0-9a-f]{32}$/),
    sequence: 1,
    businessUnit: 'default',
    data: { flow: 'charge', reference: flow.reference, amount: 6_000, currency: 'USD', paymentId, status: 'succeeded' },
  });
  expect(JSON.stringify(all)).not.toMatch(/evidence|requestId|"token"/);
  const handle = time.client.workflow.getHandle(notificationsWorkflowId(flow.workflowId));
  expect((await handle.describe()).status.name).toBe('COMPLETED');
});

test('a charge without anybody to tell asks for nothing more', async () => {
  await time.close();
  time = await startSimulatedTime();
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await flow.outcome();
  expect(await scheduledOf(time, flow.workflowId)).not.toContain('handOver');
  await expect(sentOf(time, flow.workflowId)).rejects.toThrow('not found');
});

test.each([
  ['charge', CARDS.declines, ['payment.declined']],
  ['charge', CARDS.pendsThenSucceeds, ['payment.pending', 'payment.succeeded']],
  ['credit', CARDS.succeeds, ['payment.succeeded']],
  ['storeCard', CARDS.succeeds, ['card.stored']],
  ['authorizeAndCapture', CARDS.succeeds, ['hold.captured']],
  ['analyseRisk', CARDS.succeeds, []],
] as const)('%s of card %s tells %s', async (type, card, told) => {
  const flow = await beginFlow(time, type, await inputOf(time, type, { card }));
  await pass(10 * MINUTE);
  await pass(DAY);
  expect(takenOf(all, flow.workflowId)).toEqual(told);
});

test.each(['refused', 'notExecuted'])(
  'a risk analysis alone that ends %s tells nothing: its order can be charged',
  async (ended) => {
    const input = await inputOf(time, 'analyseRisk');
    if (ended === 'refused') await time.sandbox.addFault(answers(400, 'POST', '*/risk-analyses'));
    else {
      await time.holdfast.brakes.brake({ businessUnit: 'default', ...ADA });
      await time.simulation.readBrakes();
    }
    const flow = await beginFlow(time, 'analyseRisk', input);
    await pass(10 * MINUTE);
    const { status: known } = await flow.status();
    expect([known, takenOf(all, flow.workflowId)]).toEqual([ended, []]);
  },
);

test('a hold tells that it is there, that its deadline is near, and how it ends', async () => {
  const flow = await beginHold(time, { captureDeadline: '2 days' });
  await pass(3 * DAY);
  expect(takenOf(all, flow.workflowId)).toEqual(['hold.authorized', 'hold.expiring', 'hold.voided']);
  expect(all.map(({ notification }) => notification.sequence)).toEqual([1, 2, 3]);
  expect(all[1]?.notification.data).toMatchObject({ captureBy: expect.any(String), heldUntil: expect.any(String) });
});

test('a refund tells how it ended, in whichever run of the flow that makes it', async () => {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = await flow.outcome();
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: flow.reference });
  await actions.ask('refund', { amount: 1_000, commandId: 'first' });
  await pass(31 * DAY);
  const again = await beginActions(time, { paymentId, currency: 'USD', paymentReference: flow.reference });
  await again.command('refund', { amount: 2_000, commandId: 'second' });
  await pass(HOUR);
  const told = all.filter(({ notification }) => notification.workflowId === paymentActionsWorkflowId(paymentId));
  expect(told.map(({ notification: { type, data } }) => [type, data['commandId'], data['amount']])).toEqual([
    ['refund.declined', 'first', 1_000],
    ['refund.pending', undefined, 2_000],
    ['refund.succeeded', 'second', 2_000],
  ]);
  expect(new Set(told.map(({ notification }) => notification.id)).size).toBe(3);
});

test('a payment that is refused before anything moved tells so, also where it was never created', async () => {
  const input = await inputOf(time, 'charge');
  const flow = await beginFlow(time, 'charge', input, [answers(400, 'POST', '/payments')]);
  await expect(flow.outcome()).rejects.toThrow();
  await pass(MINUTE);
  expect(takenOf(all, flow.workflowId)).toEqual(['payment.notExecuted']);
});

test('a payment that needs a person tells so once, and its end after that', async () => {
  const input = await inputOf(time, 'charge');
  const flow = await beginFlow(time, 'charge', input, [{ ...answers(401, 'POST', '*/charges'), times: 3 }]);
  await pass(MINUTE);
  expect(takenOf(all, flow.workflowId)).toEqual(['payment.needsAttention']);
  await flow.outcome();
  await pass(MINUTE);
  expect(takenOf(all, flow.workflowId)).toEqual(['payment.needsAttention', 'payment.succeeded']);
});

test('an endpoint that is down holds up neither the payment, nor its answer, nor another endpoint', async () => {
  await time.close();
  const endpoints = [{ url: `${MERCHANT}/down` }, { url: `${MERCHANT}/up` }];
  time = await startSimulatedTime({}, { telling: tellingOf(endpoints) });
  all = listenToAll(time, ({ path }) => (path === '/down' ? 503 : 200));
  const flow = await beginHold(time);
  await pass(MINUTE);
  await (
    await flow.command('capture', {})
  ).answer;
  await flow.outcome();
  const { status: ended } = await time.client.workflow.getHandle(flow.workflowId).describe();
  expect(ended.name).toBe('COMPLETED');
  await pass(MINUTE);
  expect(takenOf(all, flow.workflowId, '/up')).toEqual(['hold.authorized', 'hold.captured']);
  await pass(4 * DAY);
  const { notifications } = await sentOf(time, flow.workflowId);
  expect(
    notifications.map(({ deliveries }) => deliveries?.map((one) => [one.url.slice(MERCHANT.length), one.status])),
  ).toEqual([
    [
      ['/down', 'givenUp'],
      ['/up', 'delivered'],
    ],
    [
      ['/down', 'givenUp'],
      ['/up', 'delivered'],
    ],
  ]);
  expect(notifications[0]?.deliveries?.[0]?.why).toBe('it answered 503');
  expect(all.length).toBeLessThan(250);
});

test('one that is refused blocks no other, and first tries come in order', async () => {
  status = ({ notification }) => (notification.type === 'hold.authorized' ? 422 : 200);
  const flow = await beginHold(time, { captureDeadline: '2 days' });
  await pass(2 * DAY + HOUR);
  expect(takenOf(all, flow.workflowId)).toEqual(['hold.expiring', 'hold.voided']);
  status = () => 200;
  await pass(2 * HOUR);
  expect(takenOf(all, flow.workflowId)).toEqual(['hold.expiring', 'hold.voided', 'hold.authorized']);
});

test('an endpoint that is gone is told nothing again', async () => {
  status = () => 410;
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await flow.outcome();
  await pass(DAY);
  expect(all).toHaveLength(1);
  expect((await sentOf(time, flow.workflowId)).notifications[0]?.deliveries).toMatchObject([{ status: 'givenUp' }]);
});

test('endpoints get what they ask for, and a flow tells an address of its own besides', async () => {
  await time.close();
  const declines = { url: `${MERCHANT}/declines`, types: ['payment.declined'] } as const;
  time = await startSimulatedTime({}, { telling: tellingOf([declines]) });
  all = listenToAll(time);
  const own = { notify: { url: `${MERCHANT}/own` } };
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', own));
  await flow.outcome();
  const declined = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card: CARDS.declines }));
  await declined.outcome();
  await pass(MINUTE);
  expect(all.map(({ path, notification }) => [path, notification.type])).toEqual([
    ['/own', 'payment.succeeded'],
    ['/declines', 'payment.declined'],
  ]);
});

test('an address of its own that is not allowed is refused before anything is sent', async () => {
  const input = await inputOf(time, 'charge', { notify: { url: 'http://elsewhere.test/hook' } });
  const flow = await beginFlow(time, 'charge', input);
  await expect(flow.outcome()).rejects.toMatchObject({
    cause: {
      type: 'InvalidInput',
      message: expect.stringContaining('HOLDFAST_NOTIFY_HOSTS does not name elsewhere.test'),
    },
  });
  expect(time.requests.posts(flow.reference)).toEqual([]);
});

test('after a reset the same is told under the same id', async () => {
  const flow = await beginHold(time);
  await pass(MINUTE);
  await (
    await flow.command('capture', {})
  ).answer;
  await flow.outcome();
  await pass(MINUTE);
  const before = all.map(({ notification: { id, type } }) => `${type} ${id}`);
  await resetToFirstTask(time.client, flow.workflowId);
  await pass(HOUR);
  const after = all.slice(before.length).map(({ notification: { id, type } }) => `${type} ${id}`);
  expect(after.length).toBeGreaterThan(0);
  expect(before).toEqual(expect.arrayContaining(after.filter((one) => one.startsWith('hold.captured'))));
});

test('two secrets sign while one replaces the other', async () => {
  await time.close();
  const next = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  time = await startSimulatedTime({}, { telling: tellingOf([{ url: `${MERCHANT}/all` }], [NOTIFY_SECRET, next]) });
  for (const secret of [NOTIFY_SECRET, next]) {
    all = listenToAll(time, () => 200, secret);
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
    await flow.outcome();
    await pass(MINUTE);
    expect(takenOf(all, flow.workflowId)).toEqual(['payment.succeeded']);
  }
});

test('what nobody of ours has given to be sent is not signed', async () => {
  status = () => 503;
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await flow.outcome();
  await pass(MINUTE);
  const { notifications } = await sentOf(time, flow.workflowId);
  const [{ deliveries: _deliveries, businessUnit: _unit, ...first } = { id: '' }] = notifications;
  const forged = { ...first, id: 'ntf_forged' };
  const raw = { workflowId: flow.workflowId, businessUnit: 'default', notifications: [forged] };
  const { encode } = {
    encode: (value: object) => ({
      metadata: { encoding: Buffer.from('json/plain') },
      data: Buffer.from(JSON.stringify(value)),
    }),
  };
  await time.client.workflowService.signalWorkflowExecution({
    namespace: time.client.options.namespace,
    workflowExecution: { workflowId: notificationsWorkflowId(flow.workflowId) },
    signalName: SIGNAL_NAMES.notify,
    input: { payloads: [encode(raw)] },
  });
  status = () => 200;
  await pass(2 * HOUR);
  expect(all.map(({ notification }) => notification.id)).not.toContain('ntf_forged');
  expect(takenOf(all, flow.workflowId)).toEqual(['payment.succeeded']);
});

test('an event that contradicts the end while it is handed over is compared with it', async () => {
  const held = time.hold('handOver');
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await held.reached;
  const { transactionId = '', status: known } = await flow.status();
  expect(known).toBe('succeeded');
  await flow.event({
    eventType: 'payment.charge.update',
    transactionId,
    status: 'Failed',
    category: 'payment_method_declined',
  });
  await pass(MINUTE);
  held.release();
  await flow.outcome();
  await pass(MINUTE);
  expect(takenOf(all, flow.workflowId)).toEqual(['payment.succeeded', 'payment.needsAttention']);
});
