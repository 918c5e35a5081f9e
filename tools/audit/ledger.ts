import type { SandboxControl } from '../../sandbox/control.js';
import type { Movement } from './payment-record.js';

/** One transaction in the sandbox's ledger. */
export type LedgerEntry = Awaited<ReturnType<SandboxControl['ledger']>>[number];

const MOVEMENTS: readonly string[] = ['charge', 'authorization', 'credit', 'capture', 'void', 'refund'];

/** Of a whole ledger the requests to move money: neither a risk analysis nor a chargeback is one. */
export function requestsOf(ledger: readonly LedgerEntry[]): LedgerEntry[] {
  return ledger.filter(({ kind }) => MOVEMENTS.includes(kind));
}

/** Transactions that succeeded, so money moved. */
export function movements(ledger: readonly LedgerEntry[]): LedgerEntry[] {
  return requestsOf(ledger).filter(({ status }) => status === 'Succeed');
}

export function describeEntry({ kind, status, amount, currency, transaction_id: id }: LedgerEntry): string {
  return `${kind} ${id} ${status} over ${amount} ${currency}`;
}

export function describeEntries(entries: readonly LedgerEntry[]): string {
  return entries.length === 0 ? 'nothing' : entries.map(describeEntry).join(' and ');
}

/**
 * Compares the entries, in their order, with the complete expected list, each written as in "charge Succeed 1000 USD".
 * Returns one sentence if they differ.
 */
export function differencesFromExpected(entries: readonly LedgerEntry[], expected: readonly string[]): string[] {
  const found = entries.map(({ kind, status, amount, currency }) => `${kind} ${status} ${amount} ${currency}`);
  if (found.join() === expected.join()) return [];
  return [`the ledger has ${found.join(' and ') || 'nothing'}, not ${expected.join(' and ') || 'nothing'}`];
}

/** `Map.groupBy`, which the oldest supported version of Node lacks. */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** A movement that no decline may leave behind. A hold may be: its void stands beside it. */
export const hasTaken = ({ kind, status }: LedgerEntry): boolean =>
  status === 'Succeed' && (kind === 'charge' || kind === 'capture' || kind === 'credit');

export function isVoidedBy(transactionId: string | undefined, entries: readonly LedgerEntry[]): boolean {
  return entries.some(
    ({ kind, status, transaction_id: id }) => kind === 'void' && status === 'Succeed' && id === transactionId,
  );
}

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

/**
 * Compares what was authorized, captured, voided and refunded of one payment.
 * @param hasLapsed its hold is over, although nothing in the ledger has ended it
 */
export function differencesFromSums(entries: readonly LedgerEntry[], hasLapsed = false): string[] {
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
    ...(authorized > 0 && captured === 0 && voided === 0 && !hasLapsed
      ? [`${authorized} are still held: ${describeEntries(entries)}`]
      : []),
  ];
}
