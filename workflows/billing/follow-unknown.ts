import { attemptReference, paymentWorkflowId } from '../../src/contract/names.js';
import { billing } from '../policies.js';
import { decodedOrRetry } from '../steps/decoded-or-retry.js';
import { openAhead } from './open-ahead.js';
import { attempt, closeBill } from './pursue-bill.js';
import type { Billing } from './state.js';

/**
 * Follows to their end the payments that the subscription does not know of. There are some where it was reset: what the run
 * before has started goes on, and a command of that run may end this one before it comes to the same payment.
 */
export async function followUnknown(flow: Billing): Promise<void> {
  while (await isStarted(flow)) {
    const open = flow.open ?? (await openAhead(flow));
    if (open === undefined) return;
    await attempt(flow, open);
    if (open.step.do === 'nothing') closeBill(flow, open);
  }
}

/** Whether the payment that would be tried next has been started already. */
async function isStarted({ open, next, input }: Billing): Promise<boolean> {
  // Nothing is started after one that nobody knows the outcome of.
  if (open?.step.do === 'block') return false;
  const { period, attempts } = open ?? { period: next, attempts: 0 };
  const reference = attemptReference(input.reference, period, attempts + 1);
  return decodedOrRetry(await billing.readAttempt(paymentWorkflowId(reference))).state !== 'absent';
}
