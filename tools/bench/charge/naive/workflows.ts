import { proxyActivities } from '@temporalio/workflow';
import type { NaiveActivities, NaiveCharge } from './activities.js';

const { createPayment, createCharge } = proxyActivities<NaiveActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumAttempts: 5 },
});

/** A charge in the style of Temporal's samples: two activities in sequence. */
export async function naiveCharge(input: NaiveCharge): Promise<string> {
  const paymentId = await createPayment(input);
  return await createCharge(input, paymentId);
}
