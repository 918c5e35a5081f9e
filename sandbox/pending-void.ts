import { failure } from './mock-provider.js';
import type { BusinessUnit, Payment, Transaction, TransactionKind, TransactionResult } from './records.js';

const VOIDABLE: readonly TransactionKind[] = ['charge', 'credit', 'capture'];

/** Something pends that the unit's provider still lets go of, and nobody has asked for that yet. */
export function pendingCanBeVoided(
  { profile }: BusinessUnit,
  { status }: Payment,
  transactions: readonly Transaction[],
): boolean {
  if (profile.pending_void === 'refused' || status !== 'Pending') return false;
  const pends = transactions.filter(({ result }) => result.status === 'Pending');
  return pends.some(({ kind }) => VOIDABLE.includes(kind)) && !pends.some(({ kind }) => kind === 'void');
}

/** What a void that has just succeeded ends. */
export function endedBy(
  { profile }: BusinessUnit,
  { kind, result }: Transaction,
  transactions: readonly Transaction[],
): readonly Transaction[] {
  if (kind !== 'void' || result.status !== 'Succeed' || profile.pending_void !== 'allowed') return [];
  return transactions.filter((one) => VOIDABLE.includes(one.kind) && one.result.status === 'Pending');
}

/** How what was voided ends: there is no category for it, so that it has the mock's usual one. */
export const VOIDED: TransactionResult = { ...failure('provider_error'), description: 'Voided while it was pending.' };
