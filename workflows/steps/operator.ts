import type { TransactionRecord } from '../../src/contract/records.js';
import { OPERATOR_AFTER_MS, pollDelay, REJECTED_LOOK_MS } from '../../src/domain/schedules.js';
import { isNotOffered } from '../../src/domain/absence.js';
import { isFinal } from '../../src/domain/settling.js';
import type { FlowState, SettleCommand } from '../flow/state.js';
import { enter, takeBackReason } from '../flow/explain.js';
import { publish } from '../kit/visibility.js';
import { type ClassifiedFailure, classifyFailure, readRefusal } from './failures.js';

/** After this many failed tries an operator is asked to look as well; the retries continue. */
export const ASK_OPERATOR_AFTER_TRIES = 3;

/** After 24 hours an operator is asked to look as well; polling continues. */
export function askOperatorAfterADay(
  flow: FlowState,
  startedAt: number,
  known?: Pick<TransactionRecord, 'unknownStatus'> & { signed?: string | undefined },
): void {
  if (Date.now() < startedAt + OPERATOR_AFTER_MS) return;
  const unread = isNotOffered(flow.refusedGets[flow.kind]);
  const { unknownStatus: word, signed } = known ?? {};
  // A merchant is told of each text once: the next operation of the flow may need a person as well.
  const named = flow.transactionId === undefined ? flow.kind : `${flow.kind} ${flow.transactionId}`;
  askOperator(
    flow,
    `no final answer for 24 hours to the ${named}${unread ? `, and the service offers no read of the ${flow.kind}` : ''}` +
      (word === undefined
        ? ''
        : `, and the service calls the ${flow.kind} "${word}", a status that nothing is known of`) +
      (signed === undefined ? '' : `; a signed event calls it ${signed}, and does not say all that a read of it would`),
  );
}

/**
 * Handles a failed read. A 401 or 403 needs an operator, since no wait fixes it. A refusal because the service has no
 * such read shows that the credentials work: their flag would hide what an operator must do if no read tells.
 */
export function handleFailedRead(flow: FlowState, error: unknown): void {
  const failure = classifyFailure(error);
  const refusal = readRefusal(error);
  if (failure.next === 'credentials') askOperator(flow, whyRejected(flow, failure));
  // With `bySetting` the service was not called, but the business unit is usable.
  else if (refusal?.bySetting === false || (refusal !== undefined && isUnusable(flow))) credentialsWork(flow);
}

/** Why the business unit can't be used: by the service's answer, or by this worker's configuration. */
export function whyRejected(flow: FlowState, { message, byService }: ClassifiedFailure): string {
  return byService ? rejected(flow) : `${unusable(flow)}${message}`;
}

/**
 * ms to wait before a read that is due in `ms`: at most 15 minutes while the credentials flag is set. An operator who
 * has fixed the unit must see the flag go soon, and changes of the payment must not stay unseen.
 */
export function nextLookWhileRejected(flow: FlowState, ms: number): number {
  return isRejected(flow) ? Math.min(ms, REJECTED_LOOK_MS) : ms;
}

/** ms until the next read after `polls` reads. */
export function pollWait(flow: FlowState, polls: number): number {
  return nextLookWhileRejected(flow, pollDelay(polls));
}

/** A read was answered: removes the flag set by {@link handleFailedRead}. */
export function credentialsWork(flow: FlowState): void {
  if (!isRejected(flow)) return;
  enter(flow, { needsOperator: flow.lasting ?? null });
  publish(flow, dueOf(flow));
}

/** Nothing of a hold is late before its deadline, and nothing at all of a flow that waits for commands. */
function dueOf({ status, hold, stepStartedAt }: FlowState): { dueAt?: number } {
  if (status === 'idle') return {};
  return { dueAt: status === 'authorized' && hold ? hold.terms.captureBy : stepStartedAt + OPERATOR_AFTER_MS };
}

function isRejected(flow: FlowState): boolean {
  return flow.needsOperator === rejected(flow) || isUnusable(flow);
}

function isUnusable(flow: FlowState): boolean {
  return flow.needsOperator?.startsWith(unusable(flow)) === true;
}

function rejected({ businessUnit }: FlowState): string {
  return `the payment service rejects the credentials of business unit "${businessUnit}"`;
}

function unusable({ businessUnit }: FlowState): string {
  return `business unit "${businessUnit}" can't be used: `;
}

/** Sets needsOperator once; the first reason stays, since it is the nearest to the cause. What lasts is shown again once it is over. */
export function askOperator(flow: FlowState, why: string): void {
  if (isBeingAsked(flow)) return;
  enter(flow, { needsOperator: why });
  publish(flow);
}

function isBeingAsked({ needsOperator, lasting }: FlowState): boolean {
  return needsOperator !== undefined && needsOperator !== lasting;
}

/** As {@link askOperator}, about what is over as soon as a read answers. */
export function askUntilRead(flow: FlowState, why: string): void {
  if (!isBeingAsked(flow)) flow.askedUntilRead = why;
  askOperator(flow, why);
}

/** A read has answered: what a person was asked until then would hide what they are asked next. */
export function noteAnswered(flow: FlowState): void {
  const { askedUntilRead: why, needsOperator } = flow;
  if (why === undefined) return;
  flow.askedUntilRead = undefined;
  if (needsOperator === why) takeBackReason(flow);
}

/**
 * Why an operator's decision is refused, given what a read has just shown. A final answer of the service wins, a
 * transaction that exists can't be `notExecuted`, and a decision about one transaction decides no other: while a
 * pending operation is being voided it could mean either, and captured money would be recorded as reversed.
 * @param doubted the answer that `record` is of waits for a read that confirms it
 */
export function refusalOf(
  { beingVoided, kind }: FlowState,
  { request }: SettleCommand,
  record: TransactionRecord | undefined,
  doubted = false,
): string | undefined {
  const { status, transactionId: named } = request;
  if (beingVoided !== undefined) {
    const both = `the ${beingVoided.kind} ${beingVoided.transactionId ?? ''} is being voided, and only its void is decided now`;
    if (named === undefined && status !== 'notExecuted') return `${both}: name the void by its transactionId`;
    if (named !== undefined && named === beingVoided.transactionId) return `${both}: ${named} is not the void`;
  }
  if (record === undefined) return undefined;
  if (named !== undefined && named !== record.transactionId)
    return `the ${kind} that is followed is transaction ${record.transactionId}, not ${named}`;
  const said = `the payment service says ${record.status} for transaction ${record.transactionId}`;
  if (status === 'notExecuted') return said;
  if (!isFinal(record) || doubted) return undefined;
  return (record.status === 'Succeed') === (status === 'succeeded') ? undefined : said;
}
