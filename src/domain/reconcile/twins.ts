import { isFirst, type Match, type Row } from './match.js';

/**
 * The charge or credit of the same request beside one that a flow has adopted by its id: to follow a transaction of others
 * makes it none of those that the request was for.
 */
export function twinsOfAdopted(
  { pairs }: Match,
  twins: ReadonlyMap<string, readonly Row[]>,
): (row: Row) => Row | undefined {
  const adopted = new Set(pairs.flatMap(({ row, claim }) => (claim.kind === undefined ? [row] : [])));
  return (row) => {
    if (!adopted.has(row) || !isOnce(row)) return undefined;
    const alike = row.status === 'Succeed' ? (twins.get(intentOf(row)) ?? []) : [];
    const first = alike.find((each) => !adopted.has(each)) ?? alike[0];
    return first === row ? undefined : first;
  };
}

/** A hold that is held again has several authorizations, each in its turn. */
export function isOnce({ kind }: Row): boolean {
  return kind === 'charge' || kind === 'credit';
}

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
