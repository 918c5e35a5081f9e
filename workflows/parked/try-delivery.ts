import { ActivityFailure, isCancellation } from '@temporalio/workflow';
import type { EventDelivery } from '../../src/contract/parked-event.js';
import { delivery } from '../policies.js';
import { decodedOrRetry } from '../steps/decoded-or-retry.js';
import type { Parked } from './state.js';

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
    return decodedOrRetry(await delivery.deliverEvent({ event: parked.event }));
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return asBefore;
  }
}
