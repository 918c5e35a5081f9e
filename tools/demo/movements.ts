import { showMoney } from '../../src/domain/money.js';
import type { LedgerEntry } from '../audit/ledger.js';

/** A movement of money that the sandbox's ledger must show for a flow. The amount is in minor units. */
export type Movement = Pick<LedgerEntry, 'kind' | 'amount' | 'currency'>;

const LIST = new Intl.ListFormat('en-GB');

/** Formats as "an authorization of 120.00 USD and a capture of 80.00 USD". */
export function sentenceOfMovements(moved: readonly Movement[]): string {
  if (moved.length === 0) return 'no movement of money';
  return LIST.format(
    moved.map(
      ({ kind, amount, currency }) => `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind} of ${showMoney(amount, currency)}`,
    ),
  );
}

/** Formats as "authorization 120.00, capture 80.00"; consecutive equal ones as "charge 19.99 (3 times)". */
export function cellOfMovements(moved: readonly Movement[]): string {
  if (moved.length === 0) return 'nothing';
  const cells: { text: string; times: number }[] = [];
  for (const { kind, amount, currency } of moved) {
    const text = `${kind} ${showMoney(amount, currency).split(' ')[0]}`;
    const last = cells.at(-1);
    if (last?.text === text) last.times += 1;
    else cells.push({ text, times: 1 });
  }
  return cells.map(({ text, times }) => (times === 1 ? text : `${text} (${times} times)`)).join(', ');
}

export function movementFaults(moved: readonly Movement[], expected: readonly Movement[]): string[] {
  const [shown, wanted] = [sentenceOfMovements(moved), sentenceOfMovements(expected)];
  return shown === wanted ? [] : [`the ledger shows ${shown} where ${wanted} must be.`];
}
