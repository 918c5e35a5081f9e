import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { TellSubscriptionCall } from '../contract/activity-calls.js';
import type { PaymentDisputed } from '../contract/disputes.js';
import { SIGNAL_NAMES, subscriptionWorkflowId } from '../contract/names.js';

/** Tells a subscription that a payment of it is disputed. It may be told again: it acts once for each payment. */
export async function tellSubscription(
  client: Client,
  { subscription, ...disputed }: TellSubscriptionCall,
): Promise<'told' | 'gone'> {
  try {
    const flow = client.workflow.getHandle(subscriptionWorkflowId(subscription));
    await flow.signal<[PaymentDisputed]>(SIGNAL_NAMES.paymentDisputed, disputed);
    return 'told';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'gone';
    throw error;
  }
}
