import { ApplicationFailure } from '@temporalio/workflow';
import type { FinalChargeOutcome } from '../../src/contract/charge.js';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import { showMoney } from '../../src/domain/show-money.js';
import type { FlowState } from './state.js';

/** One sentence or two for a person: what, since when, what it waits for, until when, what is safe to do. */
export function explain(flow: FlowState): string {
  const money = showMoney(flow.amount, flow.currency);
  const since = new Date(flow.since).toISOString();
  const parts = [`${capital(flow.type)} of ${money}, ${flow.reference}: ${sentence(flow)} (since ${since}).`];
  if (flow.outcome === undefined && flow.dueAt !== undefined) {
    parts.push(`Next look at ${new Date(flow.dueAt).toISOString()}.`);
  }
  if (flow.needsOperator !== undefined) parts.push(`Needs an operator: ${flow.needsOperator}.`);
  if (flow.cancelRequested && flow.outcome === undefined) {
    parts.push('A cancel was asked for; it is recorded, but a payment under way is not abandoned.');
  }
  parts.push(safeToDo(flow));
  return parts.join(' ');
}

function sentence(flow: FlowState): string {
  const { outcome } = flow;
  if (outcome !== undefined) {
    const evidence = evidenceOf(outcome);
    if (outcome.status === 'succeeded') return `succeeded, ${evidence}`;
    if (outcome.status === 'declined') {
      const why = outcome.subCategory === undefined ? outcome.category : `${outcome.category}/${outcome.subCategory}`;
      return `declined (${why}), ${outcome.confirmed ? '' : 'never confirmed by the provider, '}${evidence}`;
    }
    return `not executed, no money moved: ${outcome.reason}, ${evidence}`;
  }
  if (flow.failure !== undefined) return `refused, this run moved no money: ${flow.failure.message}`;
  switch (flow.waitingFor) {
    case 'provider':
      return 'a call to the payment service is under way or being retried with the same idempotency key';
    case 'settlement':
      return `transaction ${flow.transactionId ?? '?'} is pending; an event, a poll or an operator ends it`;
    case 'proof':
      return 'the answer to the charge was lost, so the flow reads until it finds the transaction or proves that there is none';
    case 'credentials':
      return 'the payment service rejects our credentials; put the key right and the flow goes on';
    case 'operator':
      return 'only a person can say what happened';
    case 'nothing':
      return flow.status;
    default:
      return flow.waitingFor satisfies never;
  }
}

/** How the result is known (money rule 10), for a person who has to defend it. */
function evidenceOf({ transactionId, evidence }: FinalChargeOutcome): string {
  const { knownBy, operator, proof, requestIds, attempts, settledAt } = evidence;
  return [
    `known by ${knownBy} at ${settledAt}`,
    operator && `decided by ${operator.who}: ${operator.why}`,
    proof,
    transactionId && `transaction ${transactionId}`,
    requestIds.length > 0 && `requests ${requestIds.join(' ')}`,
    `${attempts} ${attempts === 1 ? 'send' : 'sends'} of the charge`,
  ]
    .filter(Boolean)
    .join(', ');
}

function safeToDo(flow: FlowState): string {
  const { outcome } = flow;
  if (outcome?.status === 'notExecuted') return 'Safe to repeat under a new reference.';
  if (outcome?.status === 'declined') {
    if (outcome.retryable === 'newReference') return 'The same card may be tried again under a new reference.';
    return outcome.retryable === 'newCard'
      ? 'Only another card may be tried.'
      : 'Do not repeat before the cause is mended.';
  }
  if (outcome !== undefined) return 'Nothing to do.';
  if (isReferenceConflict(flow.failure)) return 'Ask the earlier run what happened before you repeat anything.';
  if (flow.failure !== undefined) return 'Safe to repeat under a new reference, with the fault mended.';
  if (flow.settleable)
    return 'Safe: wait, `retryNow` (looks at once), or `settleManually` with what you know. Never repeat it under a new reference.';
  return 'Safe: wait, or `retryNow`. Never repeat it under a new reference.';
}

function isReferenceConflict(failure: Error | undefined): boolean {
  return failure instanceof ApplicationFailure && failure.type === FAILURE_TYPES.referenceConflict;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
