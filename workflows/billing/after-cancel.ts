import type { Period } from '../../src/contract/billing-activities.js';
import type { Billing, OpenPeriod } from './state.js';

/** Whoever has cancelled was told an end, and nothing is tried after it. */
export function isAfterCancel(flow: Billing, open: OpenPeriod, now: number): boolean {
  return now >= notAfterCancel(flow, open, Number.POSITIVE_INFINITY);
}

/**
 * `at` (epoch ms), or that end if it comes before. What the cancel leaves unbilled, as a bill that was charged early, waits
 * for a person until then, and is not tried by itself.
 */
export function notAfterCancel({ cancelFrom }: Billing, { period, amountIsLate }: OpenPeriod, at: number): number {
  if (cancelFrom === undefined || amountIsLate === true) return at;
  return period >= cancelFrom.period ? cancelFrom.dueAt : Math.min(at, cancelFrom.dueAt);
}

/** The period of an open bill that a person has had charged before it is due, and that nobody has paid. */
export function earlyUnpaid({ open }: Billing, now: number): Period | undefined {
  if (open?.dueAt === undefined || open.dueAt <= now || open.step.do === 'nothing') return undefined;
  const { period, date, dueAt } = open;
  return { period, date, dueAt };
}

/** Left unbilled by a cancel, it was charged early, and is paid all the same: what was paid for lasts until its end. */
export function endAfterPaid(flow: Billing, { period }: OpenPeriod): void {
  if (flow.cancelFrom?.period !== period) return;
  if (flow.upcoming === undefined) delete flow.cancelFrom;
  else flow.cancelFrom = flow.upcoming;
}
