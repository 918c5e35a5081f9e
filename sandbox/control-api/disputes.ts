import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Sandbox } from '../context.js';
import { emitPaymentEvent } from '../events.js';
import { ControlError, notThere } from './control-route.js';
import { takenOf } from './ledger.js';

/**
 * The card holder has all that was taken of a payment taken back. The payment shows it, an event of the payment tells of
 * it, and the statement has a line of its own. A second dispute of a payment changes nothing.
 */
export function disputeRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  app.post<{ Params: { id: string } }>('/transactions/:id/dispute', async (request, reply) => {
    const { store, clock } = sandbox;
    const { id } = request.params;
    const transaction = store.transactions.get(id);
    if (transaction === undefined) return notThere(reply, 'transaction', id);
    const { kind, result, paymentId, requestId } = transaction;
    if ((kind !== 'charge' && kind !== 'capture') || result.status !== 'Succeed')
      throw new ControlError(409, [`${kind} ${id} is ${result.status}: only money that was taken can be disputed`]);
    const payment = store.payments.get(paymentId);
    const unit = store.units.get(transaction.appId);
    if (payment === undefined || unit === undefined) throw new Error('a transaction without its payment or unit');
    const amount = takenOf(sandbox, payment);
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
