import type { FlowStatus } from '../../src/contract/messages.js';
import type { Outcome } from '../../src/contract/outcomes.js';
import type { Command, FlowState } from './state.js';

/**
 * What `outcome` answers now: the final result, or what is known so far.
 * @param command answers this command: the operation that is pending need not be the one it requested
 */
export function presentOutcome(state: FlowState, command?: Pick<Command, 'name'>): Outcome {
  if (state.outcome !== undefined) return state.outcome;
  const base = {
    reference: state.reference,
    amount: state.amount,
    currency: state.currency,
    ...(state.paymentId !== undefined && { paymentId: state.paymentId }),
    ...(state.transactionId !== undefined && { transactionId: state.transactionId }),
    ...(state.risk !== undefined && { risk: state.risk }),
    waitingFor: state.waitingFor,
  };
  if (state.status === 'authorized' && state.held !== undefined && command === undefined) {
    return { ...base, status: 'authorized', ...state.held };
  }
  if (state.status === 'underReview' && command === undefined) {
    const score = state.risk?.score;
    return { ...base, status: 'underReview', ...(score !== undefined && { score }) };
  }
  // Releasing what a capture left may take days: what it captured is known.
  const taken = state.hold?.taken;
  if (taken !== undefined) return { ...base, status: 'unknown', transactionId: taken.transactionId, captured: taken };
  // A void may wait for its hold, or for the end of the operation that it voids.
  const pends = state.status === 'pending' && (command?.name !== 'void' || state.kind === 'void');
  if (!pends) return { ...base, status: 'unknown' };
  return {
    ...base,
    status: 'pending',
    ...(state.details !== undefined && { details: state.details }),
    ...(state.redirectUrl !== undefined && { redirectUrl: state.redirectUrl }),
  };
}

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
