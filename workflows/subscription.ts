import { allHandlersFinished, CancellationScope } from '@temporalio/workflow';
import type { SubscriptionEnded } from '../src/contract/subscription-commands.js';
import { billInThisRun, endRefused, endSubscription } from './billing/bill-in-this-run.js';
import { checkBeforeBilling, continueSubscription, openSubscription } from './billing/open.js';
import { deliverNotices } from './billing/outbox.js';
import { type Billing, type Carried, carriedOf, type Unopened } from './billing/state.js';

/**
 * Bills a stored card period after period, for years: each attempt is its own `charge`, each period its own run. Ends
 * `completed`, `cancelled` or `givenUp`.
 *
 * A period whose card is declined is tried again on the days of its dunning plan; after the last try the plan says
 * whether the subscription pauses, goes to the next period or ends `givenUp`. While the outcome of an attempt is unknown
 * the subscription waits for it, and tries the period no second time.
 * @param carried the state that the previous run left; a caller gives the input only
 *
 * Fails with `InvalidInput` or `ReferenceConflict` before anything is billed.
 */
export async function subscription(raw: unknown, carried?: Carried | Unopened): Promise<SubscriptionEnded> {
  const flow = await openSubscription(raw, carried);
  // Nothing is billed before this has ended: only until then a cancel stops the subscription at once.
  if (!flow.opened) await checkBeforeBilling(flow, raw, carried);
  return await CancellationScope.nonCancellable(() => story(flow, raw));
}

async function story(flow: Billing, raw: unknown): Promise<SubscriptionEnded> {
  // Set if the check has refused the subscription.
  if (flow.failure !== undefined) return await endRefused(flow, flow.failure);
  for (;;) {
    const delivery = deliverNotices(flow);
    const end = await billInThisRun(flow);
    if (end !== 'continues') return await endSubscription(flow, end, delivery);

    await delivery.stop();
    // A command or a cancel that came meanwhile would be lost with the run.
    if (flow.queue.length === 0 && allHandlersFinished() && !flow.isCancelled())
      return await continueSubscription(flow, raw, carriedOf(flow));
  }
}
