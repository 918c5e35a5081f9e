import { ActivityFailure } from '@temporalio/workflow';
import type { Dispute } from '../../src/contract/disputes.js';
import { FAILURE_TYPES, referenceOfWorkflowId, subscriptionOfAttempt } from '../../src/contract/names.js';
import type { PaymentRecord } from '../../src/contract/records.js';
import { GIVEN_UP_AFTER_MS, HOUR, pollDelay } from '../../src/domain/schedules.js';
import { enter } from '../flow/explain.js';
import type { FlowState, MoneyCommand, Refusal } from '../flow/state.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { noteWanted, tell } from '../kit/outbox.js';
import { ignore } from '../kit/run.js';
import { poll, telling } from '../policies.js';
import type { Creator } from './earlier-actions.js';
import { handleFailedRead } from './operator.js';

/** A read that does not show what an event says may lag behind it for so long. */
const LAGS_FOR_MS = HOUR;

/** Keeps that the payment is disputed, and tells the merchant once. */
export function noteDispute(flow: FlowState, knownBy: Dispute['knownBy'], madeBy: string | undefined): void {
  if (flow.dispute !== undefined) return;
  flow.dispute = { knownBy, at: new Date(Date.now()).toISOString() };
  const { type, paymentId = '', currency } = flow;
  const reference = madeBy === undefined ? undefined : referenceOfWorkflowId(madeBy);
  const named = reference === undefined ? {} : { reference };
  tell(flow, 'payment.disputed', paymentId, { flow: type, paymentId, currency, ...named, knownBy });
  enter(flow, {});
}

/** Looks into a chargeback that was seen, and passes it on to the subscription whose bill the payment is. */
export async function followDispute(flow: FlowState, creator: Creator): Promise<void> {
  const seen = flow.disputeSeen;
  if (seen !== undefined && seen.nextAt <= Date.now()) {
    const payment = flow.dispute === undefined ? await readPayment(flow) : undefined;
    const madeBy = creator.workflowId ?? payment?.holdfastWorkflowId;
    const elapsed = Date.now() - seen.since;
    if (payment?.disputed === true || seen.by === 'statement') noteDispute(flow, seen.by, madeBy);
    else if (payment !== undefined && elapsed >= LAGS_FOR_MS) ignore(flow, 'disputeNotShown');
    // Nobody says otherwise: a dispute that is told in vain costs less than one that is lost.
    else if (payment === undefined && elapsed >= GIVEN_UP_AFTER_MS) noteDispute(flow, seen.by, madeBy);
    else {
      flow.disputeSeen = { ...seen, times: seen.times + 1, nextAt: Date.now() + pollDelay(seen.times) };
      return;
    }
    flow.disputeSeen = undefined;
  }
  await passOn(flow, creator);
}

async function passOn(flow: FlowState, creator: Creator): Promise<void> {
  const { dispute, paymentId = '' } = flow;
  if (dispute === undefined || dispute.passedOn === true) return;
  const paymentReference = referenceOfWorkflowId(creator.workflowId ?? flow.madeBy ?? '');
  const subscription = subscriptionOfAttempt(paymentReference ?? '');
  if (subscription !== undefined && paymentReference !== undefined)
    await telling.tellSubscription({ subscription, paymentId, paymentReference });
  flow.dispute = { ...dispute, passedOn: true };
}

/** A refund of a disputed payment pays the card holder twice: it needs a second yes. */
export function refusesDisputed(flow: FlowState, { name, request }: MoneyCommand): Refusal | undefined {
  if (name !== 'refund' || flow.dispute === undefined || request.confirmDisputed === true) return undefined;
  const { knownBy, at } = flow.dispute;
  const refusal =
    `nothing was sent: the payment is disputed (known by ${knownBy} since ${at}), and the card holder may get its money ` +
    'twice; to refund it all the same give confirmDisputed, who and why, under a new commandId';
  return { refusal, type: FAILURE_TYPES.stateConflict };
}

async function readPayment(flow: FlowState): Promise<PaymentRecord | undefined> {
  const { businessUnit, madeUnder, paymentId = '' } = flow;
  try {
    const payment = decodedOrRetry(await poll.getPayment({ businessUnit, madeUnder, paymentId }));
    noteWanted(flow, payment);
    flow.madeBy ??= payment.holdfastWorkflowId;
    return payment;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    ignore(flow, 'readFailed');
    handleFailedRead(flow, error);
    return undefined;
  }
}
