import { afterEach, beforeEach, expect, test } from 'vitest';
import { runNotifications } from '../../../src/cli/notifications.js';
import type { Engine } from '../../../src/cli/engine.js';
import { handOver } from '../../../src/client/hand-over.js';
import {
  DELIVERIES_TASK_QUEUE,
  NOTIFICATIONS_TASK_QUEUE,
  NOTIFICATIONS_WORKFLOW,
  notificationsWorkflowId,
  PAYMENTS_TASK_QUEUE,
} from '../../../src/contract/names.js';
import type { Notification } from '../../../src/contract/notifications.js';
import { CARDS } from '../../support/charges.js';
import { tellingOf } from '../../support/telling.js';
import { beginActions, beginHold } from '../../support/virtual-flows.js';
import { type SimulatedTime, startSimulatedTime } from '../simulated-time.js';
import { answers, beginFlow, DAY, HOUR, inputOf, MINUTE, SECOND } from './context.js';
import { listenToAll, MERCHANT, sentOf, type Told, takenOf } from './told.js';

let time: SimulatedTime;
let status: (told: Omit<Told, 'status'>) => number;
let all: Told[];

async function begin(more: Parameters<typeof startSimulatedTime>[1] = {}): Promise<void> {
  time = await startSimulatedTime({}, { telling: tellingOf([{ url: `${MERCHANT}/all` }]), ...more });
  status = () => 200;
  all = listenToAll(time, (told) => status(told));
}
beforeEach(() => begin());
afterEach(async () => {
  await time.close();
});

const pass = async (ms: number): Promise<void> => time.passUntil((await time.now()) + ms);

/** Of a flow that nobody else has started. */
function notificationsOf(count: number, from = 1): Notification[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `ntf_${from + at}`,
    type: 'payment.succeeded',
    at: new Date(Date.now()).toISOString(),
    sequence: from + at,
    data: {},
  }));
}

test('a refund that is asked for while a run which is full hands over its last one is made', async () => {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { amount: 6_000 }));
  const { paymentId = '' } = await flow.outcome();
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: flow.reference });
  for (let made = 1; made < 100; made += 1) {
    const refused = actions.ask('refund', { amount: 7_000, commandId: `refund-${made}` });
    await expect(refused).rejects.toThrow();
  }
  await pass(MINUTE);
  const held = time.hold('handOver');
  await actions.ask('refund', { amount: 10, commandId: 'refund-100' });
  await held.reached;
  let answer: unknown;
  void (await actions.command('refund', { amount: 2_000, commandId: 'one-more' })).answer.then(
    (given) => (answer = given),
  );
  await pass(MINUTE);
  held.release();
  await pass(HOUR);
  expect(answer).toMatchObject({ status: 'succeeded', amount: 2_000 });
}, 120_000);

test('a refund that is asked for while the end of its payment is handed over is made once that has closed', async () => {
  const held = time.hold('handOver');
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await held.reached;
  expect((await flow.status()).status).toBe('succeeded');
  const refund = time.holdfast.refund(
    { payment: flow.reference, amount: 2_000, commandId: 'at-once' },
    { waitFor: '10 minutes' },
  );
  refund.catch(() => undefined);
  await pass(SECOND);
  held.release();
  expect(await refund).toMatchObject({ status: 'succeeded', amount: 2_000 });
});

test('a refund that is asked for while the end of its payment can not be handed over is told why', async () => {
  const held = time.hold('handOver');
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await held.reached;
  const refund = time.holdfast.refund({ payment: flow.reference, commandId: 'too-early' }, { waitFor: 20 * SECOND });
  const told = expect(refund).rejects.toMatchObject({
    type: 'EngineUnavailable',
    message: expect.stringMatching(
      /has ended, and closes once .* holdfast-notifications .*: give the command again then/,
    ),
  });
  await pass(MINUTE);
  await told;
  held.release();
});

