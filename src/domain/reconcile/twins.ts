import { isFirst, type Row } from './match.js';

/** Those that succeeded, by what they were asked for. */
export function groupedByIntent(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows.filter(({ status }) => status === 'Succeed'))
    groups.set(intentOf(row), [...(groups.get(intentOf(row)) ?? []), row]);
  return groups;
}

/**
 * A reference is charged, held or credited once; one of captures and refunds takes or gives one sum once. What names
 * neither its reference nor its payment is of a request of its own.
 */
export function intentOf(row: Row): string {
  const { kind, reconciliationId, paymentId, transactionId, amount, currency } = row;
  if (reconciliationId === undefined && paymentId === undefined) return [kind, 'alone', transactionId].join('\n');
  if (isFirst(row)) return [kind, reconciliationId ?? `payment ${paymentId}`].join('\n');
  return [kind, paymentId, reconciliationId, amount, currency].join('\n');
}
