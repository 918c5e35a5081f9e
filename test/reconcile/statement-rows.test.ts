import { describe, expect, test } from 'vitest';
import { parseReconcilable, type ReconcilableStatement } from '../../src/domain/reconcile/statement-rows.js';

const NOW = Date.parse('2027-02-01T12:00:00Z');
const COVERS = '2027-01-31T00:00:00Z,2027-02-01T00:00:00Z';
const HEADER = JSON.stringify({ covers: COVERS });
const LINE = {
  kind: 'charge',
  status: 'Succeed',
  amount: 1095,
  currency: 'USD',
  reconciliation_id: 'order-1',
  payment_id: 'pay-1',
  transaction_id: 'tx-1',
  created: '2027-01-31T10:00:00+01:00',
};
const ROW = {
  kind: 'charge',
  status: 'Succeed',
  amount: 1095,
  currency: 'USD',
  reconciliationId: 'order-1',
  paymentId: 'pay-1',
  transactionId: 'tx-1',
  created: Date.parse('2027-01-31T09:00:00Z'),
  settled: undefined,
};
const line = (change: object = {}): string => JSON.stringify({ ...LINE, ...change });
const text = (...lines: string[]): string => lines.join('\n');

function read(source: string, covers?: string): ReconcilableStatement {
  const parsed = parseReconcilable(source, { now: NOW, covers });
  if ('faults' in parsed) throw new Error(parsed.faults.join('\n'));
  return parsed.statement;
}
const faultsOf = (source: string, covers?: string): string[] => {
  const parsed = parseReconcilable(source, { now: NOW, covers });
  return 'faults' in parsed ? parsed.faults : [];
};

