import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { createReconcileActivities, type ReconcileDeps } from '../../activities/reconcile.js';
import { type FlowFacts, noCounts, type SweepCall, type SweptCounts } from '../../src/contract/reconcile.js';
import { type Payment, type ProviderClient, ProviderError } from '../../src/provider/index.js';
import { DAY, flow, iso, NOTHING, NOW, portOf } from './in-memory-port.js';
import { sealedCalls } from '../support/sealed-calls.js';

const CALL: SweepCall = {
  swept: { which: 'ended', from: NOW - DAY, to: NOW },
  now: NOW,
  sample: 1,
  readsPerSecond: 1_000,
  windowMs: DAY,
};

/** Flows of charges that the service has as they say, each of a payment of its own. */
const flowsOf = (count: number): FlowFacts[] =>
  Array.from({ length: count }, (_, index) => {
    const reference = `order-${String(index).padStart(3, '0')}`;
    const paymentId = `pay-${index}`;
    return flow({ reference, paymentId }, { paymentId, transactionId: `tx-${index}` });
  });

const refused = (operation: string, httpStatus: number, more: object = {}): ProviderError =>
  new ProviderError(`${operation}: the service answered ${httpStatus}`, {
    kind: 'http',
    operation,
    mayHaveLeft: true,
    httpStatus,
    ...more,
  });
const OWN = { category: 'api_request_error' };

function paymentOf(paymentId: string, amount = 1095): Payment {
  const lists = { authorizations: [], captures: [], refunds: [], voids: [], credits: [] };
  const charge = { id: paymentId.replace('pay', 'tx'), status: 'Succeed', amount, currency: 'USD' };
  return { id: paymentId, amount, currency: 'USD', relatedResources: { ...lists, charges: [charge] } } as never;
}

function sweep(
  flows: readonly FlowFacts[],
  more: {
    call?: Partial<SweepCall>;
    before?: unknown;
    amount?: number;
    error?: Error;
    /** Of each list: then the payment shows none by itself. */
    ofLists?: Error;
    riskUnit?: Partial<ProviderClient>;
    /** Of the recorded payment, and of the worker's units. */
    madeUnder?: Record<'flow' | 'default' | 'risky', string>;
  } = {},
) {
  const asked: string[] = [];
  const provider = {
    async getPayment(paymentId: string) {
      asked.push(paymentId);
      if (more.error !== undefined) throw more.error;
      const payment = paymentOf(paymentId, more.amount);
      return { data: more.ofLists === undefined ? payment : { ...payment, relatedResources: undefined } };
    },
    listAuthorizations: () => Promise.reject(more.ofLists ?? new Error('not asked for')),
  } as unknown as ProviderClient;
  const { madeUnder } = more;
  const port = { ...portOf(flows), madeUnder: async () => madeUnder?.flow };
  const under = (unit: 'default' | 'risky') => (madeUnder === undefined ? {} : { madeUnder: madeUnder[unit] });
  const risk = more.riskUnit === undefined ? {} : { riskUnit: 'risky' };
  const deps = {
    providers: new Map([
      ['default', provider],
      ['risky', more.riskUnit],
    ]),
    units: new Map([
      ['default', { holdMs: DAY, ...risk, ...under('default') }],
      ['risky', { holdMs: DAY, ...under('risky') }],
    ]),
    reconcile: port,
    now: () => NOW,
  } as unknown as ReconcileDeps;
  const activities = sealedCalls(createReconcileActivities(deps));
  const environment = new MockActivityEnvironment({ heartbeatDetails: more.before });
  const counts = environment.run(() => activities.reconcileFlows({ ...CALL, ...more.call })) as Promise<SweptCounts>;
  return { asked, port, counts };
}

