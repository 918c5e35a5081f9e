import { describe, expect, test } from 'vitest';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import { type Finding, findingWorkflowId, type FlowFacts } from '../../src/contract/reconcile.js';
import { TRANSACTION_KINDS } from '../../src/contract/records.js';
import type { Row } from '../../src/domain/reconcile/match.js';
import { type Answer, reconcileFlow, reconcileStatement } from '../../src/domain/reconcile/reconcile.js';
import { action, DAY, flow, iso, NOW, portOf, row, THEN } from './in-memory-port.js';

async function findings(rows: Row[], flows: FlowFacts[], known: Record<string, string[]> = {}): Promise<Finding[]> {
  const covers = { from: THEN - DAY, until: NOW };
  const statement = { chargebacks: [], rows, covers, kinds: new Set(TRANSACTION_KINDS), units: undefined };
  return await reconcileStatement(statement, portOf(flows, known), { windowMs: DAY, now: NOW });
}
const found = async (...given: Parameters<typeof findings>): Promise<string[]> =>
  (await findings(...given)).map(({ kind, subject }) => `${kind} ${subject}`);

const commands = (list: object[], state: 'open' | 'ended' = 'open'): FlowFacts => {
  const { businessUnit, currency, startedAt } = flow();
  const common = { businessUnit, currency, startedAt, paymentId: 'pay-1', state, status: 'idle' };
  const told = { [state === 'open' ? 'openResult' : 'result']: { actions: list } };
  return { workflowId: 'payment-actions-pay-1', type: WORKFLOW_TYPES.paymentActions, ...common, ...told } as FlowFacts;
};

describe('what has nothing to do with each other is not called the same', () => {
  test.each(['charge', 'refund'] as const)(
    'a %s of nobody and one that a flow knows, if neither carries a reference or a payment',
    async (kind) => {
      const bare = { kind, reconciliationId: undefined, paymentId: undefined };
      const rows = [row({ ...bare, transactionId: 'tx-8' }), row({ ...bare, transactionId: 'tx-9' })];
      const flows = { charge: flow({}, { transactionId: 'tx-8' }), refund: commands([action('refund', 'tx-8', 1095)]) };
      expect(await found(rows, [flows[kind]])).toEqual(['moneyWithoutFlow tx-9']);
    },
  );
});

describe('what a person has said does not hide the money that moved all the same', () => {
  const notExecuted = { status: 'notExecuted', evidence: { knownBy: 'operator' } };

  test('of a payment that was not executed, by their word', async () => {
    expect(await found([row()], [flow({ status: 'notExecuted' }, notExecuted)])).toEqual(['moneyWithoutFlow tx-1']);
  });

  test.each(['open', 'ended'] as const)('of such a refund, while its commands are %s', async (state) => {
    const refund = row({ kind: 'refund', transactionId: 'ref-1', amount: 500 });
    const said = { action: 'refund', outcome: { ...notExecuted, transactionId: 'ref-1' } };
    expect(await found([row(), refund], [flow(), commands([said], state)])).toEqual(['moneyWithoutFlow ref-1']);
  });
});

test('an acquirer’s line of a refund by hand is found although commands of its payment are open, as they are for weeks', async () => {
  const line = (amount: number): Row => row({ kind: 'refund', transactionId: undefined, amount });
  const flows = [flow(), commands([action('refund', 'ref-1', 300)])];
  const [one, ...others] = await findings([row(), line(300), line(500)], flows);
  expect(one).toMatchObject({ kind: 'moneyWithoutFlow', amount: 500 });
  expect(others).toEqual([]);
  // It may be of a command whose answer is not there yet.
  expect(await found([row(), line(300), { ...line(500), created: NOW - DAY / 2 }], flows)).toEqual([]);
});

test('a refund by hand is found also where commands that are open have only read it', async () => {
  const rows = [row(), row({ kind: 'refund', transactionId: 'by-hand', amount: 500 })];
  const known = { 'payment-actions-pay-1': ['by-hand'] };
  const open = commands([action('refund', 'ref-1', 300)]);
  expect(
    await found([...rows, row({ kind: 'refund', transactionId: 'ref-1', amount: 300 })], [flow(), open], known),
  ).toEqual(['moneyWithoutFlow by-hand']);
  // A command whose answer was asked for a hundred times is one.
  const asked = commands(Array.from({ length: 150 }, () => ({ ...action('refund', 'ref-1', 300), key: ':refund:1' })));
  expect(await found(rows, [flow(), asked], known)).toContain('moneyWithoutFlow by-hand');
  // It may be of the command that is under way, though not of one that waits for another person.
  const refunding = { ...commands([]), status: 'refunding' };
  expect(await found(rows, [flow(), refunding], known)).toEqual([]);
  const waiting = { ...refunding, waitingFor: 'approval' };
  expect(await found(rows, [flow(), waiting], known)).toEqual(['moneyWithoutFlow by-hand']);
});

