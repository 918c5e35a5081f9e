import { WORKFLOW_TYPES } from '../contract/names.js';
import type { MadeTransactions } from '../contract/payment-actions.js';
import type { TransactionRecord } from '../contract/records.js';

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
  const nameless = one(records.filter(isNameless));
  if (nameless.found !== undefined || records.length === 0) return nameless;
  // Ours with an echo that was cut or changed looks like this: it must never count as absence.
  return { found: undefined, ambiguous: records.map((record) => record.transactionId) };
}

/** True if it echoes nothing that tells whose it is. */
export function isNameless({ holdfastKey, reconciliationId }: TransactionRecord): boolean {
  return holdfastKey === undefined && reconciliationId === undefined;
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

/** Stands in for a transaction's id that a result doesn't name. */
export const UNKNOWN_ID = 'of unknown id';

type Result = Readonly<Record<string, unknown>>;

/**
 * The transactions that a flow's result proves, in the form of the service's lists; undefined if the result has no
 * payment id or is not of a known kind. Excludes transactions that others made on the payment.
 */
export function madeByFlow(workflowType: string | undefined, result: unknown): MadeTransactions | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const outcome = result as Result;
  const paymentId = text(outcome['paymentId']);
  const amount = outcome['amount'];
  if (paymentId === undefined || typeof amount !== 'number') return undefined;
  const made = { paymentId, authorizations: [], charges: [], captures: [], refunds: [], voids: [] };
  const one = (id: unknown, sum = amount): TransactionRecord[] => [
    { transactionId: text(id) ?? UNKNOWN_ID, status: 'Succeed', amount: sum },
  ];
  switch (workflowType) {
    case WORKFLOW_TYPES.charge:
      return outcome['status'] === 'succeeded'
        ? { ...made, charges: one(outcome['transactionId']), ...despite(outcome, one) }
        : made;
    case WORKFLOW_TYPES.authorizeAndCapture:
      return { ...made, ...ofHold(outcome, one) };
    case WORKFLOW_TYPES.storeCard:
      return { ...made, ...ofConsent(outcome, one) };
    default:
      return undefined;
  }
}

type One = (id: unknown, sum?: number) => TransactionRecord[];

function ofHold(outcome: Result, one: One): Partial<MadeTransactions> {
  const { status, transactionId, authorizationId, capturedAmount, released } = outcome;
  const authorizations = one(authorizationId);
  // Either way, nothing is left to capture or void.
  if (status === 'voided' || status === 'expired') return { authorizations, voids: one(transactionId) };
  if (status !== 'captured' || typeof capturedAmount !== 'number') return {};
  const captures = one(transactionId, capturedAmount);
  const both = despite(outcome, one);
  if (both !== undefined) return { authorizations, captures, ...both };
  const rest = (released as Result | undefined)?.['by'] === 'void' ? one((released as Result)['transactionId']) : [];
  return { authorizations, captures, voids: rest };
}

/** The successful void of a transaction that succeeded nevertheless. */
function despite(
  { despiteVoid }: Result,
  one: One,
): Required<Pick<MadeTransactions, 'voids' | 'despiteVoid'>> | undefined {
  const { status, transactionId } = (despiteVoid ?? {}) as Result;
  return status === 'succeeded' ? { voids: one(transactionId), despiteVoid: true } : undefined;
}

function ofConsent({ transactionId, money }: Result, one: One): Partial<MadeTransactions> {
  const { status, transactionId: then } = (money ?? {}) as Result;
  if (status === 'kept') return { charges: one(transactionId) };
  // A refund that is named may have moved the money although it counts as failed: a second one could be one too many.
  if (status === 'refunded' || (status === 'notRefunded' && then !== undefined))
    return { charges: one(transactionId), refunds: one(then) };
  if (status === 'notRefunded') return { charges: one(transactionId) };
  if (status === 'voided' || status === 'expired') return { authorizations: one(transactionId), voids: one(then) };
  return {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
