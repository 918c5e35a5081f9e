import type { Payment, Transaction } from './records.js';
import type { Call } from './route.js';
import { KINDS } from './transaction-kinds.js';

/** What a unit's reads show of a payment: with `reads_lag_ms` as it was so long ago. */
export function asReadsShow(call: Call, payment: Payment): { payment: Payment; transactions: readonly Transaction[] } {
  const all = call.sandbox.store.transactionsOf(payment);
  const { reads_lag_ms: lag } = call.unit.profile;
  if (lag === 0) return { payment, transactions: all };
  const at = call.sandbox.clock.now() - lag;
  const transactions = all
    .filter(({ created }) => created <= at)
    .map((one): Transaction => (pendedAt(one, at) ? { ...one, result: { status: 'Pending' } } : one));
  return { payment: { ...payment, status: statusAt(payment, all, at) }, transactions };
}

/** Whether a unit's reads do not show the transaction yet. */
export function isTooYoung({ sandbox, unit }: Call, { created }: Transaction): boolean {
  return created > sandbox.clock.now() - unit.profile.reads_lag_ms;
}

function statusAt(payment: Payment, all: readonly Transaction[], at: number): Payment['status'] {
  const moving = all.filter(({ kind }) => KINDS[kind].movesPayment);
  const young = moving.find(({ created }) => created > at);
  if (moving.some((one) => pendedAt(one, at))) return 'Pending';
  return young?.paymentStatusBefore ?? payment.status;
}

function pendedAt({ created, settled }: Transaction, at: number): boolean {
  return created <= at && settled !== undefined && settled > at && settled > created;
}
