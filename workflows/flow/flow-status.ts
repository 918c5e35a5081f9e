import type { FlowStatus } from '../../src/contract/messages.js';
import type { FlowState } from './state.js';

export function flowStatus(flow: FlowState): FlowStatus {
  return {
    reference: flow.reference,
    workflowId: flow.workflowId,
    type: flow.type,
    status: flow.status,
    waitingFor: flow.waitingFor,
    since: new Date(flow.since).toISOString(),
    ...(flow.dueAt !== undefined && { dueAt: new Date(flow.dueAt).toISOString() }),
    needsOperator: flow.needsOperator !== undefined,
    ...(flow.needsOperator !== undefined && { operatorReason: flow.needsOperator }),
    ...(flow.paymentId !== undefined && { paymentId: flow.paymentId }),
    ...(flow.transactionId !== undefined && { transactionId: flow.transactionId }),
    operation: flow.kind,
    amount: flow.amount,
    currency: flow.currency,
    businessUnit: flow.businessUnit,
    cancelRequested: flow.cancelRequested,
    ignored: { ...flow.ignored },
    ...(flow.outcome !== undefined && { outcome: flow.outcome }),
  };
}
