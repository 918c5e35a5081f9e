import { ApplicationFailure } from '@temporalio/workflow';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import type { PaymentFacts } from '../../src/domain/payment-sums.js';
import type { FlowState } from '../flow/state.js';
import { noteRequestId } from '../flow/state.js';
import { read } from '../policies.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import { judgeFailure } from './judge-failure.js';
import { READS } from './kinds.js';
import { askOperatorIfRejected, credentialsWork } from './operator.js';

export type ReadFacts = PaymentFacts & { holdfastWorkflowId?: string };

export interface Unreadable {
  unreadable: string;
  /** The service knows no such payment, or none in this business unit. */
  notFound: boolean;
}

/** All of a payment's transactions, by one call of the service each. */
export async function readFacts(flow: FlowState): Promise<ReadFacts | Unreadable> {
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
    const { error: cause, message } = judgeFailure(error);
    return {
      unreadable: message,
      notFound: cause instanceof ApplicationFailure && cause.type === FAILURE_TYPES.notFound,
    };
  }
  credentialsWork(flow);
  const [payment, authorizations, charges, captures, refunds, voids] = answers;
  const { status, amount, currency: ofPayment, holdfastWorkflowId, requestId } = decodedOrRetry(payment);
  noteRequestId(flow, requestId);
  return {
    status,
    amount,
    currency: ofPayment,
    authorizations: decodedOrRetry(authorizations),
    charges: decodedOrRetry(charges),
    captures: decodedOrRetry(captures),
    refunds: decodedOrRetry(refunds),
    voids: decodedOrRetry(voids),
    ...(holdfastWorkflowId !== undefined && { holdfastWorkflowId }),
  };
}
