import { ActivityFailure, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { PaymentActivities } from '../../src/contract/activities.js';
import type { EventDelivery } from '../../src/contract/parked-event.js';
import { decodedOrRetry } from '../steps/decoded-or-retry.js';
import type { Parked } from './state.js';

/** A few quick tries; then the next one is made by the schedule of the workflow. */
const { deliverEvent } = proxyActivities<Pick<PaymentActivities, 'deliverEvent'>>({
  startToCloseTimeout: '30 seconds',
  scheduleToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 3 },
  summary: 'Look for the flow of this event',
});

/** One look. Without an answer everything stays as it was. */
export async function tryDelivery(parked: Parked): Promise<EventDelivery> {
  const asBefore: EventDelivery = {
    result: 'unclaimed',
    reason: parked.reason,
    ...(parked.workflowId !== undefined && { workflowId: parked.workflowId }),
  };
  parked.attempts += 1;
  parked.woken = false;
  try {
    return decodedOrRetry(await deliverEvent({ event: parked.event }));
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return asBefore;
  }
}
