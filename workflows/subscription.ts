import { allHandlersFinished, CancellationScope } from '@temporalio/workflow';
import type { SubscriptionEnded } from '../src/contract/subscription-commands.js';
import { billInThisRun, endSubscription } from './billing/bill-in-this-run.js';
import { checkBeforeBilling, continueSubscription, openSubscription } from './billing/open.js';
import { carriedOf } from './billing/carried-state.js';
import { endRefused } from './billing/refuse-start.js';
import type { Billing, Carried, Unopened } from './billing/state.js';

/**
 * Bills a stored card period after period, for years. Each attempt to bill is a child workflow `charge` with a
 * reference of its own; after each period the flow continues as new. Ends `completed`, `cancelled` or `givenUp`.
 *
 * A period whose card is declined is tried again on the days of its dunning plan, and an attempt that was proven not to
 * be executed a little later; after the last try the plan says whether the subscription pauses, goes to the next period
 * or ends `givenUp`. A card that was declined for good waits for another card, a refused request for a person. While
 * the outcome of an attempt is unknown the subscription waits for it, however long, and bills nothing else.
 *
 * A cancel, by command or of the workflow, ends it `cancelled`, but not in the midst of an attempt.
 *
 * Fails with `InvalidInput` or `ReferenceConflict` before anything is billed.
 * @param carried the state that the previous run left; a caller gives the input only
 */
export async function subscription(raw: unknown, carried?: Carried | Unopened): Promise<SubscriptionEnded> {
  const flow = await openSubscription(raw, carried);
  // Reads only, until card, customer, dates and notification address are found in order: a cancel ends these reads at
  // once, and whatever comes later waits for the attempt under way.
  if (!flow.opened) await checkBeforeBilling(flow, raw, carried);
  return await CancellationScope.nonCancellable(() => story(flow, raw));
}

async function story(flow: Billing, raw: unknown): Promise<SubscriptionEnded> {
  // The check has refused the subscription: this throws the failure.
  if (flow.failure !== undefined) return await endRefused(flow, flow.failure);
  for (;;) {
    const end = await billInThisRun(flow);
    if (end !== 'continues') return await endSubscription(flow, end);

    // A command or a cancel that came meanwhile would be lost with the run: this run takes it first.
    if (flow.queue.length === 0 && allHandlersFinished() && !flow.isCancelled())
      return await continueSubscription(flow, raw, carriedOf(flow));
  }
}
