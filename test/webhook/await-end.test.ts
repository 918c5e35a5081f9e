import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EndedFlow } from '../../src/contract/engine-port.js';
import { createWebhookHandler } from '../../src/webhook/handler.js';
import { chargeBody, type Harness, KEY, OTHER_KEY, startHandler } from './support.js';

const BODY = chargeBody();
const PAYMENT = BODY.payment_id;
const OWN = 'payment-order-1001';
const ACTIONS = `payment-actions-${PAYMENT}`;
const CREATE = 'payment.charge.create';
const UPDATE = 'payment.payment.update';
const DECLINED: EndedFlow = { paymentId: PAYMENT, result: { status: 'declined', transactionId: BODY.data.id } };
const SUCCEEDED: EndedFlow = { paymentId: PAYMENT, result: { status: 'succeeded', transactionId: BODY.data.id } };

type Unit = typeof OWN_UNIT;
const OWN_UNIT = { app_id: BODY.app_id, key: KEY };
const OTHER_UNIT: Unit = { app_id: 'app-other', key: OTHER_KEY };

/** A payment event: no reconciliation id, and its `data.id` is the payment. */
const paymentBody = (id = 'event-of-the-payment') => ({
  ...BODY,
  id,
  data: { id: PAYMENT, amount: 1095, currency: 'USD' },
});

let harness: Harness;
beforeEach(async () => {
  harness = await startHandler();
  harness.sink.answer = (workflowId) => Promise.resolve(workflowId === OWN ? 'delivered' : 'notFound');
});
afterEach(() => harness.close());

const post = async (body: object, eventType: string) => (await harness.postSigned(body, KEY, eventType)).text;
const tried = () => harness.sink.sent.map(({ workflowId }) => workflowId);
const waited = async (end: string) => await harness.metric('holdfast_webhook_waited_total', { end });

describe('an event that may echo the reply of its own operation', () => {
  test.each(['charge', 'authorization', 'credit'])('waits for the end of its flow (%s)', async (resource) => {
    await post(BODY, `payment.${resource}.create`);
    expect(harness.sink.awaited).toEqual([`${OWN} 3000`]);
    expect(tried()).toEqual([OWN]);
    expect(await waited('open')).toBe(1);
  });

  test('is compared with that end alone, and reaches no flow', async () => {
    harness.sink.waits = () => Promise.resolve(DECLINED);
    expect(await post(BODY, CREATE)).toBe('{"result":"late"}');
    expect(tried()).toEqual([]);
    expect(await waited('ended')).toBe(1);
  });

  test('and contradicts it is parked for a person', async () => {
    harness.sink.waits = () => Promise.resolve(SUCCEEDED);
    expect(await post(BODY, CREATE)).toBe('{"result":"parked"}');
    expect(harness.sink.parked).toMatchObject([{ reason: 'contradictsResult' }]);
  });

  test('and is of a transaction that the flow does not know goes on to the next flow', async () => {
    harness.sink.waits = () => Promise.resolve({ paymentId: PAYMENT, result: { status: 'notExecuted' } });
    harness.sink.answer = (workflowId) => Promise.resolve(workflowId === ACTIONS ? 'delivered' : 'notFound');
    expect(await post(BODY, CREATE)).toBe('{"result":"delivered"}');
    expect(tried()).toEqual([ACTIONS]);
  });

  test('is delivered where the wait fails: only the delivery says whether Temporal can be reached', async () => {
    harness.sink.waits = () => Promise.reject(new Error('14 UNAVAILABLE'));
    expect(await post(BODY, CREATE)).toBe('{"result":"delivered"}');
    harness.sink.answer = () => Promise.reject(new Error('14 UNAVAILABLE'));
    expect((await harness.postSigned({ ...BODY, id: 'another' }, KEY, CREATE)).status).toBe(503);
  });
});

test.each([
  ['by what an earlier event of the payment has named', true, OWN],
  ['but not after a restore, which may have lost that flow', false, ACTIONS],
])('an event of the payment is offered first %s', async (_how, remembersFlows, first) => {
  const own = await startHandler({ remembersFlows, waitForEndMs: 0 });
  own.sink.answer = () => Promise.resolve('delivered');
  await own.postSigned(BODY, KEY, CREATE);
  await own.postSigned(paymentBody(), KEY, UPDATE);
  expect(own.sink.sent.map(({ workflowId }) => workflowId)).toEqual([OWN, first]);
  await own.close();
});

test('once an event has waited in vain, later ones of that flow wait no more: they may hold back the one that ends it', async () => {
  await post(BODY, CREATE);
  await post({ ...BODY, id: 'another' }, CREATE);
  await post(paymentBody(), UPDATE);
  expect(harness.sink.awaited).toEqual([`${OWN} 3000`]);
  expect(tried()).toEqual([OWN, OWN, OWN]);
  expect(await waited('open')).toBe(1);
});

