import { failure } from './mock-provider.js';
import type { BusinessUnit, Payment, Transaction, TransactionKind, TransactionResult } from './records.js';

const VOIDABLE: readonly TransactionKind[] = ['charge', 'credit', 'capture'];

/** Whether the unit's provider can still void a pending transaction, and no void is pending yet. */
export function pendingCanBeVoided(
  { profile }: BusinessUnit,
  { status }: Payment,
  transactions: readonly Transaction[],
): boolean {
  if (profile.pending_void === 'refused' || status !== 'Pending') return false;
  const pends = transactions.filter(({ result }) => result.status === 'Pending');
  return pends.some(({ kind }) => VOIDABLE.includes(kind)) && !pends.some(({ kind }) => kind === 'void');
}

/** Returns the pending transactions that a void which has just succeeded ends. */
export function endedBy(
  { profile }: BusinessUnit,
  { kind, result }: Transaction,
  transactions: readonly Transaction[],
): readonly Transaction[] {
  if (kind !== 'void' || result.status !== 'Succeed' || profile.pending_void !== 'allowed') return [];
  return transactions.filter((one) => VOIDABLE.includes(one.kind) && one.result.status === 'Pending');
}

/** Result of a voided pending transaction. No category exists for it, so it has the mock's default. */
export const VOIDED: TransactionResult = { ...failure('provider_error'), description: 'Voided while it was pending.' };
