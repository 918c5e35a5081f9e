import { parse as parseCsv } from 'csv-parse/sync';
import { z } from 'zod';
import { businessUnitSchema, show, uuidSchema } from '../../contract/fields.js';
import { CHARGEBACK, TRANSACTION_KINDS, type TransactionKind } from '../../contract/records.js';
import { TRANSACTION_STATUSES } from '../../contract/statuses.js';
import { parseLostTime } from '../lost-time.js';
import { decimalToMinorUnits } from '../money.js';
import {
  currencyCode,
  fieldFaults,
  jsonLines,
  minorUnits,
  NO_OBJECT,
  objectOf,
  oneOf,
  type StatementLine,
  textOr,
} from '../statement-lines.js';
import type { Row } from './match.js';

/** Money that a card holder has had taken back. */
export type Chargeback = Omit<Row, 'kind'>;

/** A statement of the payment service or of an acquirer, with what it covers. */
export interface ReconcilableStatement {
  readonly rows: readonly Row[];
  readonly chargebacks: readonly Chargeback[];
  /** Epoch ms between which it has every transaction of `kinds` and `units`. One of chargebacks alone has no kinds. */
  readonly covers: { readonly from: number; readonly until: number };
  readonly kinds: ReadonlySet<TransactionKind>;
  /** Business units; undefined: all. */
  readonly units: ReadonlySet<string> | undefined;
}

const LINE_KINDS = [...TRANSACTION_KINDS, CHARGEBACK] as const;
/** Most faults that are told: a file of another kind has one in each line. */
const MOST_FAULTS = 100;
const HEADER =
  'must be {"covers":"<from>,<until>"}: the time for which this statement has every transaction. It may name "kinds" ' +
  'and "business_units" too, where it has those alone';

const text = textOr('').max(255, 'is longer than 255 characters');
/** A spreadsheet or an acquirer may write a UUID in capitals, which the service has in small letters. Other ids have a case. */
const serviceId = text.transform((value) => (uuidSchema.safeParse(value).success ? value.toLowerCase() : value));
const instant = z.iso
  .datetime({
    offset: true,
    error: ({ input }) => `${show(input)} is no instant with Z or an offset, such as 2027-01-31T09:00:00Z`,
  })
  .transform((value) => Date.parse(value));

/** Further fields are left alone. */
const rowSchema = z.object({
  kind: oneOf(LINE_KINDS),
  status: oneOf(TRANSACTION_STATUSES).default('Succeed'),
  amount: minorUnits.optional(),
  amount_decimal: z.string('must be a text, such as "10.95"').optional(),
  currency: currencyCode.optional(),
  reconciliation_id: text.optional(),
  payment_id: serviceId.optional(),
  transaction_id: serviceId.optional(),
  created: instant.optional(),
  settled: instant.optional(),
});

const headerSchema = z.strictObject({
  covers: z.string(),
  kinds: z.array(z.enum(LINE_KINDS)).min(1).optional(),
  business_units: z.array(businessUnitSchema.zod).min(1).optional(),
});

interface Options {
  /** Epoch ms. */
  now: number;
  /** `<from>,<until>`, where the file has no first line of its own that says so. */
  covers?: string | undefined;
}

/**
 * Parses a statement: JSON lines, or CSV with the names of the fields in its first line. What it covers stands in a line
 * before, after a `#` in CSV.
 * @returns every fault, each with its line and field, and nothing else if there is one
 */
export function parseReconcilable(
  source: string,
  { now, covers: given }: Options,
): { statement: ReconcilableStatement } | { faults: string[] } {
  const { header, lines, faults } = linesOf(source.replace(/^\uFEFF/, ''));
  const read = headerOf(header, given, now);
  if ('faults' in read) faults.push(...read.faults);
  const rows: Row[] = [];
  const chargebacks: Chargeback[] = [];
  const seen = new Map<string, { row: string; number: number }>();
  for (const { number, value } of lines) {
    const parsed = rowOf(value);
    if ('faults' in parsed) {
      faults.push(...parsed.faults.map((fault) => `line ${number}: ${fault}`));
      continue;
    }
    if ('chargeback' in parsed) {
      chargebacks.push(parsed.chargeback);
      continue;
    }
    const { row } = parsed;
    const written = JSON.stringify(row);
    const earlier = row.transactionId === undefined ? undefined : seen.get(row.transactionId);
    if (earlier !== undefined && earlier.row !== written)
      faults.push(
        `line ${number}: transaction_id ${show(row.transactionId)} stands otherwise in line ${earlier.number}`,
      );
    if (earlier !== undefined) continue;
    if (row.transactionId !== undefined) seen.set(row.transactionId, { row: written, number });
    rows.push(row);
  }
  if (faults.length > MOST_FAULTS)
    return { faults: [...faults.slice(0, MOST_FAULTS), `and ${faults.length - MOST_FAULTS} more`] };
  if (faults.length > 0 || 'faults' in read) return { faults };
  return { statement: { ...read, rows, chargebacks } };
}

interface Lines {
  /** The first line, if it says what the statement covers. */
  header: string | undefined;
  lines: Omit<StatementLine, 'line'>[];
  faults: string[];
}

function linesOf(source: string): Lines {
  const first =
    source
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? '';
  return first.startsWith('{') ? ofJson(source) : ofCsv(source);
}

