import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type { FinalOutcome } from '../../src/contract/messages.js';
import { FAILURE_TYPES, subscriptionOfAttempt, WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { NotificationType } from '../../src/contract/notifications.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import { tell, tellNeed } from '../kit/outbox.js';
import { isAttemptToBill } from '../kit/start-guard.js';
import type { FlowState, MoneyCommand } from './state.js';

/** What the end of a flow is told as. */
const ENDS: Readonly<Record<FinalOutcome['status'], NotificationType | undefined>> = {
  succeeded: 'payment.succeeded',
  declined: 'payment.declined',
  notExecuted: 'payment.notExecuted',
  captured: 'hold.captured',
  voided: 'hold.voided',
  expired: 'hold.expired',
  stored: 'card.stored',
  consentedNotStored: 'card.consentedNotStored',
  approve: undefined,
  review: undefined,
  decline: undefined,
};

/**
 * Tells the merchant what has become of the flow, if that is news. Its subscription tells how an attempt to bill has ended, and
 * that may be long after a person is needed.
 */
export function announce(flow: FlowState): void {
  if (!flow.outbox.wanted) return;
  const { outcome, failure, needsOperator, status, held, hold } = flow;
  const isOfBill = isAttemptToBill();
  const subscription = isOfBill ? { subscription: subscriptionOfAttempt(flow.reference) } : {};
  if (needsOperator !== undefined)
    tellNeed(flow, `${ofRuns(flow)}${needsOperator}`, { ...about(flow), ...subscription, why: needsOperator });
  if (isOfBill) return;
  // It is only answered: the reference of one that has failed can still be charged, so nobody may be told that it was not.
  if (flow.type === WORKFLOW_TYPES.analyseRisk) return;
  if (outcome !== undefined) {
    const type = isVoidedPending(flow) ? 'payment.voided' : ENDS[outcome.status];
    if (type !== undefined) tell(flow, type, '', { flow: flow.type, ...inShort(outcome) });
  } else if (failure !== undefined) {
    announceFailure(flow, failure);
  } else if (status === 'pending') {
    const type = PENDING[flow.kind];
    const { transactionId = '' } = flow;
    if (type !== undefined) tell(flow, type, transactionId, { ...about(flow), amount: flow.stepAmount });
  } else if (status === 'authorized' && held !== undefined && hold !== undefined) {
    const ofHold = { ...about(flow), amount: hold.authorized.amount, ...held };
    tell(flow, 'hold.authorized', String(hold.number), ofHold);
    if (flow.waitingFor === 'captureSoonDue') tell(flow, 'hold.expiring', String(hold.number), ofHold);
  }
}

/**
 * A payment has runs of its commands for as long as it is refunded, and what calls for a person in one of them is news in another. Those that
 * go on with one another, and those that a reset makes of them, share the first.
 */
function ofRuns({ type }: FlowState): string {
  return type === WORKFLOW_TYPES.paymentActions ? `${workflowInfo().firstExecutionRunId}: ` : '';
}

const PENDING: Partial<Record<FlowState['kind'], NotificationType>> = {
  charge: 'payment.pending',
  authorization: 'payment.pending',
  credit: 'payment.pending',
  refund: 'refund.pending',
};

function isVoidedPending({ type, outcome }: FlowState): boolean {
  return outcome?.status === 'voided' && type !== WORKFLOW_TYPES.authorizeAndCapture;
}

function about(flow: FlowState): Record<string, unknown> {
  const { type, reference, currency, paymentId, transactionId } = flow;
  const amount = amountOf(flow);
  return {
    flow: type,
    reference,
    ...(amount !== undefined && { amount }),
    currency,
    ...(paymentId !== undefined && { paymentId }),
    ...(transactionId !== undefined && { transactionId }),
  };
}

/** A flow of commands has no amount of its own, and that of a command only while it is under way. */
function amountOf({ type, amount, status, stepAmount }: FlowState): number | undefined {
  if (type !== WORKFLOW_TYPES.paymentActions) return amount;
  return status === 'idle' || stepAmount === 0 ? undefined : stepAmount;
}

/**
 * A later run of a used reference says nothing of the money that the first one may have moved, nor does one that a signed event
 * contradicts: a person is called instead.
 */
function announceFailure(flow: FlowState, failure: Error): void {
  const type = failure instanceof ApplicationFailure ? failure.type : undefined;
  if (type === FAILURE_TYPES.referenceConflict || flow.type === WORKFLOW_TYPES.paymentActions) return;
  if (flow.lasting !== undefined) return;
  tell(flow, 'payment.notExecuted', '', { ...about(flow), status: flow.status, reason: failure.message });
}

/** Without the evidence, the tokens and what a provider says besides: whoever needs that asks for the outcome. */
function inShort(outcome: FinalOutcome): Record<string, unknown> {
  const left = new Set(['evidence', 'actions', 'details', 'omitted', 'risk', 'token', 'sameCard']);
  return Object.fromEntries(Object.entries(outcome).filter(([name]) => !left.has(name)));
}

/** Tells the merchant how a command to a payment has ended, whose flow had ended before. */
export function announceCommand(flow: FlowState, { name, commandId }: MoneyCommand, outcome: FinalStepOutcome): void {
  const type = name === 'refund' ? (`refund.${outcome.status}` as const) : DONE[name];
  if (name !== 'refund' && outcome.status !== 'succeeded') return;
  const { paymentId } = flow;
  // As at the end of a hold, where `amount` is what was held.
  const captured = name === 'capture' ? { capturedAmount: outcome.amount } : {};
  const about = { command: name, commandId, ...inShort(outcome), ...captured };
  tell(flow, type, commandId, { ...about, ...(paymentId && { paymentId }) });
}

/** Tells the merchant that a refund was refused after it had been taken: nothing was sent for it. */
export function announceRefusal(flow: FlowState, { name, commandId, request }: MoneyCommand, reason: string): void {
  const { reference, currency, paymentId } = flow;
  const amount = 'amount' in request && request.amount !== undefined ? { amount: request.amount } : {};
  const about = { command: name, commandId, reference, ...amount, currency, ...(paymentId && { paymentId }) };
  tell(flow, 'refund.notExecuted', commandId, { ...about, status: 'notExecuted', reason });
}

const DONE = { void: 'payment.voided', capture: 'hold.captured' } as const;
