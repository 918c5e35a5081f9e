import { allHandlersFinished, condition } from '@temporalio/workflow';
import type { SubscriptionEnded } from '../../src/contract/subscription-outcome.js';
import type { BillingEnd } from './bill-in-this-run.js';
import { type deliverNotices, notify } from './outbox.js';
import { answer } from './execute-command.js';
import { show } from './show.js';
import type { Billing } from './state.js';
import { endedOutcome, viewOf } from './view.js';

/** Ends the subscription: merchant and callers are told before the run closes. */
export async function endSubscription(
  flow: Billing,
  { status, reason }: BillingEnd,
  delivery: ReturnType<typeof deliverNotices>,
): Promise<SubscriptionEnded> {
  notify(flow, 'subscription.ended', { status, reason });
  flow.ended = endedOutcome(flow, status, reason);
  show(flow, { status, waitingFor: 'nothing' });
  answerAll(flow, flow.ended);
  await delivery.finish();
  await condition(allHandlersFinished);
  return { ...flow.ended, undelivered: viewOf(flow).undelivered };
}

/** Answers `cancel` and an open `billNow` with the end. Queued commands are refused: the end is not their result. */
function answerAll(flow: Billing, ended: NonNullable<Billing['ended']>): void {
  for (const command of flow.pendingEnd?.commands ?? []) answer(flow, command, ended);
  if (flow.billing !== undefined) answer(flow, flow.billing, ended);
  for (const command of flow.queue.splice(0)) {
    command.answer = { refusal: `the subscription ended before this was begun: ${ended.status}` };
  }
}

/** @throws the failure by which the subscription was refused before anything was billed */
export async function endRefused(flow: Billing, failure: Error): Promise<never> {
  show(flow, { status: 'refused', waitingFor: 'nothing' });
  for (const command of flow.queue.splice(0)) command.answer = { refusal: 'the subscription was refused' };
  await condition(allHandlersFinished);
  throw failure;
}
