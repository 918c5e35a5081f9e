import type { TransactionEvent } from '../../src/contract/messages.js';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { ActionRecord, ToldOfCreator } from '../../src/contract/payment-actions.js';
import { resourceOf } from '../../src/domain/settling.js';
import { markTold } from '../../src/domain/told-otherwise.js';
import { decidesAfterReset } from '../kit/start-guard.js';
import { showLasting } from './explain.js';
import { addLasting } from './new-state.js';
import { MADE_FOR } from './outcomes.js';
import type { FlowState } from './state.js';

/** No real payment has more captures. */
const MOST_CAPTURES = 50;

/**
 * Remembers a capture that a signed event calls `Succeed`. Whatever is under way ignores events of a capture that was
 * answered; if one contradicts that answer, another capture could take the money twice.
 * @returns whether one that is under way must stop
 */
export function noteCaptured(flow: FlowState, event: TransactionEvent): boolean {
  const { eventType, transactionId, status, trusted } = event;
  // Its payment may be that of the hold before.
  if (event.businessUnit !== flow.businessUnit) return false;
  if (!trusted || status !== 'Succeed' || transactionId === undefined || resourceOf(eventType) !== 'capture')
    return false;
  if (flow.type !== WORKFLOW_TYPES.authorizeAndCapture || flow.toldCaptured?.includes(transactionId) === true)
    return false;
  flow.toldCaptured = [...(flow.toldCaptured ?? []), transactionId].slice(-MOST_CAPTURES);
  const { hold } = flow;
  const { capturing } = hold ?? {};
  // It bears the reference of the capture under way: where nothing can be read the same key alone tells how that has ended.
  if (isOfPayment(flow, event) && capturing?.reconciliationId === event.reconciliationId && capturing !== undefined)
    capturing.told ??= transactionId;
  const contradicts = contradicted(flow) === transactionId;
  if (contradicts || isOfPayment(flow, event)) flow.toldSinceRead = [...(flow.toldSinceRead ?? []), transactionId];
  if (contradicts || hold?.capturesBefore?.includes(transactionId) === true) {
    noteContradiction(flow, 'capture', transactionId);
    return flow.kind === 'capture' || flow.kind === 'void';
  }
  if (isOfHoldBefore(flow, event)) noteOfHoldBefore(flow, [transactionId], event.paymentId);
  // To the void of a pending operation the capture may be that very operation.
  const isUnderWay = flow.kind === 'capture' || (flow.kind === 'void' && flow.beingVoided === undefined);
  return isUnderWay && isToldSinceRead(flow);
}

/**
 * Whether a signed event has called a capture of the payment `Succeed` that no read of the hold can have shown, and that is
 * not the one under way: a void could reverse captured money, and a capture take it twice.
 */
export function isToldSinceRead(flow: FlowState): boolean {
  return othersTold(flow).length > 0;
}

function othersTold({ hold, transactionId: ofStep, toldSinceRead = [] }: FlowState): string[] {
  const { captured, capturing } = hold ?? {};
  const own = [captured, ...(capturing === undefined ? [] : [capturing.told, ofStep])];
  return toldSinceRead.filter((transactionId) => !own.includes(transactionId));
}

/** It is of the payment of a hold that the present one has replaced, or that the authorization under way is to replace. */
function isOfHoldBefore({ hold, paymentId }: FlowState, event: TransactionEvent): boolean {
  if (hold === undefined || event.paymentId === paymentId) return false;
  return event.paymentId === hold.authorized.paymentId || hold.paymentsBefore?.includes(event.paymentId) === true;
}

/** Tells a person before the hold that has replaced it is captured: the money may have been taken already. */
function noteOfHoldBefore(flow: FlowState, captures: readonly string[], paymentId: string): void {
  for (const id of captures)
    addLasting(flow, `an event calls capture ${id} Succeed, of payment ${paymentId}, whose hold was replaced`);
  showLasting(flow);
}

/**
 * Before the flow goes on to the payment that has replaced this one: the run before a reset, or one that a restore has lost, may have made it
 * although a capture may have taken the money.
 */
