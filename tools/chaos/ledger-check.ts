import type { ChargeInput, ChargeOutcome } from '../../src/contract/charge.js';
import type { SandboxControl } from '../../sandbox/control.js';

/** One transaction in the books of the sandbox. */
export type LedgerEntry = Awaited<ReturnType<SandboxControl['ledger']>>[number];

/** What a caller asked for and the last thing it was told. */
export interface AskedCharge {
  readonly input: ChargeInput;
  readonly answer: ChargeOutcome | undefined;
  /** Set when the call failed in a way that asking again does not mend. */
  readonly error?: unknown;
}

/** The transactions that a final answer admits, and the one status they must have. */
const LEDGER_OF: Readonly<Record<ChargeOutcome['status'], { status: string } | 'nothing' | 'not final'>> = {
  succeeded: { status: 'Succeed' },
  declined: { status: 'Failed' },
  notExecuted: 'nothing',
  /** Of the void; what it voided has failed. */
  voided: { status: 'Succeed' },
  pending: 'not final',
  underReview: 'not final',
  unknown: 'not final',
};

/**
 * Compares what callers were told with what the payment service has in its books. One sentence per
 * difference, each beginning with its reference; empty when both tell the same story. The ledger is that
 * of the whole service, so money that nobody asked for shows as well.
 */
export function differencesFromLedger(asked: readonly AskedCharge[], ledger: readonly LedgerEntry[]): string[] {
  const references = new Set<string | null>(asked.map(({ input }) => input.reference));
  const uninvited = ledger.filter((entry) => !references.has(entry.reconciliation_id));
  return [
    ...asked.flatMap((charge) =>
      differencesOf(
        charge,
        ledger.filter((entry) => entry.reconciliation_id === charge.input.reference),
      ).map((difference) => `${charge.input.reference}: ${difference}`),
    ),
    ...uninvited.map((entry) => `${entry.reconciliation_id}: nobody asked for ${show(entry)}`),
  ];
}

/** Money that really moved. */
export function movements(ledger: readonly LedgerEntry[]): LedgerEntry[] {
  return ledger.filter(({ status }) => status === 'Succeed');
}

function differencesOf({ input, answer, error }: AskedCharge, entries: readonly LedgerEntry[]): string[] {
  const books = entries.length === 0 ? 'the ledger has nothing' : `the ledger has ${entries.map(show).join(' and ')}`;
  const moved = movements(entries).length;
  const always = moved > 1 ? [`money moved ${moved} times`] : [];
  if (error !== undefined)
    return [
      ...always,
      `the caller got an error, ${books}: ${error instanceof Error ? error.message : JSON.stringify(error)}`,
    ];
  if (answer === undefined) return [...always, `the caller was never answered, ${books}`];
  const wanted = LEDGER_OF[answer.status];
  if (wanted === 'not final') return [...always, `is still ${answer.status}, ${books}`];
  if (wanted === 'nothing') {
    return entries.length === 0 ? always : [...always, `the answer is ${answer.status}, but ${books}`];
  }
  const [entry] = entries;
  if (entry === undefined || entries.length > 1) {
    return [...always, `exactly one transaction should belong to the answer ${answer.status}, but ${books}`];
  }
  const told = {
    kind: 'charge',
    status: wanted.status,
    amount: input.amount,
    currency: input.currency,
    payment_id: answer.paymentId,
    transaction_id: answer.transactionId,
  };
  return [
    ...always,
    ...Object.entries(told).flatMap(([field, value]) =>
      entry[field as keyof LedgerEntry] === value
        ? []
        : [`${field} was told as ${String(value)}, the ledger says ${String(entry[field as keyof LedgerEntry])}`],
    ),
  ];
}

export function show({ kind, status, amount, currency, transaction_id: id }: LedgerEntry): string {
  return `${kind} ${id} ${status} over ${amount} ${currency}`;
}