function ofJson(source: string): Lines {
  const all = jsonLines(source);
  const hasHeader = all[0]?.value !== undefined && !('kind' in all[0].value);
  return { header: hasHeader ? all[0]?.line : undefined, lines: hasHeader ? all.slice(1) : all, faults: [] };
}

function ofCsv(source: string): Lines {
  const [, mark, rest = ''] = /^\s*(#[^\n]*)(?:\n([^]*))?$/.exec(source) ?? [];
  const offset = mark === undefined ? 0 : source.slice(0, source.indexOf(mark)).split('\n').length;
  const header = mark?.slice(1).trim();
  try {
    const records: unknown = parseCsv(mark === undefined ? source : rest, {
      columns: onceEach,
      info: true,
      trim: true,
      skip_empty_lines: true,
    });
    const lines = (records as { info: { lines: number }; record: Record<string, string> }[]).map(
      ({ info, record }) => ({
        number: info.lines + offset,
        value: Object.fromEntries(Object.entries(record).flatMap(([name, cell]) => cellOf(name, cell))),
      }),
    );
    return { header, lines, faults: [] };
  } catch (error) {
    const { lines = 1, message } = error as Error & { lines?: number };
    return {
      header,
      lines: [],
      faults: [`line ${lines + offset}: ${message.replace(/ on line \d+|at line \d+/g, '')}`],
    };
  }
}

/** Of two columns with one name the last would count. */
function onceEach(names: string[]): string[] {
  const twice = names.find((name, at) => name !== '' && names.indexOf(name) < at);
  if (twice !== undefined) throw new Error(`column ${show(twice)} stands twice`);
  return names;
}

/** An empty cell is none. */
function cellOf(name: string, cell: string): [string, unknown][] {
  if (cell === '') return [];
  return [[name, name === 'amount' && /^-?\d+$/.test(cell) ? Number(cell) : cell]];
}

function headerOf(
  line: string | undefined,
  given: string | undefined,
  now: number,
): Omit<ReconcilableStatement, 'rows' | 'chargebacks'> | { faults: string[] } {
  const header = headerSchema.safeParse(line === undefined ? { covers: given } : objectOf(line));
  if (!header.success) return { faults: [`line 1: ${HEADER}`] };
  const { covers: own, kinds = TRANSACTION_KINDS, business_units: units } = header.data;
  const covers = parseLostTime(given ?? own, now);
  if ('faults' in covers) return { faults: covers.faults.map((fault) => `line 1: covers: ${fault}`) };
  const listed = kinds.filter((kind) => kind !== CHARGEBACK);
  return { covers: covers.lost, kinds: new Set(listed), units: units === undefined ? undefined : new Set(units) };
}

function rowOf(value: object | undefined): { row: Row } | { chargeback: Chargeback } | { faults: string[] } {
  if (value === undefined) return { faults: [NO_OBJECT] };
  const parsed = rowSchema.safeParse(value);
  const misspelt = Object.keys(value).flatMap((name) => misspellingOf(name, value));
  if (!parsed.success || misspelt.length > 0) {
    return { faults: [...misspelt, ...(parsed.error === undefined ? [] : fieldFaults(parsed.error))] };
  }
  const { kind, status, currency, created, settled, amount_decimal: decimal } = parsed.data;
  const { reconciliation_id: reconciliationId, payment_id: paymentId, transaction_id: transactionId } = parsed.data;
  const faults: string[] = [];
  if (reconciliationId === undefined && transactionId === undefined)
    faults.push('transaction_id and reconciliation_id are missing: one of them says whose money it is');
  const amount = amountOf(parsed.data.amount, decimal, currency, kind, faults);
  if (faults.length > 0) return { faults };
  const moved = { amount, currency, reconciliationId, paymentId, transactionId, created, settled };
  return kind === CHARGEBACK ? { chargeback: { status, ...moved } } : { row: { kind, status, ...moved } };
}

const bare = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, '');
const FIELDS = new Map(Object.keys(rowSchema.shape).map((name) => [bare(name), name]));

/** Left alone like any further field, a `Status` would be missing: what has failed would count as money. */
function misspellingOf(name: string, line: object): string[] {
  const field = FIELDS.get(bare(name));
  return field === undefined || Object.hasOwn(line, field) ? [] : [`${show(name)} is no field: write ${field}`];
}

function amountOf(
  amount: number | undefined,
  decimal: string | undefined,
  currency: string | undefined,
  kind: TransactionKind | typeof CHARGEBACK,
  faults: string[],
): number | undefined {
  if (amount !== undefined && decimal !== undefined) faults.push('amount and amount_decimal are both given: give one');
  if (kind === 'void') return undefined;
  if (currency === undefined) faults.push('currency is missing');
  if (amount === undefined && decimal === undefined)
    faults.push('amount is missing (minor units), or amount_decimal, such as "10.95"');
  if (decimal === undefined || currency === undefined) return amount;
  try {
    const exact = decimalToMinorUnits(decimal, currency);
    if (exact > 0) return exact;
    faults.push(`amount_decimal ${show(decimal)} must be above 0`);
  } catch (error) {
    faults.push(`amount_decimal ${(error as Error).message}`);
  }
  return undefined;
}
