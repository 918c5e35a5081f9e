import type { Outcome } from '../../src/contract/outcomes.js';
import type { FlowState } from './state.js';

/**
 * What `outcome` answers now: the final result, or honestly less.
 * @param ofCommand of a command under way, which how the flow stands says little of
 */
export function presentOutcome(state: FlowState, { ofCommand = false } = {}): Outcome {
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
  if (state.status === 'authorized' && state.held !== undefined && !ofCommand) {
    return { ...base, status: 'authorized', ...state.held };
  }
  if (state.status === 'underReview' && !ofCommand) {
    const score = state.risk?.score;
    return { ...base, status: 'underReview', ...(score !== undefined && { score }) };
  }
  if (state.status !== 'pending') return { ...base, status: 'unknown' };
  return {
    ...base,
    status: 'pending',
    ...(state.details !== undefined && { details: state.details }),
    ...(state.redirectUrl !== undefined && { redirectUrl: state.redirectUrl }),
  };
}