test.each([
  ['by its reference', true],
  // The flow reads the payment first, and so knows whom it tells.
  ['by its id', false],
])('a refund of a payment %s, refused while the end of that is handed over, is told once made', async (_, named) => {
  const held = time.hold('handOver');
  const { reference: payment, ...flow } = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await held.reached;
  const { paymentId = '' } = await flow.status();
  const actions = await beginActions(time, { paymentId, currency: 'USD', ...(named && { paymentReference: payment }) });
  const refund = { amount: 2_000, commandId: 'early' };
  await expect(actions.ask('refund', refund)).rejects.toMatchObject({
    cause: { message: expect.stringMatching(/has ended, and closes once .* is handed over: give it again/) },
  });
  held.release();
  await pass(HOUR);
  const again = time.holdfast.refund({ payment, ...refund }, { waitFor: '10 minutes' });
  await pass(MINUTE);
  expect(await again).toMatchObject({ status: 'succeeded', amount: 2_000 });
  await pass(MINUTE);
  expect(takenOf(all, actions.workflowId)).toEqual(['refund.pending', 'refund.succeeded']);
});

test('an event of money that comes while a refusal is handed over is told to a person', async () => {
  const held = time.hold('handOver');
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [answers(400, 'POST', '*/charges')]);
  await held.reached;
  expect((await flow.status()).status).toBe('refused');
  await flow.event({ eventType: 'payment.charge.update', transactionId: 'of-nobody', status: 'Succeed' });
  await pass(MINUTE);
  expect((await flow.status()).operatorReason).toContain('of-nobody');
  held.release();
  await expect(flow.outcome()).rejects.toThrow();
  await pass(MINUTE);
  expect(takenOf(all, flow.workflowId)).toEqual(['payment.notExecuted', 'payment.needsAttention']);
});

test.each([
  ['a decline', CARDS.declines, 'declined'],
  ['that it was braked', CARDS.succeeds, 'notExecuted'],
])('a hold that comes to light while %s is handed over is told to a person', async (_, card, status) => {
  if (status === 'notExecuted') {
    await time.holdfast.brakes.brake({ businessUnit: 'default', who: 'Ada', why: 'case 17' });
    await time.simulation.readBrakes();
  }
  const held = time.hold('handOver');
  const flow = await beginFlow(time, 'authorizeAndCapture', await inputOf(time, 'authorizeAndCapture', { card }));
  await held.reached;
  const { status: told, paymentId = 'made-by-nobody' } = await flow.status();
  expect(told).toBe(status);
  await flow.event({
    eventType: 'payment.authorization.create',
    paymentId,
    transactionId: 'of-nobody',
    status: 'Succeed',
  });
  await pass(MINUTE);
  expect((await flow.status()).operatorReason).toContain('of-nobody');
  held.release();
  expect(await flow.outcome()).toMatchObject({ status });
});

test('a void that comes while the end of a charge is handed over is told to a person', async () => {
  const held = time.hold('handOver');
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await held.reached;
  await flow.event({ eventType: 'payment.void.create', transactionId: 'of-nobody', status: 'Succeed' });
  await pass(MINUTE);
  expect(await flow.status()).toMatchObject({ status: 'succeeded', needsOperator: true });
  expect((await flow.status()).operatorReason).toContain('of-nobody');
  held.release();
  expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
});

test('what an endpoint holds up takes no place of a hand-over', async () => {
  const flow = await beginHold(time);
  await pass(MINUTE);
  const queuesOf = async (workflowId: string) => {
    const { events } = await time.client.workflow.getHandle(workflowId).fetchHistory();
    return Object.fromEntries(
      (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
        scheduled ? [[scheduled.activityType?.name, scheduled.taskQueue?.name]] : [],
      ),
    ) as Record<string, string>;
  };
  expect((await queuesOf(flow.workflowId))['handOver']).toBe(NOTIFICATIONS_TASK_QUEUE);
  expect((await queuesOf(notificationsWorkflowId(flow.workflowId)))['deliverNotification']).toBe(DELIVERIES_TASK_QUEUE);
});

test('nobody who has only access to Temporal can have a run begin with text of their own', async () => {
  const workflowId = 'payment-forged';
  const forged = { ...notificationsOf(1)[0], businessUnit: 'default' };
  const payloads = [{ workflowId }, { workflowId, kept: [forged] }].map((value) => ({
    metadata: { encoding: Buffer.from('json/plain') },
    data: Buffer.from(JSON.stringify(value)),
  }));
  await time.client.workflowService.startWorkflowExecution({
    namespace: time.client.options.namespace,
    workflowId: notificationsWorkflowId(workflowId),
    workflowType: { name: NOTIFICATIONS_WORKFLOW },
    taskQueue: { name: PAYMENTS_TASK_QUEUE },
    input: { payloads },
    requestId: 'forged',
  });
  await pass(HOUR);
  expect(all).toEqual([]);
});

