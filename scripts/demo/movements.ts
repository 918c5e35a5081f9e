import { showMoney } from '../../src/domain/show-money.js';
import type { LedgerEntry } from './stage.js';

/** What the ledger of the sandbox must show of a flow, oldest first. Amounts are minor units. */
export type Movement = Pick<LedgerEntry, 'kind' | 'amount' | 'currency'>;

const LIST = new Intl.ListFormat('en-GB');

/** What was tried and declined is in the ledger too, and moved nothing. */
export function movementsOf(ledger: readonly LedgerEntry[]): LedgerEntry[] {
  return ledger.filter(({ status }) => status === 'Succeed');
}

/** "an authorization of 120.00 USD and a capture of 80.00 USD". */
export function sentenceOfMovements(moved: readonly Movement[]): string {
  if (moved.length === 0) return 'no movement of money';
  return LIST.format(
    moved.map(
      ({ kind, amount, currency }) => `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind} of ${showMoney(amount, currency)}`,
    ),
  );
}

/** "authorization 120.00, capture 80.00". */
export function cellOfMovements(moved: readonly Movement[]): string {
  if (moved.length === 0) return 'nothing';
  return moved.map(({ kind, amount, currency }) => `${kind} ${showMoney(amount, currency).split(' ')[0]}`).join(', ');
}

export function movementFaults(moved: readonly Movement[], expected: readonly Movement[]): string[] {
  const [shown, wanted] = [sentenceOfMovements(moved), sentenceOfMovements(expected)];
  return shown === wanted ? [] : [`the ledger shows ${shown} where ${wanted} must be.`];
}
