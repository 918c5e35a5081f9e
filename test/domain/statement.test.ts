import { describe, expect, test } from 'vitest';
import { parseReconcilable } from '../../src/domain/reconcile/statement-rows.js';
import { hasMoney, parseStatement, whyNotCovered } from '../../src/domain/statement.js';

const NOW = Date.parse('2027-01-31T12:00:00Z');
const HEADER = '{"covers":"2027-01-31T08:00:00Z,2027-01-31T11:00:00Z"}';
const ROW = {
  kind: 'charge',
  status: 'Succeed',
  payment_id: 'pay-1',
  transaction_id: 'tx-1',
  reconciliation_id: 'order-1',
  amount: 1095,
  currency: 'USD',
};
const row = (change: object = {}): string => JSON.stringify({ ...ROW, ...change });
const lines = (...rows: string[]): string => rows.join('\n');
const parse = (...rows: string[]) => parseStatement(lines(HEADER, ...rows), NOW);
const statementOf = (...rows: string[]) => {
  const parsed = parse(...rows);
  if ('faults' in parsed) throw new Error(parsed.faults.join('\n'));
  return parsed.statement;
};
const faultsOf = (...rows: string[]) => {
  const parsed = parse(...rows);
  return 'faults' in parsed ? parsed.faults : [];
};

