import { minorUnitsToDecimal, showMoney } from '../../src/domain/money.js';
import type { LedgerEntry } from '../audit/ledger.js';
import type { Step, Tone } from './answers.js';

/** Minor units of one payment, by what has become of them. */
interface Sums {
  held: number;
  taken: number;
  refunded: number;
  /** By credits: money that went to a card without an earlier payment. */
  sent: number;
}

const TONES: Readonly<Record<string, Tone>> = { Succeed: 'good', Failed: 'bad', Pending: 'waiting' };
const WORDS: Readonly<Record<string, string>> = { Succeed: 'succeeded', Failed: 'failed', Pending: 'pending' };

/** The transactions as steps, oldest first, each with where the money is after it. */
export function stepsOf(ledger: readonly LedgerEntry[]): Step[] {
  const inOrder = ledger.toSorted((one, other) => Number(one.created) - Number(other.created));
  return inOrder.map((entry, index) => ({
    kind: entry.kind,
    amount: showMoney(entry.amount, entry.currency),
    status: WORDS[entry.status] ?? entry.status,
    tone: TONES[entry.status] ?? 'waiting',
    at: new Date(Number(entry.created)).toISOString(),
    transactionId: entry.transaction_id,
    idempotencyKey: entry.idempotency_key,
    after: sayMoney(inOrder.slice(0, index + 1)),
  }));
}

/**
 * What the successful transactions add up to. A capture, even of a part, and a void end the hold: what a capture leaves
 * of it lapses by itself.
 */
function sumsOf(ledger: readonly LedgerEntry[]): Sums {
  const moved = ledger.filter(({ status }) => status === 'Succeed');
  const sum = (...kinds: string[]): number =>
    moved.filter(({ kind }) => kinds.includes(kind)).reduce((total, { amount }) => total + amount, 0);
  const endedHolds = new Set(
    moved.filter(({ kind }) => kind === 'capture' || kind === 'void').map(({ payment_id: id }) => id),
  );
  const held = moved
    .filter(({ kind, payment_id: id }) => kind === 'authorization' && !endedHolds.has(id))
    .reduce((total, { amount }) => total + amount, 0);
  return { held, taken: sum('charge', 'capture'), refunded: sum('refund'), sent: sum('credit') };
}

/** "10.95 USD taken, 5.00 USD refunded". All entries have one currency: a flow has one. */
export function sayMoney(ledger: readonly LedgerEntry[], isHeld = true): string {
  const currency = ledger[0]?.currency;
  if (currency === undefined) return 'no money moved';
  const { held, taken, refunded, sent } = sumsOf(ledger);
  const parts = [
    [isHeld ? held : 0, 'held'],
    [taken, 'taken'],
    [refunded, 'refunded'],
    [sent, 'sent to the card'],
  ] as const;
  const said = parts.filter(([amount]) => amount > 0).map(([amount, word]) => `${showMoney(amount, currency)} ${word}`);
  return said.length === 0 ? 'no money moved' : said.join(', ');
}

/** What can still be refunded, as a decimal; undefined if nothing can. */
export function refundable(ledger: readonly LedgerEntry[]): { most: string; currency: string } | undefined {
  const currency = ledger[0]?.currency;
  const { taken, refunded } = sumsOf(ledger);
  const pending = ledger
    .filter(({ kind, status }) => kind === 'refund' && status === 'Pending')
    .reduce((total, { amount }) => total + amount, 0);
  const left = taken - refunded - pending;
  return currency === undefined || left <= 0 ? undefined : { most: minorUnitsToDecimal(left, currency), currency };
}
