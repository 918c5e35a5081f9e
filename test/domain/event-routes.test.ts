import { describe, expect, test } from 'vitest';
import type { Delivery, EndedFlow } from '../../src/contract/engine-port.js';
import type { TransactionEvent } from '../../src/contract/messages.js';
import { ownerFrom, type PaymentOwner, routeEvent, type RoutePorts } from '../../src/domain/event-routes.js';
import { SUCCEEDED_EVENT as EVENT } from './records.js';

const OWN = 'payment-order-1001';
const ACTIONS = 'payment-actions-pay-1';
const RESOLVE = 'resolve-txn-1';

/** What an engine shows of one flow: that it runs, or how it ended. */
type Flow = 'runs' | EndedFlow;
const SUCCEEDED: EndedFlow = {
  status: 'succeeded',
  paymentId: 'pay-1',
  result: { status: 'succeeded', transactionId: 'txn-1' },
};
const DECLINED: EndedFlow = { ...SUCCEEDED, result: { status: 'declined', transactionId: 'txn-1' } };
/** Of the same payment, and of another transaction. */
const OTHER: EndedFlow = { ...SUCCEEDED, result: { status: 'succeeded', transactionId: 'txn-9' } };
/** Of another payment under the same reference. */
const STRANGER: EndedFlow = { ...OTHER, paymentId: 'pay-9' };

interface Engine extends RoutePorts {
  /** Each question in turn. */
  asked: string[];
}
function engine(
  flows: Readonly<Record<string, Flow>>,
  owner: PaymentOwner | Error = 'foreign',
  shownBy?: string,
): Engine {
  const asked: string[] = [];
  return {
    asked,
    deliver: (workflowId): Promise<Delivery> => {
      asked.push(`deliver ${workflowId}`);
      const flow = flows[workflowId];
      return Promise.resolve(flow === undefined ? 'notFound' : flow === 'runs' ? 'delivered' : 'ended');
    },
    endedFlow: (workflowId) => {
      asked.push(`ended ${workflowId}`);
      const flow = flows[workflowId];
      return Promise.resolve(flow === 'runs' ? undefined : flow);
    },
    flowOfPayment: (paymentId) => {
      asked.push(`flow of ${paymentId}`);
      return Promise.resolve(shownBy);
    },
    ownerOfPayment: ({ paymentId }) => {
      asked.push(`owner ${paymentId}`);
      return owner instanceof Error ? Promise.reject(owner) : Promise.resolve(owner);
    },
  };
}
const ALL_NOT_FOUND = [`deliver ${OWN}`, `deliver ${ACTIONS}`, `deliver ${RESOLVE}`];

