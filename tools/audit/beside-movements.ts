import { groupBy, type LedgerEntry, movements } from './ledger.js';
import type { PaymentRecord } from './payment-record.js';

/** What a whole ledger has beside the requests to move money. */
export interface Beside {
  chargebacks: readonly LedgerEntry[];
  /** Holds that their provider has released. */
  lapses: readonly LedgerEntry[];
  /** By the reference of their payment. */
  analyses: ReadonlyMap<string | null, readonly LedgerEntry[]>;
}

export function besideMovements(ledger: readonly LedgerEntry[]): Beside {
  const ofKind = (wanted: string): LedgerEntry[] => ledger.filter(({ kind }) => kind === wanted);
  return {
    chargebacks: ofKind('chargeback'),
    lapses: ofKind('lapse'),
    analyses: groupBy(ofKind('risk-analysis'), ({ reconciliation_id: reference }) => reference),
  };
}

/** @param entries of the record's payments */
export function differencesBeside(record: PaymentRecord, entries: readonly LedgerEntry[], beside: Beside): string[] {
  return [...givenBackTwice(record, entries, beside), ...analysedTwice(record, beside), ...notLapsed(record, beside)];
}

/** Whether its flow says that the hold has lapsed, and the provider has released it. */
export function hasLapsed({ outcome }: PaymentRecord, { lapses }: Beside): boolean {
  if (outcome?.status !== 'expired') return false;
  return lapses.some(({ transaction_id: id }) => id === outcome.authorizationId);
}

function notLapsed(record: PaymentRecord, beside: Beside): string[] {
  if (record.outcome?.status !== 'expired' || hasLapsed(record, beside)) return [];
  return ['its flow says that the hold has lapsed, which its provider has not released'];
}

/** What a card holder has had taken back must not be refunded too, unless a person has said so. */
function givenBackTwice(
  { operations }: PaymentRecord,
  entries: readonly LedgerEntry[],
  { chargebacks }: Beside,
): string[] {
  if (operations.some(({ confirmsDispute }) => confirmsDispute === true)) return [];
  return [...groupBy(movements(entries), ({ payment_id: id }) => id)].flatMap(([id, ofPayment]) => {
    const chargeback = chargebacks.find((one) => one.payment_id === id);
    if (chargeback === undefined) return [];
    const sum = (...kinds: string[]): number =>
      ofPayment.filter(({ kind }) => kinds.includes(kind)).reduce((total, { amount }) => total + amount, 0);
    const [refunded, taken] = [sum('refund'), sum('charge', 'capture')];
    // What was refunded before the dispute is nobody's fault but the bank's.
    const isLater = ofPayment.some(
      ({ kind, created }) => kind === 'refund' && Number(created) > Number(chargeback.created),
    );
    if (!isLater || refunded + chargeback.amount <= taken) return [];
    return [`refunded ${refunded} and was charged back ${chargeback.amount}, but only ${taken} were taken`];
  });
}

function analysedTwice({ reference }: PaymentRecord, { analyses }: Beside): string[] {
  const made = analyses.get(reference) ?? [];
  if (made.length < 2) return [];
  return [`was analysed ${made.length} times: ${made.map(({ transaction_id: id }) => id).join(' and ')}`];
}
