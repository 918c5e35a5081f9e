import { describe, expect, test } from 'vitest';
import type { FaultInput } from '../../../sandbox/control.js';
import { inTurn } from '../../support/counts.js';
import { beginActions, beginHeld } from '../../support/virtual-flows.js';
import { answers, beginFlow, DAY, DONE, HOUR, inputOf, lostReply, MINUTE, sharedTime } from './context.js';

const time = sharedTime();

/** One operation on money of a flow or command that is under way. */
interface Operation {
  /** Epoch ms: when it was asked for. */
  readonly askedAt: number;
  readonly workflowId: string;
  paymentId(): Promise<string>;
  /** Lets time pass until it is known how it ended. */
  ended(): Promise<unknown>;
  cancel(): Promise<void>;
}

/** Begins an operation over 60.00 USD, with faults that it alone meets. */
type Begin = (faults: readonly FaultInput[], more?: { cvv?: string }) => Promise<Operation>;

const ofFlow =
  (type: 'charge' | 'authorizeAndCapture' | 'credit' | 'storeCard' | 'analyseRisk', more: object = {}): Begin =>
  async (faults) => {
    const input = await inputOf(time, type, { ...more });
    const flow = await beginFlow(time, type, input, faults);
    return {
      askedAt: flow.startedAt,
      workflowId: flow.workflowId,
      paymentId: async () => (await flow.status()).paymentId ?? '',
      ended: () => flow.outcome(),
      cancel: () => flow.cancel(),
    };
  };

const ofHold =
  (name: 'capture' | 'void'): Begin =>
  async (faults) => {
    const hold = await beginHeld(time, {}, { faults });
    const { answer } = await hold.command(name);
    return {
      askedAt: hold.startedAt,
      workflowId: hold.workflowId,
      paymentId: async () => (await hold.status()).paymentId ?? '',
      ended: async () => {
        await hold.outcome();
        return await answer;
      },
      cancel: () => hold.cancel(),
    };
  };

const ofEndedPayment: Begin = async (faults) => {
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = (await charge.outcome()) as { paymentId?: string };
  for (const fault of faults) {
    await time.sandbox.addFault({ ...fault, path: (fault.path ?? '').replace('*', `/payments/${paymentId}`) });
  }
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: charge.reference });
  const { answer } = await actions.command('refund', { commandId: 'return' });
  return {
    askedAt: actions.startedAt,
    workflowId: actions.workflowId,
    paymentId: async () => paymentId,
    // Its flow goes on for thirty days.
    ended: async () => {
      let result: unknown;
      answer.then(
        (value) => (result = value),
        (error: unknown) => (result = error),
      );
      while (result === undefined) await time.passUntil((await time.now()) + 10 * MINUTE);
      return result;
    },
    cancel: () => actions.cancel(),
  };
};

/** Each by the name of its resource at the service, with what the ledger calls it. */
const OPERATIONS: readonly [name: string, path: string, kind: string, begin: Begin][] = [
  ['charge', '*/charges', 'charge', ofFlow('charge')],
  ['authorization', '*/authorizations', 'authorization', ofFlow('authorizeAndCapture')],
  ['credit', '*/credits', 'credit', ofFlow('credit')],
  ['charge that stores a card', '*/charges', 'charge', ofFlow('storeCard')],
  [
    'authorization that stores a card',
    '*/authorizations',
    'authorization',
    ofFlow('storeCard', { consent: { by: 'authorization' } }),
  ],
  ['capture', '*/captures', 'capture', ofHold('capture')],
  ['void', '*/voids', 'void', ofHold('void')],
  ['refund', '*/refunds', 'refund', ofEndedPayment],
];

/** What of one kind the ledger shows on a payment. */
async function onLedger(paymentId: string, kind: string): Promise<string[]> {
  const ledger = await time.sandbox.ledger();
  return ledger
    .filter((entry) => entry.payment_id === paymentId && entry.kind === kind)
    .map(({ status, amount, currency }) => `${status} ${amount} ${currency}`);
}

const MOVED = ['Succeed 6000 USD'];

/** A short run takes one for each operation; rules/absence has all of them for a charge. */
const refusalsOf = (name: string): number[] => {
  const from = OPERATIONS.findIndex(([one]) => one === name);
  return [400, 404, 409].filter((_, index) => inTurn(3)(index + from));
};

