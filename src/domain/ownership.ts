import type { TransactionRecord } from '../contract/transaction.js';

export type Search = { found: TransactionRecord } | { found: undefined; ambiguous?: string[] };

/**
 * Finds our transaction among those of a payment that our flow created: first by the echoed key, which is certain, then
 * by the reconciliation id. Nobody else writes to this payment, so a single transaction is ours even if the service
 * echoes neither. Several indistinguishable ones are ambiguous: never guess.
 */
export function findOurs(
  records: readonly TransactionRecord[],
  own: { key: string; reconciliationId?: string | undefined },
): Search {
  const byKey = records.filter((record) => record.holdfastKey === own.key);
  if (byKey.length > 0) return one(byKey);
  const unclaimed = records.filter((record) => record.holdfastKey === undefined);
  const byReference =
    own.reconciliationId === undefined
      ? []
      : unclaimed.filter((record) => record.reconciliationId === own.reconciliationId);
  if (byReference.length > 0) return one(byReference);
  const nameless = one(unclaimed.filter((record) => record.reconciliationId === undefined));
  if (nameless.found !== undefined || records.length === 0) return nameless;
  // Ours with an echo that was cut or changed looks like this: it must never count as absence.
  return { found: undefined, ambiguous: records.map((record) => record.transactionId) };
}

/** True if the echo shows that it is foreign. Only where others may write to the payment: an echo can be cut. */
export function isForeign(
  { holdfastKey, reconciliationId }: TransactionRecord,
  own: { key: string; reconciliationId?: string | undefined },
): boolean {
  if (holdfastKey !== undefined) return holdfastKey !== own.key;
  return (
    reconciliationId !== undefined && own.reconciliationId !== undefined && reconciliationId !== own.reconciliationId
  );
}

function one(records: readonly TransactionRecord[]): Search {
  const [first] = records;
  if (first === undefined) return { found: undefined };
  if (records.length === 1) return { found: first };
  return { found: undefined, ambiguous: records.map((record) => record.transactionId) };
}