describe('an event', () => {
  test.each([
    [OWN, [`deliver ${OWN}`]],
    [ACTIONS, [`deliver ${OWN}`, `deliver ${ACTIONS}`]],
    [RESOLVE, ALL_NOT_FOUND],
  ])('goes to %s where that runs, and nobody is asked after it', async (workflowId, asked) => {
    const ports = engine({ [workflowId]: 'runs' });
    expect(await routeEvent(EVENT, ports)).toEqual({ result: 'delivered', workflowId });
    expect(ports.asked).toEqual(asked);
  });

  test('that comes after its flow has ended so is late, and the service is not asked', async () => {
    const ports = engine({ [OWN]: SUCCEEDED });
    expect(await routeEvent(EVENT, ports)).toEqual({ result: 'late', workflowId: OWN });
    expect(ports.asked).toEqual([`deliver ${OWN}`, `ended ${OWN}`]);
  });

  test('that says otherwise than its flow has ended is parked for a person', async () => {
    const ports = engine({ [OWN]: DECLINED, [ACTIONS]: 'runs' });
    expect(await routeEvent(EVENT, ports)).toEqual({
      result: 'unclaimed',
      reason: 'contradictsResult',
      workflowId: OWN,
    });
    expect(ports.asked).toEqual([`deliver ${OWN}`, `ended ${OWN}`]);
  });

  test('of a transaction that one ended flow does not know goes to the next that runs: a refund names the charge', async () => {
    const ports = engine({ [OWN]: OTHER, [RESOLVE]: 'runs' });
    expect(await routeEvent(EVENT, ports)).toEqual({ result: 'delivered', workflowId: RESOLVE });
  });

  test.each<[string, EndedFlow]>([
    ['shows the same payment', OTHER],
    ['does not show its payment', { status: 'succeeded', result: OTHER.result }],
  ])('that no flow takes is unknown to the ended one that %s, and the service is not asked', async (_name, flow) => {
    const ports = engine({ [OWN]: flow });
    expect(await routeEvent(EVENT, ports)).toEqual({
      result: 'unclaimed',
      reason: 'unknownTransaction',
      workflowId: OWN,
    });
    expect(ports.asked).toEqual([`deliver ${OWN}`, `ended ${OWN}`, `deliver ${ACTIONS}`, `deliver ${RESOLVE}`]);
  });

  test('of a transaction that it does not name is not late: it may be one that the flow does not know', async () => {
    const { transactionId: _none, ...hidden } = EVENT;
    const ports = engine({ [OWN]: SUCCEEDED });
    expect(await routeEvent(hidden, ports)).toMatchObject({ reason: 'unknownTransaction', workflowId: OWN });
  });

  test.each<[string, Flow, Flow, string]>([
    ['the first', OTHER, OTHER, OWN],
    ['the one of the same payment', STRANGER, OTHER, ACTIONS],
    ['the one of the same payment, asked first', OTHER, STRANGER, OWN],
  ])('that two ended flows do not know is told of %s', async (_name, own, actions, workflowId) => {
    const ports = engine({ [OWN]: own, [ACTIONS]: actions });
    expect(await routeEvent(EVENT, ports)).toEqual({ result: 'unclaimed', reason: 'unknownTransaction', workflowId });
    expect(ports.asked).not.toContain('owner pay-1');
  });
});

describe('an event that no flow of its name has taken', () => {
  test('is foreign where the service says so', async () => {
    const ports = engine({});
    expect(await routeEvent(EVENT, ports)).toEqual({ result: 'foreign' });
    expect(ports.asked).toEqual([...ALL_NOT_FOUND, 'owner pay-1', 'flow of pay-1']);
    // A list of the engine, which lags, may yet name the flow of an event without a reference: the end of a review.
    const review = { ...EVENT, eventType: 'payment.risk-analysis.update' };
    expect(await routeEvent(review, engine({}))).toEqual({ result: 'unclaimed', reason: 'lookUpFailed' });
    expect(await routeEvent(review, engine({}), { isListed: true })).toEqual({ result: 'foreign' });
  });

  test('is not foreign because the service echoes nothing: a flow that shows the payment as its own gets it', async () => {
    const ports = engine({ 'payment-order-7': 'runs' }, 'foreign', 'payment-order-7');
    expect(await routeEvent(EVENT, ports)).toEqual({ result: 'delivered', workflowId: 'payment-order-7' });
  });

  test('is foreign too where a flow of its reference was of another payment', async () => {
    expect(await routeEvent(EVENT, engine({ [OWN]: STRANGER }))).toEqual({ result: 'foreign' });
  });

  test('goes to the owner that the service names', async () => {
    const ports = engine({ 'payment-order-7': 'runs' }, { workflowId: 'payment-order-7' });
    expect(await routeEvent(EVENT, ports)).toEqual({ result: 'delivered', workflowId: 'payment-order-7' });
    expect(ports.asked).toEqual([...ALL_NOT_FOUND, 'owner pay-1', 'deliver payment-order-7']);
  });

  test('is parked while no flow of the owner is known, and an owner that was asked is not asked again', async () => {
    const ports = engine({}, { workflowId: OWN });
    expect(await routeEvent(EVENT, ports)).toEqual({ result: 'unclaimed', reason: 'flowNotFound', workflowId: OWN });
    expect(ports.asked).toEqual([...ALL_NOT_FOUND, 'owner pay-1']);
    const elsewhere = engine({}, { workflowId: 'payment-order-7' });
    const verdict = { result: 'unclaimed', reason: 'flowNotFound', workflowId: 'payment-order-7' };
    expect(await routeEvent(EVENT, elsewhere)).toEqual(verdict);
    expect(elsewhere.asked).toEqual([...ALL_NOT_FOUND, 'owner pay-1', 'deliver payment-order-7']);
  });

  test.each<[string, Readonly<Record<string, Flow>>, string]>([
    ['the owner, of the same payment', { 'payment-order-7': OTHER }, 'payment-order-7'],
    ['the owner rather than a stranger', { 'payment-order-7': OTHER, [OWN]: STRANGER }, 'payment-order-7'],
    ['a stranger where the owner is not found', { [OWN]: STRANGER }, OWN],
  ])('is unknown to %s', async (_name, flows, workflowId) => {
    const ports = engine(flows, { workflowId: 'payment-order-7' });
    expect(await routeEvent(EVENT, ports)).toEqual({ result: 'unclaimed', reason: 'unknownTransaction', workflowId });
  });

  test('is parked where the service did not say whose it is, and asked of it again later', async () => {
    const failed = { result: 'unclaimed', reason: 'lookUpFailed' };
    expect(await routeEvent(EVENT, engine({}, new Error('no answer')))).toEqual(failed);
    expect(await routeEvent(EVENT, engine({ [OWN]: STRANGER }, new Error('no answer')))).toEqual(failed);
  });
});