export function noteToldBefore(flow: FlowState): void {
  const told = othersTold(flow);
  if (told.length > 0) noteOfHoldBefore(flow, told, flow.paymentId ?? '');
}

/** A read has shown how the hold stands. @param before what had been told when the read began */
export function noteShown(flow: FlowState, before: readonly string[]): void {
  if (flow.toldSinceRead === undefined) return;
  flow.toldSinceRead = flow.toldSinceRead.filter((transactionId) => !before.includes(transactionId));
}

/**
 * Tells a person of what no open charge, credit or hold does to its own payment: whatever is under way takes no event of another kind. A second
 * hold, or a charge, would be captured, voided or refunded by nobody else, and what a refund, credit or void has given back the merchant would
 * book as paid. Once the flow has ended such an event is parked.
 */
export function noteBeside(flow: FlowState, event: TransactionEvent): void {
  const { trusted, status, transactionId } = event;
  if (!isOfPayment(flow, event) || !trusted || status !== 'Succeed' || transactionId === undefined) return;
  const resource = resourceOf(event.eventType) ?? '';
  if (flow.held === undefined) return noteBesideStep(flow, resource, transactionId);
  const { transactionId: own } = flow.hold?.authorized ?? {};
  if (!BESIDE_A_HOLD.has(resource) || own === undefined || transactionId === own) return;
  addLasting(flow, `an event calls ${resource} ${transactionId} Succeed, beside authorization ${own} of this flow`);
  showLasting(flow);
}

const BESIDE_A_HOLD: ReadonlySet<string> = new Set(['authorization', 'charge', 'refund', 'credit']);
const BESIDE_A_STEP: ReadonlySet<string> = new Set([...BESIDE_A_HOLD, 'capture', 'void']);
const OPEN_STEPS: ReadonlySet<string> = new Set([
  WORKFLOW_TYPES.charge,
  WORKFLOW_TYPES.credit,
  WORKFLOW_TYPES.authorizeAndCapture,
]);

/** What is of the kind of the step under way is compared where that is followed. */
function noteBesideStep(flow: FlowState, resource: string, transactionId: string): void {
  const { type, kind, beingVoided, paymentId = '', hold, voidsOfPending = [] } = flow;
  if (transactionId === flow.transactionId || transactionId === beingVoided?.transactionId) return;
  if (!OPEN_STEPS.has(type) || !BESIDE_A_STEP.has(resource) || resource === kind || resource === beingVoided?.kind)
    return;
  // Of a hold each capture is noted by `noteCaptured`, and what has ended the hold before is no news.
  if (type === WORKFLOW_TYPES.authorizeAndCapture && resource === 'capture') return;
  if (hold !== undefined && hold.authorized.paymentId === paymentId) return;
  // The run before a reset may have voided it, and this run does not know that void.
  if (resource === 'void' && (voidsOfPending.includes(transactionId) || decidesAfterReset())) return;
  const { lasting } = flow;
  addLasting(
    flow,
    `an event calls ${resource} ${transactionId} Succeed, which this flow has not made on payment ${paymentId}`,
  );
  showUnlessAsked(flow, lasting);
}

/**
 * Notes for a person that a signed event shows money on another payment under the flow's own reference: it may have moved twice, and
 * whatever is under way takes no such event.
 * @returns whether the event is such a one
 */
export function addBesidePayment(flow: FlowState, event: TransactionEvent): boolean {
  if (!isBesidePayment(flow, event)) return false;
  const { eventType, transactionId = '', paymentId } = event;
  const what = `${resourceOf(eventType) ?? ''} ${transactionId} of payment ${paymentId}`;
  addLasting(flow, `an event calls ${what} Succeed, under this reference, beside payment ${flow.paymentId ?? ''}`);
  return true;
}

/** Tells a person of it while the flow is open. */
export function noteBesidePayment(flow: FlowState, event: TransactionEvent): void {
  const { lasting } = flow;
  if (addBesidePayment(flow, event)) showUnlessAsked(flow, lasting);
}

/** What a person is asked already stays: the end shows this as well. @param before what was shown of it */
export function showUnlessAsked(flow: FlowState, before: string | undefined): void {
  if (flow.needsOperator === undefined || flow.needsOperator === before) showLasting(flow);
}

