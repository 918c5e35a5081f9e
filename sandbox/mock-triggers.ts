import type { MockOutcome, MoneyKind } from './records.js';

/**
 * The documented outcomes of captures, refunds and voids, by the amount in minor units whatever the currency. Captures
 * and refunds follow the older of two tables, which agrees with what was observed; voids are only in the newer one.
 */
export function amountOutcome(kind: MoneyKind, minorUnits: number): MockOutcome {
  if (minorUnits < 2_000) return 'failed';
  if (minorUnits < 3_000) return 'pending_succeed';
  if (minorUnits < 4_000) return 'pending_failed';
  return kind === 'void' && minorUnits < 5_000 ? 'pending_succeed_late' : 'succeed';
}

const APM_TRIGGERS: ReadonlyMap<string | undefined, MockOutcome> = new Map([
  ['failed', 'failed'],
  ['pending_succeed', 'pending_succeed'],
  ['pending_failed', 'pending_failed'],
]);

/** The documented outcomes of an alternative payment method by its `untokenized_result_status`. */
export function alternativeOutcome(wanted: string | undefined): MockOutcome {
  return APM_TRIGGERS.get(wanted) ?? 'succeed';
}