describe('a sweep', () => {
  test('asks about each flow once, and goes on after the one that an attempt before has done last', async () => {
    const whole = sweep(flowsOf(5));
    expect(await whole.counts).toMatchObject({ flows: 5, asked: 5, found: NOTHING, fresh: 0 });
    expect(whole.asked).toEqual(['pay-0', 'pay-1', 'pay-2', 'pay-3', 'pay-4']);
    const before = { last: 'payment-order-002', counts: { ...noCounts(), flows: 3, asked: 3 } };
    const rest = sweep(flowsOf(5), { before });
    expect(await rest.counts).toMatchObject({ flows: 5, asked: 5 });
    expect(rest.asked).toEqual(['pay-3', 'pay-4']);
  });

  test('asks about so many of those without a doubt, and at each attempt about the same', async () => {
    const flows = flowsOf(400);
    const first = sweep(flows, { call: { sample: 0.1 } });
    const { asked } = await first.counts;
    expect(asked).toBeGreaterThan(20);
    expect(asked).toBeLessThan(60);
    const second = sweep(flows, { call: { sample: 0.1 } });
    await second.counts;
    expect(second.asked).toEqual(first.asked);
    const none = sweep(flows, { call: { sample: 0 } });
    expect(await none.counts).toMatchObject({ flows: 400, asked: 0 });
  });

  test('asks about each with a doubt, whatever the sample', async () => {
    const doubtful = [
      flow({ reference: 'order-1' }, { status: 'declined', confirmed: false }),
      flow({ reference: 'order-2' }, { evidence: { knownBy: 'operator', settledAt: iso(NOW - 2 * DAY) } }),
      flow({ reference: 'order-3' }, { despiteVoid: { status: 'succeeded' } }),
      flow({ reference: 'order-4' }),
    ];
    expect(await sweep(doubtful, { call: { sample: 0 } }).counts).toMatchObject({ flows: 4, asked: 3, doubts: 3 });
    // They are counted where they are looked for.
    const elsewhere = [flow({ state: 'stopped' }), flow({ needsOperator: true })];
    expect(await sweep(elsewhere).counts).toMatchObject({ flows: 0 });
    const stopped = sweep(elsewhere.slice(0, 1), { call: { swept: { which: 'stopped' } } });
    expect(await stopped.counts).toMatchObject({ flows: 1, asked: 1, doubts: 1, found: { moneyWithoutFlow: 1 } });
  });

  test('tells of a flow that can not be read as of a doubt without an answer, and asks about all others', async () => {
    const [first, second, third] = flowsOf(3) as [FlowFacts, FlowFacts, FlowFacts];
    const unreadable = { ...second, result: undefined, unreadable: 'its result needs key k1' };
    const { asked, counts, port } = sweep([first, unreadable, third], { call: { sample: 0 } });
    const told = { unanswered: 1, reasons: ['payment-order-001: its result needs key k1'] };
    expect(await counts).toMatchObject({ flows: 3, asked: 0, doubts: 1, found: NOTHING, ...told });
    // Its money is not called money of nobody either, where another flow of its payment is asked about.
    const other = { ...third, paymentId: 'pay-1', needsOperator: true };
    const both = sweep([unreadable, other], { call: { swept: { which: 'needsOperator' } } });
    expect(await both.counts).toMatchObject({ flows: 2, unanswered: 2, found: NOTHING });
    expect([asked, port.kept, both.port.kept]).toEqual([[], [], []]);
  });

  test('asks again about a flow with a doubt that had no answer, and keeps it once that was in vain for two weeks', async () => {
    const fields = { kind: 'http', operation: 'getPayment', mayHaveLeft: true, httpStatus: 401 } as const;
    const error = new ProviderError('its key is refused', { ...fields, failureType: 'CredentialsRejected' });
    const doubtful = (closedAt: number) => [flow({ closedAt }, { status: 'declined', confirmed: false })];
    const fresh = sweep(doubtful(NOW - 11 * DAY), { error });
    expect(await fresh.counts).toMatchObject({ unanswered: 1, askAgain: 1, found: NOTHING });
    const old = sweep(doubtful(NOW - 12.5 * DAY), { error });
    expect(await old.counts).toMatchObject({ askAgain: 1, found: { unfollowed: 1 } });
    expect(old.port.kept[0]?.explanation).toMatch(/^payment-order-1, .* two weeks ago, .*\(its key is refused\)/);
    expect(await sweep([flow()], { error }).counts).toMatchObject({ unanswered: 1, askAgain: 0 });
    const ofSweep = (which: 'stopped' | 'contradicted', change: Partial<FlowFacts>) =>
      sweep([flow(change)], { error, call: { swept: { which } } });
    expect(await ofSweep('stopped', { state: 'stopped' }).counts).toMatchObject({ askAgain: 1, found: NOTHING });
    const long = ofSweep('stopped', { state: 'stopped', closedAt: NOW - 12.5 * DAY });
    expect(await long.counts).toMatchObject({ askAgain: 1, found: { unfollowed: 1 } });
    const why = /^payment-order-1, .* was stopped from outside .* could not be read \(its key is refused\)\.$/;
    expect(long.port.kept[0]?.explanation).toMatch(why);
    // The event that contradicts it may be new.
    const contradicted = ofSweep('contradicted', { closedAt: NOW - 12.5 * DAY });
    expect(await contradicted.counts).toMatchObject({ askAgain: 1, found: NOTHING });
  });

  test.each([
    ['offers no list by its own 404', refused('listAuthorizations', 404, OWN), 0],
    ['answers a list with 405', refused('listAuthorizations', 405), 0],
    ['answers a list with 501', refused('listAuthorizations', 501), 0],
    ['may be hidden by a proxy that answers 404', refused('listAuthorizations', 404), 1],
  ])('takes no payment for absent of which the service %s', async (_how, ofLists, askAgain) => {
    for (const isDoubtful of [false, true]) {
      const one = flow({}, isDoubtful ? { status: 'declined', confirmed: false } : {});
      for (const riskUnit of [undefined, { getPayment: () => Promise.reject(refused('getPayment', 404, OWN)) }]) {
        const told = await sweep([one], { ofLists, ...(riskUnit !== undefined && { riskUnit }) }).counts;
        expect(told).toMatchObject({ asked: 1, found: NOTHING, unanswered: 1, askAgain: isDoubtful ? askAgain : 0 });
        const why = askAgain === 0 ? 'the service of "default" offers no list of authorizations' : ofLists.message;
        expect(told.reasons).toEqual([`payment-order-1: payment pay-1 could not be read (${why})`]);
      }
    }
  });

  test('takes a payment for absent only by a 404 of the service itself, from each unit that may have made it', async () => {
    const absent = refused('getPayment', 404, OWN);
    const ofProxy = refused('getPayment', 404);
    const doubtful = [flow({}, { status: 'declined', confirmed: false })];
    expect(await sweep([flow()], { error: absent }).counts).toMatchObject({ found: { flowWithoutMoney: 1 } });
    expect(await sweep(doubtful, { error: absent }).counts).toMatchObject({ unanswered: 0, askAgain: 0 });
    expect(await sweep([flow()], { error: ofProxy }).counts).toMatchObject({ found: NOTHING, unanswered: 1 });
    expect(await sweep(doubtful, { error: ofProxy }).counts).toMatchObject({ unanswered: 1, askAgain: 1 });
    const other = (error: ProviderError) => ({ getPayment: () => Promise.reject(error) });
    for (const [error, ofOther] of [
      [absent, ofProxy],
      [ofProxy, absent],
    ] as const) {
      const told = await sweep([flow()], { error, riskUnit: other(ofOther) }).counts;
      expect(told).toMatchObject({ found: NOTHING, unanswered: 1 });
    }
    const both = await sweep([flow()], { error: absent, riskUnit: other(absent) }).counts;
    expect(both).toMatchObject({ found: { flowWithoutMoney: 1 }, unanswered: 0 });
    const found = { getPayment: async (id: string) => ({ data: paymentOf(id) }) } as unknown as ProviderClient;
    const elsewhere = await sweep([flow()], { error: absent, riskUnit: found }).counts;
    expect(elsewhere).toMatchObject({ found: NOTHING, unanswered: 0 });
  });

  test('takes no payment for absent that the service has not looked for, or looked for under another app id', async () => {
    const absent = refused('getPayment', 404, OWN);
    const doubtful = flow({}, { status: 'declined', confirmed: false });
    const units = { default: 'live/shop-2', risky: 'live/risk-2' };
    const of = async (made: string, one = flow()) =>
      await sweep([one], {
        error: absent,
        riskUnit: { getPayment: () => Promise.reject(absent) },
        madeUnder: { ...units, flow: made },
      }).counts;
    const elsewhere = await of('live/shop-1');
    const says = 'it was made under live/shop-1, and for this worker business unit "default" is live/shop-2';
    expect(elsewhere).toMatchObject({ found: NOTHING, unanswered: 1, reasons: [expect.stringContaining(says)] });
    expect(await of('live/shop-1', doubtful)).toMatchObject({ found: NOTHING, askAgain: 1 });
    for (const made of Object.values(units))
      expect(await of(made)).toMatchObject({ found: { flowWithoutMoney: 1 }, unanswered: 0 });
    for (const moreInfo of ['App_id that is related to the payment was not found', 'Path not found']) {
      const error = refused('getPayment', 404, { ...OWN, moreInfo });
      expect(await sweep([doubtful], { error }).counts).toMatchObject({ found: NOTHING, unanswered: 1, askAgain: 1 });
      expect(await sweep([flow()], { error }).counts).toMatchObject({ found: NOTHING, unanswered: 1 });
    }
    const error = refused('getPayment', 404, { ...OWN, moreInfo: 'Payment resource does not exists' });
    expect(await sweep([flow()], { error }).counts).toMatchObject({ found: { flowWithoutMoney: 1 } });
  });

  test('keeps what it finds, and counts it again when it is known', async () => {
    const { counts, port } = sweep(flowsOf(3), { amount: 1096 });
    expect(await counts).toMatchObject({ found: { otherAmount: 3 }, fresh: 3 });
    expect(port.kept).toHaveLength(3);
  });

  test('counts a difference once that two flows of its payment show, or a sweep before', async () => {
    const twice = [flow({ reference: 'order-1' }), flow({ reference: 'order-2' }, { reference: 'order-1' })];
    const first = await sweep(twice, { amount: 1096 }).counts;
    expect(first).toMatchObject({ asked: 2, found: { otherAmount: 1 }, fresh: 1, counted: [expect.any(String)] });
    const { counted = [] } = first;
    const after = await sweep(twice, { amount: 1096, call: { counted } }).counts;
    expect(after).toMatchObject({ asked: 2, found: NOTHING });
    expect(after).not.toHaveProperty('counted');
    const again = sweep(twice, { amount: 1096, before: { last: 'payment-order-1', counts: first } });
    expect(await again.counts).toMatchObject({ found: { otherAmount: 1 } });
  });

  test('keeps to its rate', async () => {
    const begun = performance.now();
    await sweep(flowsOf(6), { call: { readsPerSecond: 50 } }).counts;
    expect(performance.now() - begun).toBeGreaterThan(95);
  });
});
