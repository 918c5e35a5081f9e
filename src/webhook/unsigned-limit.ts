import { BoundedMap } from './bounded-map.js';

const WINDOW_MS = 60_000;
/** Far above what one payment can cause, far below what would fill a history. */
const PER_PAYMENT = 30;
const PAYMENTS = 10_000;

/**
 * Unsigned events can be made by anybody who knows an app id: without a limit they could fill the history of a flow, or
 * make the handler ask the service without end. `total` is for all payments together.
 */
export function createUnsignedLimit(total = 600): (paymentId: string) => boolean {
  const perPayment = new BoundedMap<string, { count: number; until: number }>(PAYMENTS);
  let all = { count: 0, until: 0 };
  const next = (window: { count: number; until: number } | undefined, now: number) =>
    window === undefined || now >= window.until
      ? { count: 1, until: now + WINDOW_MS }
      : { ...window, count: window.count + 1 };
  return (paymentId) => {
    const now = performance.now();
    all = next(all, now);
    const own = next(perPayment.get(paymentId), now);
    perPayment.set(paymentId, own);
    return all.count <= total && own.count <= PER_PAYMENT;
  };
}