describe('an event that only says where to look', () => {
  const { status: _status, ...untold } = EVENT;
  const LOOK: TransactionEvent = { ...untold, trusted: false };
  const late = { result: 'late', workflowId: OWN };

  test('goes to a flow that runs, past those that have ended', async () => {
    const flows = { [OWN]: SUCCEEDED, [ACTIONS]: 'runs' } as const;
    expect(await routeEvent(LOOK, engine(flows))).toEqual({ result: 'delivered', workflowId: ACTIONS });
    const owner = { workflowId: 'payment-order-7' };
    const elsewhere = engine({ [OWN]: SUCCEEDED, 'payment-order-7': 'runs' }, owner);
    expect(await routeEvent(LOOK, elsewhere)).toEqual({ result: 'delivered', workflowId: 'payment-order-7' });
  });

  test.each<[string, PaymentOwner | Error]>([
    ['made by nobody of ours', 'foreign'],
    ['of a flow that was asked', { workflowId: OWN }],
    ['of a flow that is not found', { workflowId: 'payment-order-7' }],
    ['of nobody knows whom', new Error('no answer')],
  ])('is late for the first that has ended, the payment being %s', async (_name, owner) => {
    const ports = engine({ [OWN]: SUCCEEDED, [ACTIONS]: OTHER }, owner);
    expect(await routeEvent(LOOK, ports)).toEqual(late);
    expect(ports.asked).toContain('owner pay-1');
  });

  test.each<[string, PaymentOwner | Error, object]>([
    [
      'the flow that made the payment',
      { workflowId: OWN },
      { result: 'unclaimed', reason: 'unknownTransaction', workflowId: ACTIONS },
    ],
    ['nobody of ours', 'foreign', { result: 'foreign' }],
    ['nobody', new Error('no answer'), { result: 'unclaimed', reason: 'lookUpFailed' }],
  ])(
    'of a transaction that no ended flow knows is for a person only where the service names %s',
    async (_name, owner, end) => {
      const ports = engine({ [OWN]: OTHER, [ACTIONS]: OTHER }, owner);
      const { reconciliationId: _none, ...unnamed } = LOOK;
      expect(await routeEvent({ ...unnamed, eventType: 'payment.refund.create' }, ports)).toEqual(end);
      expect(ports.asked).toContain('owner pay-1');
    },
  );

  test('is late even where another flow was of another payment', async () => {
    const ports = engine({ [OWN]: SUCCEEDED, [ACTIONS]: STRANGER }, { workflowId: OWN });
    expect(await routeEvent(LOOK, ports)).toEqual(late);
  });

  test('and is signed is parked where nobody says whose the payment is, and asked of the flows where nobody of ours is said', async () => {
    const update: TransactionEvent = { ...EVENT, eventType: 'payment.payment.update', transactionId: 'pay-1' };
    const flows = { [OWN]: { status: 'started' } };
    const failed = { result: 'unclaimed', reason: 'lookUpFailed' };
    expect(await routeEvent(update, engine(flows, new Error('no answer')))).toEqual(failed);
    const silent = engine({ ...flows, 'payment-order-7': 'runs' }, 'foreign', 'payment-order-7');
    expect(await routeEvent(update, silent)).toEqual({ result: 'delivered', workflowId: 'payment-order-7' });
    expect(await routeEvent(update, engine(flows, 'foreign'))).toEqual(late);
  });

  test.each<[string, TransactionEvent]>([
    ['is trusted', { ...untold, trusted: true }],
    ['tells a status', { ...EVENT, trusted: false }],
  ])('is another where it %s: the flow that has ended so keeps it', async (_name, event) => {
    const ports = engine({ [OWN]: SUCCEEDED, [ACTIONS]: 'runs' });
    expect(await routeEvent(event, ports)).toEqual(late);
  });
});

