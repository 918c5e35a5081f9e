import type { FinalOutcome, TransactionEvent } from '../../src/contract/messages.js';
import { classifyLateEvent } from '../../src/domain/event-routes.js';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import { resourceOf } from '../../src/domain/settling.js';
import { decidesAfterReset } from '../kit/start-guard.js';
import { addLasting } from './new-state.js';
import type { FlowState } from './state.js';
import { addBesidePayment, isBesidePayment } from './told.js';

/** What takes or gives money. */
const MOVING = ['charge', 'credit', 'capture', 'refund'];
const PAID_AT_ONCE: readonly string[] = [WORKFLOW_TYPES.charge, WORKFLOW_TYPES.credit];

/** A hold that was reauthorized has other authorizations than its outcome names; what says that nothing was held has none. */
function movesMoney({ type }: FlowState, { eventType }: TransactionEvent, { status }: FinalOutcome): boolean {
  const resource = resourceOf(eventType) ?? '';
  // It gives back what was paid, unless the run before a reset has sent it.
  if (resource === 'void') return PAID_AT_ONCE.includes(type) && !decidesAfterReset();
  if (resource === 'authorization') return status === 'notExecuted' || status === 'declined';
  return MOVING.includes(resource);
}

/**
 * What has come with the last answer, or had named a transaction before one was known, is compared with the outcome, as
 * an event that comes after it is: that one is parked if it contradicts the outcome, or tells of money that the outcome
 * does not name.
 */
export function compareUnread(flow: FlowState, outcome: FinalOutcome): void {
  for (const event of unreadOf(flow)) {
    if (addBesidePayment(flow, event)) continue;
    const { transactionId, status, category } = event;
    // An older failure that was not final, or does not say why, refutes nothing.
    if (status === 'Failed' && (category === undefined || category === 'provider_network_error')) continue;
    const verdict = classifyLateEvent(event, { result: outcome });
    // What a person has been told of needs no second word.
    if (verdict === 'unknown' && transactionId !== undefined && flow.lasting?.includes(transactionId) === true)
      continue;
    const isUnnamed = verdict === 'unknown' && status === 'Succeed' && movesMoney(flow, event, outcome);
    const isSuccess = outcome.status === 'captured' || outcome.status === 'succeeded';
    if (isUnnamed && isSuccess && transactionId !== undefined && names(outcome, transactionId)) continue;
    if (verdict === 'contradicts' || isUnnamed)
      addLasting(flow, `an event calls ${named(event)} ${status ?? ''}, and the outcome does not`);
  }
  for (const transactionId of unnamedCaptures(flow, outcome))
    addLasting(flow, `an event calls capture ${transactionId} Succeed, and the outcome does not`);
}

function named({ eventType, transactionId }: TransactionEvent): string {
  return transactionId === undefined
    ? `a ${resourceOf(eventType) ?? 'transaction'} that it does not name`
    : `transaction ${transactionId}`;
}

/** Captures by others that came while something else was under way, which ignored their events. */
function unnamedCaptures({ toldCaptured = [], lasting = '' }: FlowState, outcome: FinalOutcome): string[] {
  return toldCaptured.filter((id) => !names(outcome, id) && !lasting.includes(id));
}

/** Wherever the service has named it: of several captures by others the proof has all but one. A person's words name nothing. */
function names(outcome: FinalOutcome, transactionId: string): boolean {
  const told = JSON.stringify(outcome, (name, value: unknown) =>
    name === 'operator' || name === 'reason' ? undefined : value,
  );
  return told.includes(transactionId);
}

/** The same for a flow that was refused, and so says that it moved no money. */
export function compareWithRefusal(flow: FlowState): void {
  for (const event of unreadOf(flow)) {
    if (addBesidePayment(flow, event)) continue;
    const { status } = event;
    if (status === 'Failed' || resourceOf(event.eventType) === 'risk-analysis') continue;
    if (classifyLateEvent(event, { status: flow.status }) === 'agrees') continue;
    addLasting(flow, `an event calls ${named(event)} ${status ?? ''}, and this run says that it moved no money`);
  }
}

/** Signed events of the flow's payment, of another one under its reference, or of any payment of its business unit if it has made none. */
function unreadOf(flow: FlowState): TransactionEvent[] {
  const { businessUnit, paymentId, revealed, inbox, hints = [] } = flow;
  const come = inbox.flatMap((message) => (message.kind === 'event' && message.event.trusted ? [message.event] : []));
  const named = hints.filter(({ status }) => status === 'Succeed');
  const shown = revealed === undefined || revealed.status === 'Failed' ? [] : [revealed];
  return [...shown, ...named, ...come].filter(
    (event) =>
      isBesidePayment(flow, event) ||
      (event.businessUnit === businessUnit && (paymentId ?? event.paymentId) === event.paymentId),
  );
}
