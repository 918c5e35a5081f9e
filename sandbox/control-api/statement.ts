import type { FastifyInstance } from 'fastify';
import type { Sandbox } from '../context.js';
import type { Transaction } from '../records.js';
import { ControlError } from './control-route.js';
import { chargebackOf, entriesOf, inEnvironment, type LedgerEntry } from './ledger.js';

/** The fields of a line, in the order of the columns of CSV. */
const FIELDS = [
  'reconciliation_id',
  'kind',
  'status',
  'amount',
  'currency',
  'payment_id',
  'transaction_id',
  'created',
  'settled',
] as const;

type Line = Record<(typeof FIELDS)[number], string | number | null>;

interface StatementQuery {
  from?: string;
  until?: string;
  format?: string;
  app_id?: string;
  env?: string;
}

/**
 * The statement that a payment service exports for its merchant's bookkeeping: every transaction that was made from `from`
 * until `until`, with its present status, and every chargeback, as lines of JSON or as CSV.
 */
export function statementRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  app.get<{ Querystring: StatementQuery }>('/statement', async ({ query }, reply) => {
    const from = instantOf('from', query.from) ?? firstOf(sandbox);
    const now = sandbox.clock.now();
    // A time that is still to come has transactions that nobody has made yet.
    const until = Math.min(instantOf('until', query.until) ?? now, now);
    const { format = 'jsonl', app_id: appId } = query;
    const isOfEnvironment = inEnvironment(query.env);
    if (format !== 'jsonl' && format !== 'csv') throw new ControlError(400, ['format: must be jsonl or csv']);
    if (from >= until) throw new ControlError(400, ['from: must be before until, and before now']);
    const { store } = sandbox;
    const lines = [...store.payments.values()]
      .filter((payment) => (appId === undefined || payment.appId === appId) && isOfEnvironment(payment))
      .flatMap((payment) => [...entriesOf(sandbox, payment), ...chargebackOf(sandbox, payment)])
      .filter(({ created }) => Number(created) >= from && Number(created) < until)
      .map((entry) => lineOf(entry, store.transactions.get(entry.transaction_id)));
    // One unit's statement must not pass for the whole: what others have made would count as not made.
    const units = appId === undefined ? {} : { business_units: [appId] };
    const header = JSON.stringify({ covers: `${iso(from)},${iso(until)}`, ...units });
    return format === 'csv'
      ? reply.type('text/csv; charset=utf-8').send(asCsv(header, lines))
      : reply.type('application/jsonl; charset=utf-8').send(asJsonLines(header, lines));
  });
}

/** Just before the first payment was made. An update under its key moves a payment's `created` forward. */
function firstOf({ store, clock }: Sandbox): number {
  let first = clock.now();
  for (const { created } of store.payments.values()) first = Math.min(first, created);
  return first - 1;
}

function lineOf(entry: LedgerEntry, transaction: Transaction | undefined): Line {
  const { idempotency_key: _key, created, ...shown } = entry;
  const settled = transaction?.settled;
  return { ...shown, created: iso(Number(created)), settled: settled === undefined ? null : iso(settled) };
}

/** What a line does not have is left out. */
function asJsonLines(header: string, lines: readonly Line[]): string {
  const rows = lines.map((line) => {
    const given = FIELDS.flatMap((name) => (line[name] === null ? [] : [[name, line[name]] as const]));
    return JSON.stringify(Object.fromEntries(given));
  });
  return `${[header, ...rows].join('\n')}\n`;
}

function asCsv(header: string, lines: readonly Line[]): string {
  const rows = lines.map((line) => FIELDS.map((name) => cell(line[name])).join(','));
  return `${[`# ${header}`, FIELDS.join(','), ...rows].join('\n')}\n`;
}

function cell(value: string | number | null): string {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function instantOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (/^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(time)) return time;
  throw new ControlError(400, [`${name}: must be an instant, such as 2027-01-31T09:00:00Z`]);
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
