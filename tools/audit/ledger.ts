import type { SandboxControl } from '../../sandbox/control.js';

/** One transaction in the sandbox's ledger. */
export type LedgerEntry = Awaited<ReturnType<SandboxControl['ledger']>>[number];

/** Transactions that succeeded, so money moved. */
export function movements(ledger: readonly LedgerEntry[]): LedgerEntry[] {
  return ledger.filter(({ status }) => status === 'Succeed');
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
