import type { PaymentFacts } from '../../src/domain/payment-sums.js';
import type { FlowState } from '../flow/state.js';
import { noteRequestId } from '../flow/state.js';
import { read } from '../policies.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import { READS } from './kinds.js';
import { askOperatorIfRejected, credentialsWork } from './operator.js';

export type ReadFacts = PaymentFacts & { holdfastWorkflowId?: string };

/** All of a payment's transactions, by one call of the service each. */
export async function readFacts(flow: FlowState): Promise<ReadFacts | { unreadable: string }> {
  const { businessUnit, currency, paymentId = '' } = flow;
  const call = { businessUnit, currency, paymentId };
  let answers;
  try {
    answers = await Promise.all([
      read.getPayment({ businessUnit, paymentId }),
      READS.authorization.list(call),
      READS.charge.list(call),
      READS.capture.list(call),
      READS.refund.list(call),
      READS.void.list(call),
    ]);
  } catch (error) {
    askOperatorIfRejected(flow, error);
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
  credentialsWork(flow);
  const [payment, authorizations, charges, captures, refunds, voids] = answers;
  const { status, amount, holdfastWorkflowId, requestId } = decodedOrRetry(payment);
  noteRequestId(flow, requestId);
  return {
    status,
    amount,
    authorizations: decodedOrRetry(authorizations),
    charges: decodedOrRetry(charges),
    captures: decodedOrRetry(captures),
    refunds: decodedOrRetry(refunds),
    voids: decodedOrRetry(voids),
    ...(holdfastWorkflowId !== undefined && { holdfastWorkflowId }),
  };
}