test('more than are kept once they are taken wait for an endpoint in whichever run: none is lost', async () => {
  await time.close();
  await begin({ suggestRunAfter: () => 200 });
  const workflowId = 'payment-told-much';
  status = () => 503;
  for (let from = 1; from <= 210; from += 70) {
    await handOver(time.client, { workflowId, businessUnit: 'default', notifications: notificationsOf(70, from) });
    await pass(5 * SECOND);
  }
  const runs = [...time.simulation.engine.all()].filter(
    ({ start }) => start.workflowId === notificationsWorkflowId(workflowId),
  );
  expect(runs.length).toBeGreaterThan(1);
  status = () => 200;
  await pass(10 * MINUTE);
  expect(new Set(all.filter((told) => told.status === 200).map(({ notification }) => notification.id)).size).toBe(210);
}, 120_000);

test('what a flow was sending that somebody has ended is sent again by `notifications resend --all`', async () => {
  status = () => 503;
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await flow.outcome();
  await pass(MINUTE);
  await time.client.workflow.getHandle(notificationsWorkflowId(flow.workflowId)).terminate();
  status = () => 200;
  expect(await resend()).toMatchObject({ code: 0, printed: expect.stringContaining('1 sent again') });
  await pass(MINUTE);
  expect(takenOf(all, flow.workflowId)).toEqual(['payment.succeeded']);
  await resend();
  expect((await sentOf(time, flow.workflowId)).notifications).toHaveLength(1);
});

test('what nobody was to be told for an hour is listed, and sent again by `notifications resend --all`', async () => {
  const workflowId = 'payment-told-nobody';
  await handOver(time.client, { workflowId, businessUnit: 'of-nobody', notifications: notificationsOf(2) });
  await pass(2 * HOUR);
  const why = 'business unit "of-nobody" has no endpoint here, and no flow names one';
  expect((await sentOf(time, workflowId)).notifications).toMatchObject([
    { deliveries: [{ url: '-', status: 'givenUp', why }] },
    { deliveries: [{ url: '-', status: 'givenUp', why }] },
  ]);
  expect(await asked('notifications list')).toMatchObject({ code: 0, printed: expect.stringContaining(why) });
  expect(await resend()).toMatchObject({ code: 0, printed: expect.stringContaining('2 sent again') });
});

test('what a newer build tells is sent, though this one knows neither its type nor its fields', async () => {
  const workflowId = 'payment-of-a-newer-build';
  const [known] = notificationsOf(1);
  const newer = { ...known, type: 'payment.somethingNew', severity: 'high' } as unknown as Notification;
  const call = { workflowId, businessUnit: 'default', notifications: [newer], traceId: 'a' };
  await handOver(time.client, call);
  await pass(MINUTE);
  expect(takenOf(all, workflowId)).toEqual(['payment.somethingNew']);
});

test('what one endpoint has refused for good is sent to it again while another is still being tried', async () => {
  await time.close();
  await begin({ telling: tellingOf([{ url: `${MERCHANT}/gone` }, { url: `${MERCHANT}/down` }]) });
  status = ({ path }) => (path === '/gone' ? 410 : 503);
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await flow.outcome();
  await pass(HOUR);
  status = ({ path }) => (path === '/gone' ? 200 : 503);
  expect(await resend()).toMatchObject({ code: 0, printed: expect.stringContaining('1 sent again') });
  await pass(MINUTE);
  expect(takenOf(all, flow.workflowId, '/gone')).toEqual(['payment.succeeded']);
  const [told] = (await sentOf(time, flow.workflowId)).notifications;
  const again = await resend([told?.id ?? '']);
  expect(again).toMatchObject({ code: 1, printed: expect.stringContaining('it is still being tried') });
  status = () => 200;
  await pass(2 * HOUR);
  expect(takenOf(all, flow.workflowId, '/down')).toEqual(['payment.succeeded']);
});

const resend = async (ids: readonly string[] = []) => await asked('notifications resend', ids);

/** As an operator does. */
async function asked(
  command: 'notifications list' | 'notifications resend',
  ids: readonly string[] = [],
): Promise<{ code: number; printed: string }> {
  let printed = '';
  const output = {
    print: (text: string) => void (printed += text),
    printError: (text: string) => void (printed += text),
  };
  const since = new Date(Date.now() - DAY);
  const request = { command, json: false, all: false, since, ids } as const;
  const code = await runNotifications({ client: time.client } as Engine, request, output);
  return { code, printed };
}
