import { isVoidable } from './payment-view.js';
import type { BusinessUnit, Payment, PaymentStatus, Transaction } from './records.js';
import { KINDS } from './transaction-kinds.js';

/**
 * The status of a payment once `transaction` has its result: of its own success, or else of what all its transactions have come
 * to, since others may have ended while it was under way.
 * @param others the payment's other transactions
 */
export function statusAfter(
  transaction: Transaction,
  payment: Payment,
  { unit, others, now }: { unit: BusinessUnit; others: readonly Transaction[]; now: number },
): PaymentStatus {
  const { kind, result } = transaction;
  const { movesPayment, succeededStatus } = KINDS[kind];
  if (!movesPayment) return payment.status;
  const isVoid = kind === 'void';
  if (result.status === 'Succeed' && !isVoid && succeededStatus !== undefined) return succeededStatus;
  // What is voided stays so when something else of it fails.
  if (result.status === 'Failed' && payment.status === 'Voided') return payment.status;
  const isOver = isVoid && result.status === 'Succeed';
  const all = [...others, { ...transaction, ...(result.status !== 'Pending' && { settled: now }) }];
  const counted = all.filter((one) => !(isOver && isVoidable(one)));
  if (counted.some((one) => KINDS[one.kind].movesPayment && one.result.status === 'Pending')) return 'Pending';
  return endOf(counted, unit);
}

/** By the last success; a hold whose time is over ends by itself (see `watchHold`). */
function endOf(transactions: readonly Transaction[], { profile }: BusinessUnit): PaymentStatus {
  const done = transactions
    .filter(({ result }) => result.status === 'Succeed')
    .toSorted((one, other) => (one.settled ?? one.created) - (other.settled ?? other.created));
  let status: PaymentStatus = 'Initialized';
  for (const { kind } of done) {
    const reached = KINDS[kind].succeededStatus;
    if (reached === undefined) continue;
    // A void of the rest leaves the payment captured, unless the unit's provider cancels the capture too.
    const isTaken = status === 'Captured' || status === 'Refunded';
    if (reached === 'Voided' && isTaken && profile.partial_capture_void !== 'cancels') continue;
    status = reached;
  }
  return status;
}