describe('a statement of the payment service', () => {
  test('tells what took, held or sent money by reference, and by subscription', () => {
    const statement = statementOf(
      row({ additional: 'field' }),
      '',
      row({ kind: 'authorization', status: 'Pending', transaction_id: 'tx-2', payment_id: 'pay-2' }),
      row({ reconciliation_id: 'club-7.2.1', transaction_id: 'tx-3', payment_id: 'pay-3' }),
      row({ reconciliation_id: 'club-7.2.2', transaction_id: 'tx-4', payment_id: 'pay-4', status: 'Failed' }),
    );
    const entry = { amount: 1095, currency: 'USD' };
    expect(statement.entries.get('order-1')).toEqual([
      { ...entry, kind: 'charge', status: 'Succeed', paymentId: 'pay-1', transactionId: 'tx-1' },
      { ...entry, kind: 'authorization', status: 'Pending', paymentId: 'pay-2', transactionId: 'tx-2' },
    ]);
    expect(statement.bills.get('club-7')?.map(({ transactionId }) => transactionId)).toEqual(['tx-3', 'tx-4']);
    expect([...statement.paymentIds]).toEqual(['pay-1', 'pay-2', 'pay-3', 'pay-4']);
  });

  test('leaves captures, voids and refunds out, which need no reference and no sum of their own', () => {
    const { reconciliation_id: _reference, amount: _amount, currency: _currency, ...rest } = ROW;
    const later = ['capture', 'void', 'refund'].map((kind) => JSON.stringify({ ...rest, kind, transaction_id: kind }));
    expect(statementOf(...later)).toMatchObject({ entries: new Map(), paymentIds: new Set() });
  });

  test('takes a line that stands in it twice once, and refuses one that stands otherwise', () => {
    expect(statementOf(row(), row()).entries.get('order-1')).toHaveLength(1);
    expect(faultsOf(row(), row({ status: 'Failed' }))).toEqual([
      'line 3: transaction "tx-1" stands otherwise in line 2',
    ]);
  });

  test('reads nothing of a chargeback, which may have the id of what is disputed, and a line for each change', () => {
    const dispute = (change: object = {}) =>
      JSON.stringify({ kind: 'chargeback', amount: 500, currency: 'USD', transaction_id: 'tx-1', ...change });
    const own = { transaction_id: 'cb-1', payment_id: 'pay-1' };
    const all = [
      dispute({ status: 'Pending' }),
      row(),
      dispute(),
      dispute({ ...own, status: 'Pending' }),
      dispute({ ...own, status: 'Failed' }),
      dispute({ transaction_id: undefined, reconciliation_id: 'order-1' }),
    ];
    const statement = statementOf(...all);
    expect(statement).toEqual(statementOf(row()));
    expect(parseReconcilable(lines(HEADER, ...all), { now: NOW })).toHaveProperty('statement');
  });

  test('is refused with every fault of every line', () => {
    const { reconciliation_id: _none, ...nameless } = ROW;
    const faults = faultsOf(
      'kind;status',
      '[]',
      row({ kind: 'loan', status: 'Done', payment_id: 7 }),
      JSON.stringify(nameless),
      row({ reconciliation_id: 'order-1 ', amount: 10.95, currency: '' }),
      row({ reconciliation_id: null }),
      row({ transaction_id: 'tx-9' }),
    );
    expect(faults).toEqual([
      'line 2: is no JSON object',
      'line 3: is no JSON object',
      expect.stringContaining('line 4: kind "loan" is unknown: use one of charge'),
      expect.stringContaining('line 4: status "Done" is unknown: use one of Pending'),
      'line 4: payment_id must be a text',
      expect.stringContaining('line 5: reconciliation_id is missing, or nobody can tell whose money it is'),
      'line 6: reconciliation_id must not be empty, nor begin or end with a space',
      'line 6: amount must be a whole number of minor units above 0',
      'line 6: currency "" is not an ISO 4217 currency code, such as USD',
      expect.stringContaining('line 7: reconciliation_id must be a text, or nobody'),
    ]);
  });

  test('is refused for a currency that a reconciliation refuses in the same file', () => {
    const { currency: _none, ...bare } = ROW;
    for (const currency of ['usd', 'US dollars', ' USD', 7, undefined]) {
      const line = JSON.stringify({ ...bare, currency });
      const [fault, ...others] = faultsOf(line);
      expect(fault).toMatch(/^line 2: currency (".*" is not an ISO 4217|must be a text$|is missing$)/);
      expect(others).toEqual([]);
      if (currency === undefined) continue;
      expect(parseReconcilable(lines(HEADER, line), { now: NOW })).toEqual({ faults: [fault] });
    }
  });

  test.each(['', '[]', '{"covers":7}', '{"covers":"a,b","more":1}', row()])(
    'that begins with %j does not say what it covers, and is refused',
    (header) => {
      const parsed = parseStatement(lines(header, row({ amount: -1 })), NOW);
      const faults = 'faults' in parsed ? parsed.faults : [];
      expect(faults[0]).toContain('must be {"covers":"<from>,<until>"}');
      expect(faults.at(-1)).toContain(header === '' ? 'line 2' : 'amount must be');
    },
  );

  test('that covers what is still to come is refused', () => {
    const parsed = parseStatement('{"covers":"2027-01-31T08:00:00Z,2027-02-01T08:00:00Z"}', NOW);
    expect(parsed).toEqual({ faults: ['line 1: covers: <until> is still to come'] });
  });

  test('must cover the lost time, and 15 minutes more', () => {
    const from = Date.parse('2027-01-31T08:00:00Z');
    const until = Date.parse('2027-01-31T10:45:00Z');
    expect(whyNotCovered(statementOf(), { from, until })).toBeUndefined();
    expect(whyNotCovered(statementOf(), { from: from - 1, until })).toContain('it covers 2027-01-31T08:00:00.000Z,');
    expect(whyNotCovered(statementOf(), { from, until: until + 1 })).toContain('must cover 2027-01-31T08:00:00.000Z,');
  });

  test('shows money unless everything has failed', () => {
    const of = (...statuses: string[]) =>
      statementOf(...statuses.map((status, index) => row({ status, transaction_id: `tx-${index}` }))).entries.get(
        'order-1',
      ) ?? [];
    expect(hasMoney([])).toBe(false);
    expect(hasMoney(of('Failed', 'Failed'))).toBe(false);
    expect(hasMoney(of('Failed', 'Pending'))).toBe(true);
    expect(hasMoney(of('Succeed', 'Failed'))).toBe(true);
  });
});