describe('a flow that opens again between two questions', () => {
  /** Its answer to each delivery in turn, the last one to all that follow. */
  function reopening(answers: readonly Delivery[]): { ports: RoutePorts; deliveries: () => number } {
    let deliveries = 0;
    const deliver = (): Promise<Delivery> => {
      deliveries += 1;
      return Promise.resolve(answers[deliveries - 1] ?? answers.at(-1) ?? 'notFound');
    };
    const ports = { ...engine({}), deliver, endedFlow: () => Promise.resolve(undefined) };
    return { ports, deliveries: () => deliveries };
  }

  test('is offered the event once more', async () => {
    const { ports, deliveries } = reopening(['ended', 'delivered']);
    expect(await routeEvent(EVENT, ports)).toEqual({ result: 'delivered', workflowId: OWN });
    expect(deliveries()).toBe(2);
  });

  test('and ends again and again is given up: the event is to be sent again', async () => {
    const { ports, deliveries } = reopening(['ended']);
    await expect(routeEvent(EVENT, ports)).rejects.toThrow(
      `workflow ${OWN} ends and opens again faster than an event can be delivered`,
    );
    expect(deliveries()).toBe(2);
  });

  test('an engine that does not answer is no end: the event is to be sent again', async () => {
    const ports: RoutePorts = { ...engine({}), deliver: () => Promise.reject(new Error('unavailable')) };
    await expect(routeEvent(EVENT, ports)).rejects.toThrow('unavailable');
  });
});

describe('an event that a flow hands on', () => {
  test('is not offered to that flow again, which already has it, but to the next', async () => {
    const ports = engine({ [OWN]: 'runs', [RESOLVE]: 'runs' });
    expect(await routeEvent(EVENT, ports, { except: OWN })).toEqual({ result: 'delivered', workflowId: RESOLVE });
    expect(ports.asked).toEqual([`deliver ${ACTIONS}`, `deliver ${RESOLVE}`]);
  });

  test('is unclaimed where that flow alone could take it', async () => {
    const ports = engine({ [OWN]: 'runs' }, { workflowId: OWN });
    expect(await routeEvent(EVENT, ports, { except: OWN })).toEqual({
      result: 'unclaimed',
      reason: 'flowNotFound',
      workflowId: OWN,
    });
    expect(ports.asked).toEqual([`deliver ${ACTIONS}`, `deliver ${RESOLVE}`, 'owner pay-1']);
  });
});

describe('the owner of a payment', () => {
  const longest = `payment-${'a'.repeat(70)}`;
  test.each(['payment-order-1001', 'payment-club-7.12.3', 'risk-order_1', longest])('is the flow %s', (workflowId) => {
    expect(ownerFrom(workflowId)).toEqual({ workflowId });
  });

  test.each([
    ...[undefined, '', 'payment-', 'order-1001', 'subscription-club-7', 'apayment-order-1001', 'payment-order 1001'],
    ...[`${longest}a`, 'payment-order-1001/x', 'risk'],
  ])('is nobody of ours where the field holds %p', (workflowId) => {
    expect(ownerFrom(workflowId)).toBe('foreign');
  });
});
