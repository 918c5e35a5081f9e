import { z } from 'zod';
import { show } from '../contract/fields.js';
import { subscriptionOfAttempt } from '../contract/names.js';
import { CHARGEBACK, TRANSACTION_KINDS } from '../contract/records.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../contract/statuses.js';
import { type LostTime, parseLostTime, showLostTime } from './lost-time.js';
import { currencyCode, fieldFaults, jsonLines, minorUnits, NO_OBJECT, oneOf, textOr } from './statement-lines.js';

/** The operations that take, hold or send money first: all others follow one of these. */
const FIRST_KINDS = ['authorization', 'charge', 'credit'] as const;

/** One such operation as the payment service's own statement shows it. */
export interface StatementEntry {
  readonly kind: (typeof FIRST_KINDS)[number];
  readonly status: TransactionStatus;
  /** Minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly paymentId: string;
  readonly transactionId: string;
}

/** What the payment service says of its transactions, for a time of which the engine has forgotten some. */
export interface Statement {
  readonly covers: LostTime;
  /** By reconciliation id, which is the reference of the flow. */
  readonly entries: ReadonlyMap<string, readonly StatementEntry[]>;
  /** Those of all attempts to bill a subscription, by its reference. */
  readonly bills: ReadonlyMap<string, readonly StatementEntry[]>;
  readonly paymentIds: ReadonlySet<string>;
}

const text = textOr('');
const anyRow = z.object({
  kind: oneOf([...TRANSACTION_KINDS, CHARGEBACK]),
  status: oneOf(TRANSACTION_STATUSES),
  payment_id: text,
  transaction_id: text,
});
const firstRow = anyRow.extend({
  kind: oneOf(FIRST_KINDS),
  reconciliation_id: textOr(', or nobody can tell whose money it is; leave out what no flow of Holdfast has made'),
  amount: minorUnits,
  currency: currencyCode,
});
const headerSchema = z.strictObject({ covers: z.string() });
const HEADER = 'must be {"covers":"<from>,<until>"}: the time for which this statement has every transaction';

/**
 * Parses a statement: JSON lines, the first of which says what time it covers. Further fields are left alone. Everything
 * that took, held or sent money must name its reference, or a payment that was made would count as not made. Nothing is
 * read of a chargeback.
 * @param now epoch ms
 * @returns every fault of every line
 */
export function parseStatement(source: string, now: number): { statement: Statement } | { faults: string[] } {
  const [header, ...rows] = jsonLines(source);
  const faults: string[] = [];
  const covers = header === undefined ? undefined : coverOf(header.value, now);
  if (covers === undefined || 'faults' in covers)
    faults.push(...(covers?.faults ?? [HEADER]).map((fault) => `line ${header?.number ?? 1}: ${fault}`));
  const entries = new Map<string, StatementEntry[]>();
  const bills = new Map<string, StatementEntry[]>();
  const paymentIds = new Set<string>();
  const seen = new Map<string, { line: string; number: number }>();
  for (const { line, number, value } of rows) {
    // It takes nothing that could be lost, and may have the id of what is disputed, once for each change of the dispute.
    if (kindOf(value) === CHARGEBACK) continue;
    const row = parseRow(value);
    if ('faults' in row) {
      faults.push(...row.faults.map((fault) => `line ${number}: ${fault}`));
      continue;
    }
    const { reference, entry, transactionId } = row;
    const earlier = seen.get(transactionId);
    if (earlier !== undefined && earlier.line !== line) {
      faults.push(`line ${number}: transaction ${show(transactionId)} stands otherwise in line ${earlier.number}`);
    }
    seen.set(transactionId, { line, number });
    if (earlier !== undefined || entry === undefined) continue;
    paymentIds.add(entry.paymentId);
    add(entries, reference, entry);
    const subscription = subscriptionOfAttempt(reference);
    if (subscription !== undefined) add(bills, subscription, entry);
  }
  if (faults.length > 0 || covers === undefined || 'faults' in covers) return { faults };
  return { statement: { covers: covers.lost, entries, bills, paymentIds } };
}

function add(to: Map<string, StatementEntry[]>, key: string, entry: StatementEntry): void {
  const known = to.get(key);
  if (known === undefined) to.set(key, [entry]);
  else known.push(entry);
}

function coverOf(value: object | undefined, now: number): ReturnType<typeof parseLostTime> {
  const header = headerSchema.safeParse(value);
  if (!header.success) return { faults: [HEADER] };
  const covers = parseLostTime(header.data.covers, now);
  return 'lost' in covers ? covers : { faults: covers.faults.map((fault) => `covers: ${fault}`) };
}

const kindOf = (value: object | undefined): unknown => (value as { kind?: unknown } | undefined)?.kind;

type Row = { transactionId: string; reference: string; entry: StatementEntry | undefined };

function parseRow(value: object | undefined): Row | { faults: string[] } {
  if (value === undefined) return { faults: [NO_OBJECT] };
  const isFirst = FIRST_KINDS.some((kind) => kind === kindOf(value));
  const parsed = (isFirst ? firstRow : anyRow).safeParse(value);
  if (!parsed.success) return { faults: fieldFaults(parsed.error) };
  const row = parsed.data as z.output<typeof anyRow> & Partial<z.output<typeof firstRow>>;
  const { kind, status, amount = 0, currency = '', reconciliation_id: reference = '' } = row;
  const transactionId = row.transaction_id;
  const common = { status, amount, currency, paymentId: row.payment_id, transactionId };
  return {
    transactionId,
    reference,
    entry: isFirst ? { kind: kind as StatementEntry['kind'], ...common } : undefined,
  };
}

/** A transaction that was seen in the midst of its call is listed by then. */
const LATEST_LISTED_MS = 15 * 60_000;

/** Why the statement can't tell what was done in the lost time; undefined if it can. */
export function whyNotCovered({ covers }: Statement, lost: LostTime): string | undefined {
  if (covers.from <= lost.from && covers.until >= lost.until + LATEST_LISTED_MS) return undefined;
  const wanted = showLostTime({ from: lost.from, until: lost.until + LATEST_LISTED_MS });
  return (
    `it covers ${showLostTime(covers)}, and must cover ${wanted}: the lost time, and the 15 minutes in which a call ` +
    'that was under way at its end may still come to be listed'
  );
}

/** True if any of them may have moved or held money: only a failed one has certainly not. */
export function hasMoney(entries: readonly StatementEntry[]): boolean {
  return entries.some(({ status }) => status !== 'Failed');
}