describe('an event that waits for nothing', () => {
  test.each([
    ['an update, which is news', BODY, 'payment.charge.update'],
    ['of a capture, whose flow stays open', BODY, 'payment.capture.create'],
    ['of a refund', BODY, 'payment.refund.create'],
    ['of a void', BODY, 'payment.void.create'],
    ['of a type nobody knows', BODY, 'payment.dispute.create'],
    ['without a reference', { ...BODY, data: { ...BODY.data, reconciliation_id: undefined } }, CREATE],
    [
      'with a comma too many',
      { ...BODY, data: { ...BODY.data, result: { ...BODY.data.result, category: 'a,b' } } },
      CREATE,
    ],
    ['of a payment whose flow nobody has named', paymentBody(), UPDATE],
  ])('%s', async (_what, body, eventType) => {
    await post(body, eventType);
    expect(harness.sink.awaited).toEqual([]);
  });

  test('all, where the wait is off', async () => {
    const off = await startHandler({ waitForEndMs: 0 });
    await off.postSigned(BODY, KEY, CREATE);
    expect(off.sink.awaited).toEqual([]);
    expect(off.sink.sent).toHaveLength(1);
    await off.close();
  });

  test.each([-1, 3_001, Number.NaN])('a wait of %s ms is refused', (waitForEndMs) => {
    expect(() => createWebhookHandler({ waitForEndMs, units: [], environment: 'test' } as never)).toThrow(
      'waitForEndMs',
    );
  });
});

describe('events that wait', () => {
  test('take no place of a delivery, a thousand at once, half of them of one unit, and those beyond are delivered at once', async () => {
    const ends: (() => void)[] = [];
    const crowded = await startHandler({ maxInFlight: 1 });
    crowded.sink.waits = () => new Promise((resolve) => ends.push(() => resolve(DECLINED)));
    const waits = (unit: Unit, index: number) => {
      const body = { ...BODY, id: `waits-${unit.app_id}-${index}`, app_id: unit.app_id };
      const data = { ...BODY.data, reconciliation_id: `order-${unit.app_id}-${index}` };
      return crowded.postSigned({ ...body, data }, unit.key, CREATE);
    };
    const atOnce = async (end: number): Promise<void> => {
      await expect.poll(() => ends.length, { timeout: 20_000 }).toBe(end);
    };
    const first = Array.from({ length: 500 }, (_, index) => waits(OWN_UNIT, index));
    await atOnce(500);
    expect((await waits(OWN_UNIT, 500)).text).toBe('{"result":"delivered"}');
    const others = Array.from({ length: 500 }, (_, index) => waits(OTHER_UNIT, index));
    await atOnce(1_000);
    expect((await waits(OTHER_UNIT, 500)).text).toBe('{"result":"delivered"}');
    expect((await crowded.postSigned({ ...BODY, id: 'news' }, KEY, 'payment.charge.update')).status).toBe(200);
    expect(await crowded.metric('holdfast_webhook_waited_total', { end: 'full' })).toBe(2);
    for (const end of ends) {
      end();
      await new Promise(setImmediate);
    }
    const answers = await Promise.all([...first, ...others]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await crowded.close();
  }, 30_000);

  test('of one flow share the question that is under way, and each is compared by itself', async () => {
    let answer = (_ended: EndedFlow): void => undefined;
    harness.sink.waits = () => new Promise((resolve) => (answer = resolve));
    const first = post(BODY, CREATE);
    while (harness.sink.awaited.length === 0) await new Promise(setImmediate);
    const second = post(paymentBody(), UPDATE);
    const contradicts = post({ ...BODY, id: 'third', data: { ...BODY.data, result: { status: 'Succeed' } } }, CREATE);
    const verified = (type: string) =>
      harness.metric('holdfast_webhook_verified_total', { type, version: '1.3.0', key: 'current' });
    await expect.poll(async () => [await verified(CREATE), await verified(UPDATE)]).toEqual([2, 1]);
    await new Promise(setImmediate);
    answer(DECLINED);
    expect(await Promise.all([first, second, contradicts])).toEqual([
      '{"result":"late"}',
      '{"result":"late"}',
      '{"result":"parked"}',
    ]);
    expect(harness.sink.awaited).toEqual([`${OWN} 3000`]);
  });

  test('ask anew once that question is answered: the flow may have been reset since', async () => {
    harness.sink.waits = () => Promise.resolve(DECLINED);
    expect(await post(BODY, CREATE)).toBe('{"result":"late"}');
    harness.sink.waits = () => Promise.resolve(undefined);
    expect(await post({ ...BODY, id: 'another' }, CREATE)).toBe('{"result":"delivered"}');
    expect(harness.sink.awaited).toEqual([`${OWN} 3000`, `${OWN} 3000`]);
  });

  test('are delivered at once when the handler stops, and none waits after that', async () => {
    const stopping = new AbortController();
    const ending = await startHandler({ stopping: stopping.signal });
    let begun = 0;
    ending.sink.waits = async () => {
      begun += 1;
      await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve, { once: true }));
      return undefined;
    };
    const answered = ending.postSigned(BODY, KEY, CREATE);
    while (begun === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stopping.abort();
    expect((await answered).text).toBe('{"result":"delivered"}');
    expect(await ending.metric('holdfast_webhook_waited_total', { end: 'released' })).toBe(1);
    const later = { ...BODY, id: 'later', data: { ...BODY.data, reconciliation_id: 'another-flow' } };
    expect((await ending.postSigned(later, KEY, CREATE)).text).toBe('{"result":"delivered"}');
    expect(begun).toBe(1);
    await ending.close();
  });
});

