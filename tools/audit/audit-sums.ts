import { describeEntries, groupBy, type LedgerEntry, movements } from './ledger.js';
import type { Movement } from './payment-record.js';

/** An intent is one idempotency key, or one merchant reference. A further attempt of a command has another key. */
export function movedTwice(entries: readonly LedgerEntry[]): string[] {
  const moved = movements(entries);
  const byKey = groupBy(moved, ({ idempotency_key: key }) => intentOf(key));
  const byReference = groupBy(moved, ({ kind, reconciliation_id: id }) => (kind === 'void' ? kind : `${kind} ${id}`));
  return [...byKey, ...byReference]
    .filter(([name, list]) => name !== undefined && list.length > 1)
    .map(([name, list]) => `money moved ${list.length} times for one ${name}: ${describeEntries(list)}`);
}

function intentOf(key: string | null): string | undefined {
  return key?.replace(/^(payment-actions-.*)-\d+$/, '$1');
}

/** Compares what was authorized, captured, voided and refunded of one payment. */
export function differencesFromSums(entries: readonly LedgerEntry[]): string[] {
  const sum = (...kinds: Movement[]): number =>
    movements(entries)
      .filter(({ kind }) => kinds.some((one) => one === kind))
      .reduce((total, { amount }) => total + amount, 0);
  const authorized = sum('authorization');
  const captured = sum('capture');
  const taken = captured + sum('charge');
  const refunded = sum('refund');
  const voided = sum('void');
  return [
    ...(captured > authorized ? [`captured ${captured}, but only ${authorized} were authorized`] : []),
    ...(refunded > taken ? [`refunded ${refunded}, but only ${taken} were taken`] : []),
    // The service offers no void after a capture.
    // Some providers release what a capture leaves of a hold.
    ...(authorized === 0 && voided > 0 && taken > 0 ? [`charged ${taken} and voided ${voided}`] : []),
    ...(authorized > 0 && voided > 0 && captured + voided > authorized
      ? [`captured ${captured} and voided ${voided}`]
      : []),
    ...(authorized > 0 && captured === 0 && voided === 0
      ? [`${authorized} are still held: ${describeEntries(entries)}`]
      : []),
  ];
}
