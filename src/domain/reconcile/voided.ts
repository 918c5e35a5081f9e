import type { TransactionKind } from '../../contract/records.js';
import type { Match, Row } from './match.js';

/**
 * The void by which others have taken back the money of a row. Where a void cancels what is captured too, the service leaves
 * the capture `Succeed` and shows the payment as `Voided`. A statement has no such status: there only voids for all that
 * its payment took and held say that a charge was among these.
 */
export function voidsOfOthers({ pairs, rows }: Match, known: ReadonlySet<Row>): (row: Row) => Row | undefined {
  const strangers = new Map<string, Row>();
  for (const row of rows)
    if (row.kind === 'void' && row.paymentId !== undefined && !known.has(row)) strangers.set(row.paymentId, row);
  const voided = voidedPayments([...pairs.map(({ row }) => row), ...rows], ['authorization', 'charge']);
  return ({ kind, paymentId = '', paymentStatus }) => {
    const isOfCharge = kind === 'charge' && paymentStatus === undefined && voided.has(paymentId);
    const isShown = (kind === 'charge' || kind === 'capture') && paymentStatus === 'Voided';
    return isOfCharge || isShown ? strangers.get(paymentId) : undefined;
  };
}

/** Payments with a void for each of their holds: with fewer one of them is still held. */
export function releasedPayments(rows: readonly Row[]): Set<string> {
  return voidedPayments(rows, ['authorization']);
}

function voidedPayments(rows: readonly Row[], kinds: readonly TransactionKind[]): Set<string> {
  const left = new Map<string, number>();
  for (const { kind, status, paymentId } of rows) {
    if (status !== 'Succeed' || paymentId === undefined) continue;
    const by = kinds.includes(kind) ? 1 : kind === 'void' ? -1 : 0;
    left.set(paymentId, (left.get(paymentId) ?? 0) + by);
  }
  return new Set([...left].filter(([, count]) => count <= 0).map(([paymentId]) => paymentId));
}