describe.each(OPERATIONS)('a %s', (name, path, kind, begin) => {
  const kinds = path.slice(2);
  const keysOn = (paymentId: string) => time.requests.operations(paymentId, kinds).map(({ key }) => key);

  test('whose reply is lost twice is sent again under its key, and moves the money once', async () => {
    const operation = await begin([lostReply(path, 2)]);
    await time.passUntil(operation.askedAt + 10 * MINUTE);
    const paymentId = await operation.paymentId();
    await operation.ended();
    const keys = keysOn(paymentId);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(await onLedger(paymentId, kind)).toEqual(MOVED);
  });

  test.each(refusalsOf(name))('whose reply is lost is not taken for refused when a %i follows', async (status) => {
    const operation = await begin([lostReply(path), { ...answers(status, 'POST', path), times: 2 }]);
    await time.passUntil(operation.askedAt + MINUTE);
    const paymentId = await operation.paymentId();
    await expect(operation.ended()).resolves.not.toBeInstanceOf(Error);
    expect(new Set(keysOn(paymentId)).size).toBe(1);
    expect(await onLedger(paymentId, kind)).toEqual(MOVED);
  });

  test('whose reply is lost goes on to its end although its flow is cancelled', async () => {
    const operation = await begin([lostReply(path), { ...answers(503, 'POST', path), times: 3 }]);
    await time.passUntil(operation.askedAt + 2_000);
    const paymentId = await operation.paymentId();
    await operation.cancel();
    await operation.ended();
    expect(await onLedger(paymentId, kind)).toEqual(MOVED);
  });

  test('that pends, and of whose end no event tells, is known by a look', async () => {
    const operation = await begin([{ action: 'result', status: 'Pending', path }]);
    await time.passUntil(operation.askedAt + 10 * MINUTE);
    const paymentId = await operation.paymentId();
    expect(await onLedger(paymentId, kind)).toEqual(['Pending 6000 USD']);
    const ledger = await time.sandbox.ledger();
    const sent = ledger.find((entry) => entry.payment_id === paymentId && entry.kind === kind);
    await time.sandbox.complete(sent?.transaction_id ?? '', { status: 'Succeed' });
    expect(keysOn(paymentId)).toHaveLength(1);
    await operation.ended();
    expect(time.requests.reads(paymentId).length).toBeGreaterThan(3);
    expect(await onLedger(paymentId, kind)).toEqual(MOVED);
  });

  test('that is never answered is sent for 20 hours, and what is told after them is that nothing moved', async () => {
    // Asked again every forty minutes, and a capture or void each minute of the last hour: fewer than there would be after a 503.
    const operation = await begin([{ ...answers(429, 'POST', path), retry_after_s: 2_400, times: 91 }]);
    await time.passUntil(operation.askedAt + 21 * HOUR);
    const paymentId = await operation.paymentId();
    const posts = time.requests.operations(paymentId, kinds);
    const sent = posts.map(({ at }) => at - operation.askedAt);
    expect(Math.max(...sent)).toBeGreaterThan(19 * HOUR);
    expect(Math.max(...sent)).toBeLessThan(20 * HOUR);
    expect(new Set(posts.map(({ key }) => key)).size).toBe(1);
    await time.passUntil(operation.askedAt + 22 * HOUR);
    expect(await onLedger(paymentId, kind)).toEqual([]);
    expect(JSON.stringify(await operation.ended())).toContain('notExecuted');
  });
});

describe.each(['JPY', 'KWD'])('in %s', (currency) => {
  test.each(['charge', 'authorizeAndCapture', 'credit', 'storeCard'] as const)(
    'a %s moves the sum that was asked',
    async (type) => {
      const flow = await beginFlow(time, type, await inputOf(time, type, { currency }));
      expect(await flow.outcome()).toMatchObject({ amount: 6_000, currency });
      const ledger = await time.sandbox.ledger(flow.reference);
      expect(ledger.map((entry) => `${entry.kind} ${entry.amount} ${entry.currency}`)).toEqual(
        DONE[type].map((line) => line.replace('Succeed ', '').replace('USD', currency)),
      );
    },
  );
});

test('a risk analysis whose reply is lost is asked for under its key, and made once', async () => {
  const path = '*/risk-analyses';
  // An analysis carries no reference that a fault could name.
  await time.sandbox.addFault(lostReply(path, 2));
  const operation = await ofFlow('analyseRisk')([]);
  expect(await operation.ended()).toMatchObject({ status: expect.stringMatching(/approve|decline|review/) });
  const paymentId = await operation.paymentId();
  const keys = time.requests.operations(paymentId, 'risk-analyses').map(({ key }) => key);
  expect(keys.length).toBeGreaterThan(1);
  expect(new Set(keys).size).toBe(1);
  const made = await time.provider.listRiskAnalyses(paymentId, { currency: 'USD' });
  expect(made.data).toHaveLength(1);
  expect(await onLedger(paymentId, 'charge')).toEqual([]);
  expect((await time.now()) - operation.askedAt).toBeLessThan(DAY);
});
