import type { FastifyInstance } from 'fastify';
import type { Sandbox } from '../context.js';
import type { Payment, Transaction, TransactionKind } from '../records.js';
import { ControlError, latestOf } from './control-route.js';

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

interface LedgerQuery {
  reconciliation_id?: string;
  payment_id?: string;
  /** So many of the newest payments. */
  latest?: string;
  env?: string;
  /** `true`: also what moves money without a transaction, or decides whether it moves. */
  whole?: string;
}

/** The kinds that start a payment's money movements: all others follow one of these. */
const FIRST_KINDS: readonly TransactionKind[] = ['authorization', 'charge', 'credit'];

export function ledgerRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  app.get<{ Querystring: LedgerQuery }>('/ledger', async ({ query }) => {
    const { reconciliation_id: wanted, payment_id: id, latest, whole } = query;
    if (whole !== undefined && whole !== 'true') throw new ControlError(400, ['whole: must be true']);
    const { store } = sandbox;
    const named = id === undefined ? undefined : [store.payments.get(id) ?? []].flat();
    const all = named ?? (wanted === undefined ? store.payments.values() : store.paymentsWithReconciliationId(wanted));
    const payments = latestOf([...all].filter(inEnvironment(query.env)), latest);
    const ofPayment = whole === undefined ? entriesOf : wholeOf;
    const entries = payments.flatMap((payment) => ofPayment(sandbox, payment));
    return wanted === undefined ? entries : entries.filter((entry) => entry.reconciliation_id === wanted);
  });
}

/** Whether a payment is of the environment that was asked for, if one was. */
export function inEnvironment(env: string | undefined): (payment: Payment) => boolean {
  if (env !== undefined && env !== 'test' && env !== 'live') throw new ControlError(400, ['env: must be test or live']);
  return (payment) => env === undefined || payment.env === env;
}

/** Of one payment, in the order in which they were made. */
export function entriesOf(sandbox: Sandbox, payment: Payment): LedgerEntry[] {
  return rowsOf(sandbox, payment).filter(({ kind }) => kind !== 'risk-analysis');
}

/** With its risk analyses, its chargeback, and the end of its hold. */
function wholeOf(sandbox: Sandbox, payment: Payment): LedgerEntry[] {
  return [...rowsOf(sandbox, payment), ...chargebackOf(sandbox, payment), ...lapseOf(sandbox, payment)];
}

/** Of a hold that its provider has released, since nobody had voided it or captured any of it by then. */
function lapseOf(sandbox: Sandbox, payment: Payment): LedgerEntry[] {
  const { holdUntil } = payment;
  if (holdUntil === undefined || holdUntil > sandbox.clock.now()) return [];
  const rows = rowsOf(sandbox, payment).filter(({ status }) => status === 'Succeed');
  const hold = rows.findLast(({ kind }) => kind === 'authorization');
  const isOver = rows.some(({ kind, created }) => ['capture', 'void'].includes(kind) && Number(created) <= holdUntil);
  if (hold === undefined || isOver) return [];
  return [{ ...hold, kind: 'lapse', idempotency_key: null, created: String(holdUntil) }];
}

function rowsOf(sandbox: Sandbox, payment: Payment): LedgerEntry[] {
  const transactions = sandbox.store.transactionsOf(payment);
  const first = transactions.find(({ kind, reconciliationId: id }) => FIRST_KINDS.includes(kind) && id !== undefined);
  const named = referenceOf(payment);
  return transactions.map((transaction) =>
    entryOf(transaction, first?.reconciliationId ?? (transaction.kind === 'risk-analysis' ? named : undefined)),
  );
}

/** The reference that the creator of a payment named: an analysis has no reconciliation id, and may stand alone. */
function referenceOf({ content }: Payment): string | undefined {
  const { holdfast_workflow_id: workflowId } = content.additional_details ?? {};
  return /^(?:payment|risk)-(.*)$/.exec(workflowId ?? '')?.[1];
}

/** What charges and captures have taken, in minor units. */
export function takenOf(sandbox: Sandbox, payment: Payment): number {
  return sandbox.store
    .transactionsOf(payment)
    .filter(({ kind, result }) => (kind === 'charge' || kind === 'capture') && result.status === 'Succeed')
    .reduce((sum, { amount }) => sum + amount, 0);
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

/** The line of a statement that says that the card holder has had the money taken back. */
export function chargebackOf(sandbox: Sandbox, payment: Payment): LedgerEntry[] {
  const { dispute, id, content } = payment;
  if (dispute === undefined) return [];
  const [first] = entriesOf(sandbox, payment);
  return [
    {
      kind: 'chargeback',
      payment_id: id,
      transaction_id: dispute.id,
      amount: dispute.amount,
      currency: content.currency,
      status: 'Succeed',
      idempotency_key: null,
      reconciliation_id: first?.reconciliation_id ?? null,
      created: String(dispute.created),
    },
  ];
}
