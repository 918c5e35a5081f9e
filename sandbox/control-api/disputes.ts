import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Sandbox } from '../context.js';
import { emitPaymentEvent } from '../events.js';
import type { Payment } from '../records.js';
import { ControlError, notThere } from './control-route.js';
import { entriesOf, type LedgerEntry } from './transactions.js';

/**
 * The card holder has the money of a charge or capture taken back. The payment shows it, an event of the payment tells
 * of it, and the statement has a line of its own. A second dispute of a payment changes nothing.
 */
export function disputeRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  app.post<{ Params: { id: string } }>('/transactions/:id/dispute', async (request, reply) => {
    const { store, clock } = sandbox;
    const { id } = request.params;
    const transaction = store.transactions.get(id);
    if (transaction === undefined) return notThere(reply, 'transaction', id);
    const { kind, result, paymentId, amount, requestId } = transaction;
    if ((kind !== 'charge' && kind !== 'capture') || result.status !== 'Succeed')
      throw new ControlError(409, [`${kind} ${id} is ${result.status}: only money that was taken can be disputed`]);
    const payment = store.payments.get(paymentId);
    const unit = store.units.get(transaction.appId);
    if (payment === undefined || unit === undefined) throw new Error('a transaction without its payment or unit');
    const dispute = payment.dispute ?? { id: randomUUID(), created: clock.now(), amount };
    if (payment.dispute === undefined)
      store.transaction(() => {
        const disputed = { ...payment, dispute, modified: dispute.created };
        store.payments.put(disputed);
        emitPaymentEvent(sandbox, 'update', { unit, payment: disputed, requestId });
      });
    return { payment_id: paymentId, transaction_id: id, dispute_id: dispute.id };
  });
}

/** The line of a statement that says so. */
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
