import type { Period } from '../../src/contract/billing-activities.js';
import type { OpenBill } from '../../src/contract/subscription-commands.js';
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

/**
 * The cancel leaves the bill as it is before its next try, at `at` (epoch ms), would come: nobody may be told of one.
 * Only a person has it tried until then, by `billNow` or another card.
 */
export function isLeftUnbilled({ cancelFrom }: Billing, { period, amountIsLate }: OpenPeriod, at: number): boolean {
  if (cancelFrom === undefined || amountIsLate === true) return false;
  return period >= cancelFrom.period || at >= cancelFrom.dueAt;
}

/** When the bill that is past due is tried again, or else given up. ISO 8601 UTC. */
export function whatComes(flow: Billing, open: OpenPeriod): Pick<OpenBill, 'nextTryAt' | 'giveUpAt'> {
  const { step } = open;
  if (step.do !== 'retry' && step.do !== 'wait') return {};
  const at = step.do === 'retry' ? step.at : step.giveUpAt;
  const shown = new Date(notAfterCancel(flow, open, at)).toISOString();
  return step.do === 'retry' && !isLeftUnbilled(flow, open, at) ? { nextTryAt: shown } : { giveUpAt: shown };
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
