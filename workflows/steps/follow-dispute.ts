import { ActivityFailure } from '@temporalio/workflow';
import { HOUR_MS } from '../../src/contract/time-units.js';
import type { Dispute } from '../../src/contract/disputes.js';
import { FAILURE_TYPES, referenceOfWorkflowId, subscriptionOfAttempt } from '../../src/contract/names.js';
import type { PaymentRecord } from '../../src/contract/records.js';
import { GIVEN_UP_AFTER_MS, pollDelay } from '../../src/domain/schedules.js';
import { enter } from '../flow/explain.js';
import type { FlowState, MoneyCommand, Refusal } from '../flow/state.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { noteWanted, tell } from '../kit/outbox.js';
import { ignore } from '../kit/run.js';
import { poll, telling } from '../policies.js';
import type { Creator } from './earlier-actions.js';
import { classifyFailure } from './failures.js';
import { credentialsWork, handleFailedRead } from './operator.js';

/** A read that does not show what an event says may lag behind it for so long. */
const LAGS_FOR_MS = HOUR_MS;

/** Keeps that the payment is disputed, and tells the merchant once. */
export function noteDispute(flow: FlowState, knownBy: Dispute['knownBy'], madeBy: string | undefined): void {
  if (flow.dispute !== undefined) return;
  flow.dispute = { knownBy, at: new Date(Date.now()).toISOString(), untold: true };
  tellDispute(flow, madeBy, knownBy === 'read');
  enter(flow, {});
}

/**
 * Tells it as soon as there is an endpoint to tell: a run that the word of a dispute has opened learns of that by its first read
 * that answers.
 */
function tellDispute(flow: FlowState, madeBy: string | undefined, isRead = false): void {
  const { dispute, outbox, type, paymentId = '', currency } = flow;
  if (dispute?.untold !== true || !(outbox.wanted || isRead)) return;
  const { knownBy, untold: _untold, ...rest } = dispute;
  flow.dispute = { knownBy, ...rest };
  const reference = madeBy === undefined ? undefined : referenceOfWorkflowId(madeBy);
  const named = reference === undefined ? {} : { reference };
  tell(flow, 'payment.disputed', paymentId, { flow: type, paymentId, currency, ...named, knownBy });
}

/** Looks into a chargeback that was seen, tells it, and passes it on to the subscription whose bill the payment is. */
export async function followDispute(flow: FlowState, creator: Creator): Promise<void> {
  const seen = flow.disputeSeen;
  if (seen !== undefined && seen.nextAt <= Date.now()) await lookInto(flow, creator, seen);
  tellDispute(flow, makerOf(flow, creator));
  // A subscription that is not told bills on.
  if (flow.disputeSeen === undefined || makerOf(flow, creator) !== undefined) await passOn(flow, creator);
}

async function lookInto(flow: FlowState, creator: Creator, seen: NonNullable<FlowState['disputeSeen']>): Promise<void> {
  const isKnown = flow.dispute !== undefined && flow.dispute.untold !== true && makerOf(flow, creator) !== undefined;
  const payment = isKnown ? undefined : await readPayment(flow);
  const madeBy = makerOf(flow, creator);
  if (payment?.disputed === true || seen.by === 'statement') noteDispute(flow, seen.by, madeBy);
  // Whether there is an endpoint to tell is known now.
  if (payment !== undefined) tellDispute(flow, madeBy, true);
  // What has come during the read says more, or says it later: it is looked into by itself.
  if (flow.disputeSeen !== seen) return;
  const elapsed = Date.now() - seen.since;
  const isGivenUp = elapsed >= GIVEN_UP_AFTER_MS;
  // Nobody says otherwise: a dispute that is told in vain costs less than one that is lost.
  if (payment === undefined && isGivenUp) noteDispute(flow, seen.by, madeBy);
  // Whose payment it is must have been read, for its subscription, and whether there is an endpoint to tell.
  const isUnread = payment === undefined && (madeBy === undefined || flow.dispute?.untold === true) && !isGivenUp;
  const mayBeShown = payment === undefined ? !isGivenUp : elapsed < LAGS_FOR_MS;
  if (flow.dispute === undefined ? mayBeShown : isUnread) {
    flow.disputeSeen = { ...seen, times: seen.times + 1, nextAt: Date.now() + pollDelay(seen.times) };
    return;
  }
  if (flow.dispute === undefined) ignore(flow, 'disputeNotShown');
  flow.disputeSeen = undefined;
}

/** The flow that has made the payment, as far as this one knows. */
function makerOf({ madeBy }: FlowState, creator: Creator): string | undefined {
  return creator.workflowId ?? madeBy;
}

async function passOn(flow: FlowState, creator: Creator): Promise<void> {
  const { dispute, paymentId = '' } = flow;
  if (dispute === undefined || dispute.passedOn === true) return;
  const paymentReference = referenceOfWorkflowId(makerOf(flow, creator) ?? '');
  const subscription = subscriptionOfAttempt(paymentReference ?? '');
  if (subscription !== undefined && paymentReference !== undefined)
    await telling.tellSubscription({ subscription, paymentId, paymentReference });
  flow.dispute = { ...dispute, passedOn: true };
}

/** A refund of a disputed payment pays the card holder twice: it needs a second yes. Call it after a read. */
export function refusesDisputed(flow: FlowState, command: MoneyCommand): Refusal | undefined {
  const why = whyDisputed(flow, command);
  if (why === undefined) return undefined;
  return { refusal: `nothing was sent: ${why}`, type: FAILURE_TYPES.stateConflict };
}

/** Why a command lacks that second yes, if it does: a chargeback may become known while it is being sent. */
export function whyDisputed(flow: FlowState, { name, request }: MoneyCommand): string | undefined {
  if (name !== 'refund' || request.confirmDisputed === true) return undefined;
  const known = sayDisputed(flow);
  if (known === undefined) return undefined;
  return (
    `the payment ${known}, and the card holder may get its money twice; ` +
    'to refund it all the same give confirmDisputed, who and why, under a new commandId'
  );
}

/** A dispute that was seen and not looked into yet counts for as long as reads need not show it. */
function sayDisputed({ dispute, disputeSeen }: FlowState): string | undefined {
  if (dispute !== undefined) return `is disputed (known by ${dispute.knownBy} since ${dispute.at})`;
  if (disputeSeen === undefined) return undefined;
  const { by, since } = disputeSeen;
  if (by === 'event' && Date.now() - since >= LAGS_FOR_MS) return undefined;
  return `may be disputed (${by} of ${new Date(since).toISOString()}, which is looked into)`;
}

async function readPayment(flow: FlowState): Promise<PaymentRecord | undefined> {
  const { businessUnit, madeUnder, paymentId = '' } = flow;
  try {
    const payment = decodedOrRetry(await poll.getPayment({ businessUnit, madeUnder, paymentId }));
    noteWanted(flow, payment);
    flow.madeBy ??= payment.holdfastWorkflowId;
    credentialsWork(flow);
    return payment;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    ignore(flow, 'readFailed');
    noteWanted(flow, classifyFailure(error));
    handleFailedRead(flow, error);
    return undefined;
  }
}