describe('a statement', () => {
  test('as JSON lines and as CSV says the same', () => {
    const csv = text(
      `# ${HEADER}`,
      'transaction_id,kind,status,amount,currency,reconciliation_id,payment_id,created,remark',
      'tx-1,charge,Succeed,1095,USD,order-1,pay-1,2027-01-31T10:00:00+01:00,"of a ""shop"", mine"',
      '',
      'tx-2,void,Succeed,,,order-1,pay-1,,',
    );
    const json = text(
      HEADER,
      line({ remark: 'of a shop' }),
      '',
      line({ kind: 'void', transaction_id: 'tx-2', created: undefined }),
    );
    const rows = [ROW, expect.objectContaining({ kind: 'void', amount: undefined, transactionId: 'tx-2' })];
    for (const source of [csv, json, csv.replaceAll('\n', '\r\n'), `\uFEFF${json}`]) {
      expect(read(source).rows).toEqual(rows);
      expect(read(source)).toMatchObject({ units: undefined, kinds: { size: 6 } });
    }
  });

  test('has sums in minor units, or as decimals of 0, 2 or 3 places', () => {
    const sums = [
      line({ amount: undefined, amount_decimal: '10.95' }),
      line({ amount: undefined, amount_decimal: '1095', currency: 'JPY', transaction_id: 'tx-2' }),
      line({ amount: undefined, amount_decimal: '1.095', currency: 'KWD', transaction_id: 'tx-3' }),
    ];
    expect(read(text(HEADER, ...sums)).rows.map(({ amount }) => amount)).toEqual([1095, 1095, 1095]);
  });

  test('says what it covers: in its first line, or whoever gives it', () => {
    const covers = { from: Date.parse('2027-01-31T00:00:00Z'), until: Date.parse('2027-02-01T00:00:00Z') };
    expect(read(line(), COVERS)).toMatchObject({ covers });
    const csv = text('kind,amount,currency,transaction_id', 'charge,1,USD,tx-1');
    expect(read(csv, COVERS)).toMatchObject({ covers, rows: [{ status: 'Succeed', amount: 1 }] });
    const header = JSON.stringify({ covers: COVERS, kinds: ['charge'], business_units: ['shop'] });
    expect(read(text(header, line()))).toMatchObject({ kinds: new Set(['charge']), units: new Set(['shop']) });
    expect(faultsOf(line())).toEqual([expect.stringMatching(/^line 1: must be {"covers":/)]);
    expect(faultsOf(text('{"covers":"today"}'))).toEqual([expect.stringMatching(/^line 1: covers: use two instants/)]);
  });

  test('has the service’s ids in either case, and a reconciliation id as it is written', () => {
    const id = '7B0E5C1A-9D1F-4E0B-8C55-0A1B2C3D4E5F';
    const both = { payment_id: id, transaction_id: id, reconciliation_id: id };
    const paymentId = id.toLowerCase();
    for (const kind of ['charge', 'chargeback']) {
      const { rows, chargebacks } = read(text(HEADER, line({ ...both, kind }), line({ transaction_id: 'TX-2' })));
      const [one] = [...chargebacks, ...rows];
      expect(one).toMatchObject({ paymentId, transactionId: paymentId, reconciliationId: id });
      expect(rows.at(-1)).toMatchObject({ transactionId: 'TX-2' });
    }
    expect(read(text(HEADER, line(both), line({ ...both, transaction_id: paymentId }))).rows).toHaveLength(1);
  });

  test('takes a transaction that stands in it twice once, and lines without an id as often as they stand', () => {
    expect(read(text(HEADER, line(), line())).rows).toHaveLength(1);
    const nameless = line({ transaction_id: undefined });
    expect(read(text(HEADER, nameless, nameless)).rows).toHaveLength(2);
  });
});

test('a chargeback is no movement of money by a flow, and stands beside the rows', () => {
  const { rows, chargebacks } = read(text(HEADER, line({ kind: 'chargeback', amount: 500 }), line({})));
  expect(rows).toHaveLength(1);
  expect(chargebacks).toMatchObject([{ amount: 500 }]);
});

test('a statement may have chargebacks alone, or beside other kinds, and no kind that there is not', () => {
  const kindsOf = (...kinds: string[]) => read(text(JSON.stringify({ covers: COVERS, kinds }))).kinds;
  expect(kindsOf('chargeback')).toEqual(new Set());
  expect(kindsOf('charge', 'chargeback')).toEqual(new Set(['charge']));
  for (const kinds of [['dispute'], []])
    expect(faultsOf(JSON.stringify({ covers: COVERS, kinds }))).toEqual([expect.stringMatching(/^line 1: must be/)]);
});

describe('a statement that can not be used', () => {
  test.each<[string, object, string]>([
    ['an unknown kind', { kind: 'reversal' }, 'kind "reversal" is unknown: use one of charge,'],
    ['no kind', { kind: undefined, transaction_id: 'x' }, 'kind is missing'],
    ['an unknown status', { status: 'Settled' }, 'status "Settled" is unknown: use one of Pending, Succeed, Failed'],
    ['a sum that is no number', { amount: '10,95' }, 'amount must be a number of minor units'],
    ['a fraction of a minor unit', { amount: 10.95 }, 'amount must be a whole number of minor units above 0'],
    ['a sum below nothing', { amount: -5 }, 'amount must be a whole number of minor units above 0'],
    ['a sum beyond what is exact', { amount: 2 ** 53 }, 'amount must be a whole number'],
    ['no sum', { amount: undefined }, 'amount is missing (minor units), or amount_decimal'],
    ['both sums', { amount_decimal: '10.95' }, 'amount and amount_decimal are both given'],
    [
      'decimals that the currency has not',
      { amount: undefined, amount_decimal: '10.955' },
      'amount_decimal 10.955 holds a fraction of the minor unit of USD',
    ],
    [
      'a decimal that is none',
      { amount: undefined, amount_decimal: '10,95' },
      'amount_decimal "10,95" is not a decimal number',
    ],
    ['nothing as a sum', { amount: undefined, amount_decimal: '0.00' }, 'amount_decimal "0.00" must be above 0'],
    ['no currency', { currency: undefined }, 'currency is missing'],
    ['an unknown currency', { currency: 'usd' }, 'currency "usd" is not an ISO 4217 currency code, such as USD'],
    [
      'no id at all',
      { transaction_id: undefined, reconciliation_id: undefined },
      'transaction_id and reconciliation_id are missing',
    ],
    [
      'an id with a space',
      { transaction_id: 'tx-1 ' },
      'transaction_id must not be empty, nor begin or end with a space',
    ],
    ['a status under another name', { Status: 'Failed', status: undefined }, '"Status" is no field: write status'],
    [
      'an id under another name',
      { reconciliation_id: undefined, reconciliationId: 'order-1' },
      '"reconciliationId" is no field: write reconciliation_id',
    ],
    ['an id that is no text', { payment_id: 17 }, 'payment_id must be a text'],
    ['a local time', { created: '2027-01-31 10:00' }, 'created "2027-01-31 10:00" is no instant with Z or an offset'],
    ['a day as a time', { settled: '2027-01-31' }, 'settled "2027-01-31" is no instant'],
  ])('for %s is refused, and says in which line and field', (_name, change, fault) => {
    expect(faultsOf(text(HEADER, line(), line({ transaction_id: 'tx-2', ...change })))).toEqual([
      expect.stringContaining(`line 3: ${fault}`),
    ]);
  });

  test('is told every fault of every line, and nothing of it is used', () => {
    const source = text(
      HEADER,
      line({ kind: 'x', currency: 'x' }),
      'not JSON',
      '[]',
      line({ amount: 0, transaction_id: 'tx-3' }),
    );
    expect(faultsOf(source).map((fault) => fault.split(' ').slice(0, 3).join(' '))).toEqual([
      'line 2: kind',
      'line 2: currency',
      'line 3: is',
      'line 4: is',
      'line 5: amount',
    ]);
  });

  test('is told which transaction stands in it otherwise', () => {
    expect(faultsOf(text(HEADER, line(), line({ amount: 1096 })))).toEqual([
      'line 3: transaction_id "tx-1" stands otherwise in line 2',
    ]);
  });

  test('as CSV is told the line of the file too', () => {
    const csv = text(`# ${HEADER}`, 'kind,amount,currency,transaction_id', 'charge,1,USD,tx-1', 'charge,1.5,USD,tx-2');
    expect(faultsOf(csv)).toEqual(['line 4: amount must be a number of minor units']);
    expect(faultsOf(text(`# ${HEADER}`, 'kind,amount,currency,amount', 'charge,1,USD,2'))).toEqual([
      'line 2: column "amount" stands twice',
    ]);
    expect(faultsOf(text('kind,amount', 'charge,1,USD'), COVERS)).toEqual([expect.stringMatching(/^line 2: .*Length/)]);
    expect(faultsOf(text('kind', '"charge'), COVERS)).toEqual([expect.stringMatching(/^line \d: .*Quote/)]);
  });

  test('of another kind of file is told the first hundred faults', () => {
    const faults = faultsOf(text(HEADER, ...Array.from({ length: 300 }, () => '{"a":1}')));
    expect(faults).toHaveLength(101);
    expect(faults.at(-1)).toMatch(/^and \d+ more$/);
  });

  test('without a line is refused as well', () => {
    expect(faultsOf('')).toEqual([expect.stringContaining('line 1: must be')]);
  });
});