describe('an event of the payment itself', () => {
  test('that it was created is of no use to any flow, and asks nobody', async () => {
    expect(await post(paymentBody(), 'payment.payment.create')).toBe('{"result":"unrouted"}');
    expect([tried(), harness.asked, harness.sink.awaited]).toEqual([[], [], []]);
  });

  test('goes first to the flow that an event of its first operation has named, and the service is not asked', async () => {
    await post(BODY, 'payment.charge.update');
    harness.sink.waits = () => Promise.resolve(SUCCEEDED);
    harness.sink.sent.length = 0;
    expect(await post(paymentBody(), UPDATE)).toBe('{"result":"late"}');
    expect(harness.sink.awaited).toEqual([`${OWN} 3000`]);
    // Commands to the ended payment may wait for it.
    expect(tried()).toEqual([ACTIONS]);
    expect(harness.asked).toEqual([]);
  });

  test('waits for the end of the flow that the service names, where no event has named one', async () => {
    harness.setDetails(() => Promise.resolve({ holdfast_workflow_id: OWN }));
    harness.sink.waits = () => Promise.resolve(SUCCEEDED);
    expect(await post(paymentBody(), UPDATE)).toBe('{"result":"late"}');
    expect(harness.sink.awaited).toEqual([`${OWN} 3000`]);
    expect(tried()).toEqual([ACTIONS]);
    expect(harness.asked).toEqual([`default ${PAYMENT}`]);
  });

  test('goes to the flow that another event has named while the service did not say whose the payment is', async () => {
    let fail = (_why: Error): void => undefined;
    harness.setDetails(() => new Promise((_resolve, reject) => (fail = reject)));
    const update = post(paymentBody(), UPDATE);
    await expect.poll(() => harness.asked).toHaveLength(1);
    await post(BODY, 'payment.charge.update');
    harness.setDetails(() => Promise.reject(new Error('no answer within 1000 ms')));
    fail(new Error('no answer within 1000 ms'));
    expect(await update).toBe('{"result":"delivered"}');
    expect(tried()).toEqual([OWN, OWN]);
    expect(harness.sink.parked).toEqual([]);
  });

  test('wakes that flow while it is open, and the actions of its payment once it has ended', async () => {
    await post(BODY, CREATE);
    expect(await post(paymentBody(), UPDATE)).toBe('{"result":"delivered"}');
    expect(tried()).toEqual([OWN, OWN]);
    harness.sink.answer = (workflowId) => Promise.resolve(workflowId === ACTIONS ? 'delivered' : 'ended');
    harness.sink.ended = () => Promise.resolve(SUCCEEDED);
    expect(await post(paymentBody('another'), UPDATE)).toBe('{"result":"delivered"}');
    expect(tried().slice(2)).toEqual([OWN, ACTIONS]);
  });

  test('asks the service where the flow that was named is of another payment', async () => {
    await post(BODY, 'payment.charge.update');
    harness.sink.waits = () => Promise.resolve({ ...SUCCEEDED, paymentId: 'another payment' });
    harness.sink.sent.length = 0;
    harness.setDetails(() => Promise.resolve({ holdfast_workflow_id: 'payment-order-7' }));
    harness.sink.answer = (workflowId) => Promise.resolve(workflowId === 'payment-order-7' ? 'delivered' : 'notFound');
    expect(await post(paymentBody(), UPDATE)).toBe('{"result":"delivered"}');
    expect(tried()).toEqual([ACTIONS, 'payment-order-7']);
  });

  test('asks the service where the flow that was named does not say of which payment it was', async () => {
    await post(BODY, 'payment.charge.update');
    harness.sink.answer = (workflowId) => Promise.resolve(workflowId === OWN ? 'ended' : 'notFound');
    harness.sink.ended = () => Promise.resolve({});
    expect(await post(paymentBody(), UPDATE)).toBe('{"result":"late"}');
    expect(harness.asked).toEqual([`default ${PAYMENT}`]);
  });

  test.each([
    ['a capture, whose reference is its own', { ...BODY }, 'payment.capture.update'],
    ['an event with a comma too many', { ...BODY, data: { ...BODY.data, result: { category: 'a,b' } } }, CREATE],
  ])('is not led by %s', async (_what, body, eventType) => {
    await post(body, eventType);
    harness.sink.sent.length = 0;
    await post(paymentBody(), UPDATE);
    expect(tried()[0]).toBe(ACTIONS);
    expect(harness.asked).toHaveLength(1);
  });
});
