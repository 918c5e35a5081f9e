import { ActivityFailure, ApplicationFailure, isCancellation, metricMeter, TimeoutFailure } from '@temporalio/workflow';
import { WORKER_COUNTERS } from '../../src/contract/metrics.js';
import {
  ADDRESS_GONE,
  NO_ENDPOINT,
  type Delivery,
  type KeptNotification,
  type Notification,
} from '../../src/contract/notifications.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { publish } from '../kit/visibility.js';
import { deliveryWithin, endpoints, firstDelivery } from '../policies.js';
import { type Sending, showSending } from './state.js';

const THREE_DAYS_MS = 3 * 24 * 3_600_000;

/** One delivery to each endpoint that wants it, none of them begun. */
export async function askEndpoints({ businessUnit, type, url, at }: KeptNotification): Promise<Delivery[]> {
  try {
    const urls = await endpoints.endpointsOf({ businessUnit, type, at, ...(url !== undefined && { url }) });
    return decodedOrRetry(urls).map((url) => ({ url, status: 'waiting' }));
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    if (!(cause instanceof ApplicationFailure) || cause.type !== NO_ENDPOINT) throw error;
    // Kept as given up: with none at all nobody would see it, nor send it again once there is an endpoint.
    const delivery: Delivery = { url: '-', status: 'waiting', why: cause.message };
    giveUp(delivery, businessUnit);
    return [delivery];
  }
}

/** Begins its first tries: each endpoint gets them in order, and none waits for another. */
export function sendFirst(sending: Sending, kept: KeptNotification): void {
  for (const delivery of kept.deliveries ?? []) {
    // Of one that no endpoint was found for, there is nothing to try.
    if (delivery.status !== 'waiting') continue;
    const before = sending.lanes.get(delivery.url) ?? Promise.resolve();
    sending.firstTries += 1;
    const tried = before.then(async () => {
      delivery.until = Date.now() + THREE_DAYS_MS;
      await deliver(sending, kept, delivery, 'first');
      sending.firstTries -= 1;
    });
    sending.lanes.set(delivery.url, tried);
  }
}

/** For a run that continues another: what that run was trying again. */
export function goOn(sending: Sending): void {
  for (const kept of sending.kept)
    for (const delivery of kept.deliveries ?? [])
      if (delivery.status === 'waiting') void deliver(sending, kept, delivery, 'again');
}

/** Once an endpoint that was given up is mended: for three days, like a new one. */
export function tryAgain(sending: Sending, kept: KeptNotification, delivery: Delivery): void {
  delivery.status = 'waiting';
  delete delivery.why;
  delivery.until = Date.now() + THREE_DAYS_MS;
  void deliver(sending, kept, delivery, 'again');
}

async function deliver(
  sending: Sending,
  kept: KeptNotification,
  delivery: Delivery,
  which: 'first' | 'again',
): Promise<void> {
  const { businessUnit, url: _own, deliveries: _deliveries, ...notification } = kept;
  const left = Math.max(1_000, (delivery.until ?? 0) - Date.now());
  const { deliverNotification } = which === 'first' ? firstDelivery(businessUnit) : deliveryWithin(left, businessUnit);
  const { workflowId } = sending;
  const { url } = delivery;
  try {
    await deliverNotification({ workflowId, businessUnit, url, notification: notification satisfies Notification });
    delivery.status = 'delivered';
    delete delivery.why;
  } catch (error) {
    if (isCancellation(error)) return;
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    const isOver = which === 'again' || (cause instanceof ApplicationFailure && cause.type === ADDRESS_GONE);
    delivery.why = whyOf(cause);
    if (isOver) giveUp(delivery, businessUnit);
    else void deliver(sending, kept, delivery, 'again');
  }
  showSending(sending);
}

/** Of a time-out the last answer says more. */
function whyOf(cause: Error | undefined): string {
  const last = cause instanceof TimeoutFailure && cause.cause !== undefined ? cause.cause : cause;
  return last?.message ?? 'it did not answer';
}

function giveUp(delivery: Delivery, businessUnit: string): void {
  delivery.status = 'givenUp';
  metricMeter.createCounter(WORKER_COUNTERS.notificationsGivenUp).add(1, { business_unit: businessUnit });
  publish({ status: 'undelivered', waitingFor: 'nothing', needsOperator: undefined, businessUnit });
}
