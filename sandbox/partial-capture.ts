import type { BusinessUnit, Payment, Transaction } from './records.js';

/** Whether part of the hold was captured, the rest is still held, and the unit's provider accepts a void of it. */
export function restCanBeVoided(
  { profile }: BusinessUnit,
  { status }: Payment,
  transactions: readonly Transaction[],
): boolean {
  if (profile.partial_capture_void === 'refused' || status !== 'Captured') return false;
  const sum = (kind: Transaction['kind']): number =>
    transactions
      .filter((one) => one.kind === kind && one.result.status === 'Succeed')
      .reduce((total, { amount }) => total + amount, 0);
  return sum('void') === 0 && sum('capture') < sum('authorization');
}
