import { showMoney } from '../domain/money.js';
import { goesOn, wasStopped, type FlowRow } from './flow-row.js';

/** Pads columns to their widest cell, two spaces apart. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const HEAD = ['REFERENCE', 'TYPE', 'STATUS', 'WAITING FOR', 'SINCE (UTC)', 'DUE AT (UTC)', 'AMOUNT', ''];

/** A table with one line per flow. */
export function flowTable(rows: readonly FlowRow[]): string[] {
  const cells = rows.map((row) => [
    printable(row.reference),
    printable(row.type),
    printable(row.status ?? '-'),
    printable(row.waitingFor ?? '-'),
    time(row.since),
    row.dueAt === null ? '-' : time(row.dueAt),
    moneyOf(row) ?? '-',
    remarks(row).join(', '),
  ]);
  return table([HEAD, ...cells]);
}

/** Conditions of a flow that need a person's attention. */
export function remarks(row: FlowRow): string[] {
  return [
    row.needsOperator ? 'needs an operator' : '',
    row.overdue ? 'past due' : '',
    wasStopped(row) ? `${row.execution === 'timedOut' ? 'timed out' : row.execution}: nobody follows it` : '',
    row.execution === 'paused' ? 'paused in Temporal' : '',
    row.status === null && !goesOn(row) && !wasStopped(row) ? row.execution : '',
  ].filter((text) => text !== '');
}

/** Amount as "10.95 USD"; undefined if it is not known. */
export function moneyOf({
  amount,
  currency,
}: {
  amount?: number | undefined;
  currency?: string | undefined;
}): string | undefined {
  if (amount === undefined || currency === undefined) return undefined;
  try {
    return showMoney(amount, currency);
  } catch {
    // A flow that was started without the client may have any text as its currency.
    return `${amount} ${printable(currency)} (minor units)`;
  }
}

/** Time in UTC, as "2026-11-21 14:50:03". */
export function time(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

/** Replaces control characters: anyone who can start a workflow chooses its id and type, which are printed here. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
}

/** JSON output for scripts. */
export function asJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function asLines(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