describe('a refund whose id nobody has told, asked for again and answered again,', () => {
  const { outcome, ...refund } = action('refund', 'ref-1', 500);
  const { transactionId: _untold, ...untold } = outcome;
  const key = ':back-1';
  const again = [
    { ...refund, key, outcome: untold },
    { ...refund, key: 'payment-actions-pay-1:refund:back-1', outcome: untold },
    { ...refund, key, outcome: { ...untold, transactionId: 'of unknown id' } },
  ];
  const line = (transactionId: string) => row({ kind: 'refund', transactionId, amount: 500 });

  test.each(['open', 'ended'] as const)('is one, while its commands are %s', async (state) => {
    const flows = [flow(), commands(again, state)];
    expect(await found([row(), line('ref-1')], flows)).toEqual([]);
    // The second one was made by hand.
    expect(await found([row(), line('ref-1'), line('ref-2')], flows)).toHaveLength(1);
  });

  test('is one also where the other answer names it', async () => {
    const flows = [flow(), commands([...again, { ...refund, key, outcome }])];
    expect(await found([row(), line('ref-1')], flows)).toEqual([]);
    expect(await found([row(), line('ref-1'), line('ref-2')], flows)).toHaveLength(1);
    // Another command may have the same sum.
    const two = [flow(), commands([...again, { ...refund, key: ':back-2', outcome }])];
    expect(await found([row(), line('ref-1'), line('ref-2')], two)).toEqual([]);
  });
});

describe('of a hundred commands', () => {
  const rows = [row(), row({ kind: 'refund', transactionId: undefined, amount: 500 })];
  const many = Array.from({ length: 100 }, (_, at) => ({ ...action('refund', `ref-${at}`, 1), key: `:${at}` }));
  const isFound = async (one: FlowFacts) =>
    (await found(rows, [flow(), one])).some((text) => text.startsWith('moneyWithoutFlow'));

  test('an open run forgets none', async () => {
    expect(await isFound(commands(many))).toBe(true);
  });

  test('the oldest may be forgotten, where the run before had so many, or was stopped after that', async () => {
    const open = commands(many);
    expect(await isFound({ ...open, openResult: { actions: many, mayLackEarlier: true } })).toBe(false);
    expect(await isFound(commands(many, 'ended'))).toBe(false);
    expect(await isFound({ ...open, state: 'stopped', status: 'idle' })).toBe(false);
  });
});

describe('an acquirer’s line that has only the reconciliation id of a command is matched', () => {
  const line = (reconciliationId: string) =>
    row({ kind: 'refund', transactionId: undefined, paymentId: undefined, reconciliationId, amount: 500 });
  const made = action('refund', 'ref-1', 500);

  test.each([
    ['its own reference', 'back-1', { ...made, reference: 'back-1' }],
    ['one made of its key', 'refund-0f3a-1', { ...made, key: 'payment-actions-pay-1:refund:0f3a-1' }],
  ])('%s', async (_what, id, one) => {
    for (const state of ['open', 'ended'] as const)
      expect(await found([row(), line(id)], [flow(), commands([one], state)])).toEqual([]);
    expect(await found([row(), line('another')], [flow(), commands([one], 'ended')])).toHaveLength(2);
  });
});

test('a capture of a hold that was sent with a reference of its own is matched by it, whatever equal line comes before', async () => {
  const line = (reconciliationId: string, created: number) =>
    row({ kind: 'capture', transactionId: undefined, paymentId: undefined, reconciliationId, created });
  const made = { ...action('capture', 'cap-1', 1095), reference: 'inv-7' };
  const result = { status: 'captured', transactionId: 'cap-1', capturedAmount: 1095, authorizationId: 'auth-1' };
  const held = flow({ type: WORKFLOW_TYPES.authorizeAndCapture }, { ...result, actions: [made] });
  const authorization = row({ kind: 'authorization', transactionId: 'auth-1' });
  expect(await found([authorization, line('inv-7', THEN)], [held])).toEqual([]);
  const [only, ...others] = await findings([authorization, line('order-1', THEN - 1), line('inv-7', THEN)], [held]);
  expect(only).toMatchObject({ kind: 'moneyWithoutFlow', reference: 'order-1' });
  expect(others).toEqual([]);
});

describe('two charges of one reference are found', () => {
  const two = [row(), row({ transactionId: 'tx-2', created: THEN + 1 })];

  test('although the open flow that waits for an operator has seen both', async () => {
    const { closedAt: _none, ...open } = flow({ state: 'open', status: 'unknown' });
    const known = { 'payment-order-1': ['tx-1', 'tx-2'] };
    expect(await found(two, [open], known)).toEqual(['moneyTwice tx-2']);
  });

  test('although the result of its flow names the other one too', async () => {
    expect(await found(two, [flow({}, { evidence: { seen: ['tx-2'] } })])).toEqual(['moneyTwice tx-2']);
  });
});

test('money that a flow says is there, and that pends for longer than the settlement window, is late', async () => {
  const rows = [row({ status: 'Pending' })];
  expect(await found(rows, [flow()])).toEqual(['late tx-1']);
  expect(await found(rows, [flow({}, { details: { createdAt: iso(NOW - DAY / 2) } })])).toEqual([]);
});

