import { isFirst, type Match, type Row } from './match.js';

/** Those that a flow has adopted by their id: to follow a transaction of others makes it none of those asked for. */
const adoptedRows = ({ pairs }: Match): Row[] =>
  pairs.flatMap(({ row, claim }) => (claim.kind === undefined ? [row] : []));

/** The charge or credit of the same request beside one that was adopted. */
export function twinsOfAdopted(
  matched: Match,
  twins: ReadonlyMap<string, readonly Row[]>,
): (row: Row) => Row | undefined {
  const adopted = new Set(adoptedRows(matched));
  return (row) => {
    if (!adopted.has(row) || !isOnce(row) || row.status !== 'Succeed') return undefined;
    const [first] = twins.get(intentOf(row)) ?? [];
    return first === row ? undefined : first;
  };
}

/** A hold that is held again has several authorizations, each in its turn. */
export function isOnce({ kind }: Row): boolean {
  return kind === 'charge' || kind === 'credit';
}

/** Those that succeeded, by what they were asked for: those that were adopted last, since each is one too many beside another. */
export function groupedByIntent(matched: Match, known: Iterable<Row>): Map<string, Row[]> {
  const adopted = new Set(adoptedRows(matched));
  const rows = [...matched.pairs.map(({ row }) => row), ...known].filter(({ status }) => status === 'Succeed');
  const groups = new Map<string, Row[]>();
  for (const row of [...rows.filter((each) => !adopted.has(each)), ...rows.filter((each) => adopted.has(each))])
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
