import type { FastifyInstance } from 'fastify';
import type { Sandbox } from '../context.js';
import type { Payment, Transaction, TransactionKind } from '../records.js';

/** One money movement, requested or executed, as `GET /sandbox/ledger` shows it. */
export interface LedgerEntry {
  kind: string;
  payment_id: string;
  transaction_id: string;
  amount: number;
  currency: string;
  status: string;
  idempotency_key: string | null;
  reconciliation_id: string | null;
  /** Epoch milliseconds as a string, as the resource has it. */
  created: string;
}

/** The kinds that start a payment's money movements: all others follow one of these. */
const FIRST_KINDS: readonly TransactionKind[] = ['authorization', 'charge', 'credit'];

export function ledgerRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  app.get<{ Querystring: { reconciliation_id?: string } }>('/ledger', async (request) => {
    const wanted = request.query.reconciliation_id;
    const payments =
      wanted === undefined ? [...sandbox.store.payments.values()] : sandbox.store.paymentsWithReconciliationId(wanted);
    const entries = payments.flatMap((payment) => entriesOf(sandbox, payment));
    return wanted === undefined ? entries : entries.filter((entry) => entry.reconciliation_id === wanted);
  });
}

function entriesOf(sandbox: Sandbox, payment: Payment): LedgerEntry[] {
  const transactions = sandbox.store.transactionsOf(payment);
  const first = transactions.find(({ kind, reconciliationId: id }) => FIRST_KINDS.includes(kind) && id !== undefined);
  return transactions
    .filter(({ kind }) => kind !== 'risk-analysis')
    .map((transaction) => entryOf(transaction, first?.reconciliationId));
}

function entryOf(transaction: Transaction, inherited: string | undefined): LedgerEntry {
  return {
    kind: transaction.kind,
    payment_id: transaction.paymentId,
    transaction_id: transaction.id,
    amount: transaction.amount,
    currency: transaction.currency,
    status: transaction.result.status,
    idempotency_key: transaction.idempotencyKey ?? null,
    reconciliation_id: transaction.reconciliationId ?? inherited ?? null,
    created: String(transaction.created),
  };
}