test('a transaction that the statement has the other way round is found', async () => {
  const [one] = await findings([row({ kind: 'refund' })], [flow()]);
  expect(one).toMatchObject({ kind: 'otherAmount', subject: 'tx-1', transactionKind: 'refund' });
  expect(one?.explanation).toContain(
    'says that its charge tx-1 over 10.95 USD succeeded, and the statement has it as a refund',
  );
});

describe('an acknowledgement is of one difference', () => {
  const idOf = async (one: Row): Promise<string | undefined> => {
    const [only] = await findings([one], [flow()]);
    return only && findingWorkflowId(only);
  };

  test('of another sum, and not of the next one of the same transaction', async () => {
    const first = await idOf(row({ amount: 1096 }));
    expect(first).toBe('finding-otherAmount-tx-1-1096-USD');
    expect(await idOf(row({ amount: 1096, settled: THEN }))).toBe(first);
    expect(await idOf(row({ amount: 9_999 }))).not.toBe(first);
    expect(await idOf(row({ amount: 1096, currency: 'EUR' }))).not.toBe(first);
  });

  test('of a line without an id, and not of an equal one of another day', async () => {
    const line = row({ kind: 'refund', transactionId: undefined, amount: 500 });
    const first = await idOf(line);
    expect(first).toBe('finding-moneyWithoutFlow-order-1-refund-500-USD-2027-01-27T12:00:00.000Z');
    expect(await idOf({ ...line, settled: THEN + DAY })).toBe(first);
    expect(await idOf({ ...line, created: THEN + DAY })).not.toBe(first);
    expect(await idOf({ ...line, created: undefined, settled: THEN + DAY })).not.toBe(first);
  });

  test('of a flow that was stopped, and not of when it is stopped again, as one of commands may be', async () => {
    const stopped = async (closedAt: number): Promise<string> => {
      const one: FlowFacts = { ...commands([]), state: 'stopped', closedAt };
      const answer = { rows: [] };
      const when = { windowMs: DAY, now: NOW };
      const { findings: made } = await reconcileFlow(one, async () => answer, portOf([one]), when);
      return made.map(findingWorkflowId).join();
    };
    const first = await stopped(THEN);
    expect(first).toBe('finding-unfollowed-payment-actions-pay-1-2027-01-27T12:00:00.000Z');
    expect(await stopped(THEN)).toBe(first);
    expect(await stopped(THEN + DAY)).not.toBe(first);
  });
});

describe('a payment that the service does not have', () => {
  const absent = { why: 'no such payment', isFinal: true, isAbsent: true };
  const asked = async (one: FlowFacts, answer: Answer = absent) =>
    await reconcileFlow(one, async () => answer, portOf([one]), { windowMs: DAY, now: NOW });

  test('is money that is not there, if its flow says that it is', async () => {
    const { findings: made, unanswered } = await asked(flow());
    expect(made).toMatchObject([{ kind: 'flowWithoutMoney', subject: 'tx-1', source: 'service' }]);
    expect(unanswered).toBeUndefined();
  });

  test('is none if its flow has ended without money, is open or was stopped, or the service only could not say', async () => {
    const declined = flow({ status: 'declined' }, { status: 'declined' });
    expect(await asked(declined)).toEqual({ findings: [], isAsked: true });
    expect(await asked(flow({ state: 'open' }))).toMatchObject({ findings: [], unanswered: expect.any(String) });
    expect(await asked(flow({ state: 'stopped' }))).toMatchObject({ findings: [{ kind: 'unfollowed' }] });
    const noLists = { why: 'it offers no lists', isFinal: true };
    expect(await asked(flow(), noLists)).toEqual({ findings: [], isAsked: true, unanswered: expect.any(String) });
    const away = { why: 'it is away', isFinal: false };
    expect(await asked(flow(), away)).toMatchObject({ findings: [], askAgain: true });
  });
});

test('a second hold of a payment is found although the first one was voided', async () => {
  const holds = ['auth-1', 'auth-2'].map((id, at) =>
    row({ kind: 'authorization', transactionId: id, created: THEN + at }),
  );
  const released = row({ kind: 'void', transactionId: 'void-1', amount: undefined });
  const own = flow(
    { type: WORKFLOW_TYPES.authorizeAndCapture, status: 'voided' },
    { status: 'voided', authorizationId: 'auth-1', transactionId: 'void-1' },
  );
  expect(await found([...holds, released], [own])).toEqual(['moneyTwice auth-2']);
  expect(await found([...holds, released, { ...released, transactionId: 'void-2' }], [own])).toEqual([]);
});

test('a transaction under another id than the flow names is not taken for it because the sum is the same', async () => {
  expect(await found([row({ transactionId: 'tx-7' })], [flow()])).toEqual([
    'moneyWithoutFlow tx-7',
    'flowWithoutMoney tx-1',
  ]);
});