/** Only what a flow itself makes carries its reference for sure: a capture or refund may be given that of another order. */
export function isBesidePayment(flow: FlowState, event: TransactionEvent): boolean {
  const { type, businessUnit, paymentId, reference, hold } = flow;
  const { trusted, status, reconciliationId } = event;
  // A hold that is authorized again moves to another payment, and the authorization before may be told of late.
  const hasMoved = hold !== undefined && (hold.number > 1 || hold.authorized.paymentId !== paymentId);
  if (paymentId === undefined || event.paymentId === paymentId || hasMoved || type === WORKFLOW_TYPES.analyseRisk)
    return false;
  const isOwn = event.businessUnit === businessUnit && reconciliationId === reference;
  const resource = resourceOf(event.eventType);
  return isOwn && trusted && status === 'Succeed' && MADE_FOR.some((kind) => kind === resource);
}

/**
 * Remembers that a signed event contradicts the answer to a command of an ended payment, whichever flow took it: its sum may have moved, and counts
 * against those that follow.
 * @returns whether one that is under way must stop
 */
export function noteTold(flow: FlowState, event: TransactionEvent): boolean {
  if (flow.unplaced === undefined) return false;
  if (!isOfPayment(flow, event)) return false;
  const marked = markTold([...flow.actions, ...(flow.creatorsActions ?? [])], event).filter(
    ({ told }) => told?.status === 'Succeed',
  );
  return marked.some(({ action }) => AGAINST[action].has(flow.kind));
}

export function isOfPayment(
  { businessUnit, paymentId }: FlowState,
  event: Pick<TransactionEvent, 'businessUnit' | 'paymentId'>,
): boolean {
  return event.businessUnit === businessUnit && event.paymentId === paymentId;
}

/** What must not be sent any more once one of these turns out to have succeeded: a void may undo a capture. */
const AGAINST: Readonly<Record<ActionRecord['action'], ReadonlySet<string>>> = {
  refund: new Set(['refund']),
  capture: new Set(['capture', 'void']),
  void: new Set(['void']),
  reauthorize: new Set(),
};

/** A person has looked at what was said of these. */
export function noteSeen({ actions }: FlowState, said: string): void {
  for (const action of actions)
    if (action.told !== undefined && said.includes(action.outcome.transactionId ?? '')) action.toldSeen = true;
}

/** Calls for a person who has not looked yet at all of it. */
export function showUnseen(flow: FlowState, ofCreator: readonly ToldOfCreator[]): void {
  for (const { told, toldSeen, outcome } of flow.actions)
    if (told !== undefined && toldSeen !== true) addLasting(flow, sayTold(outcome.transactionId ?? '', told.status));
  for (const { event, seen, agrees } of ofCreator)
    if (seen !== true && agrees !== true)
      addLasting(
        flow,
        `an event calls transaction ${event.transactionId ?? ''} ${event.status ?? ''}, and no answer did`,
      );
}

export function sayTold(transactionId: string, status: string | undefined): string {
  return `an event calls transaction ${transactionId} ${status}, and its command was answered otherwise`;
}

/** Transactions that a signed event calls `Succeed`, were answered otherwise, and that a command of this kind must count. */
export function toldAgainst(
  { actions, creatorsActions = [] }: FlowState,
  name: 'refund' | 'capture' | 'void',
): string[] {
  const unseen = [...actions, ...creatorsActions].filter(({ toldSeen }) => toldSeen !== true);
  const told = unseen.filter(({ action, told }) => told?.status === 'Succeed' && AGAINST[action].has(name));
  return told.flatMap(({ outcome }) => outcome.transactionId ?? []);
}

/** A capture of the present hold that was answered as failed, and that a signed event has called `Succeed`. */
export function contradicted({ hold, toldCaptured }: FlowState): string | undefined {
  return toldCaptured?.findLast((id) => id !== hold?.captured && hold?.captures.includes(id) === true);
}

/** Tells a person. */
export function noteContradiction(flow: FlowState, resource: string, transactionId: string): void {
  addLasting(flow, `an event calls ${resource} ${transactionId} Succeed, and it was answered otherwise`);
  showLasting(flow);
}
