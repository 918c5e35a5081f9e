import type { PaymentRecord } from '../../audit/payment-record.js';
import { NoAnswerInTime } from '../driver/driver-context.js';
import type { FlowDriver } from '../driver/flow-driver.js';

/** Sandbox cards by the outcome of a payment's first transaction. */
export const CARDS = {
  succeeds: '4111111111111111',
  declines: '4242424242424242',
  pendsThenSucceeds: '5105105105105100',
  pendsThenFails: '5454545454545454',
} as const;

/** Amounts (minor units) by which the sandbox ends a capture, refund or void. From 50.00 on all succeed at once. */
export const FAILS = 1_500;
export const PENDS_THEN_SUCCEEDS = 2_500;
export const PENDS_THEN_FAILS = 3_500;

/** Email addresses that determine the sandbox's risk decision. */
export const RISK_EMAILS = {
  approve: 'ann@example.com',
  decline: 'reject-hub@email.com',
  review: 'manual-review-hub@email.com',
} as const;

/** Picks one value. The same seed and flow number give the same picks. */
export type Pick = <Value>(values: readonly Value[]) => Value;

/** A scenario of one or more flows. */
export interface Scenario {
  /** Name in the summary. */
  readonly name: string;
  /** Its holds end within seconds. */
  readonly brief?: true;
  /** Only one charge can move money in it. */
  readonly isChargeAlone?: true;
  run(driver: FlowDriver, pick: Pick): Promise<void>;
}

/** Without reads, an operator has ended the flow that the scenario builds on. The ledger is still audited. */
export class EndedByOperator extends Error {
  override readonly name = 'EndedByOperator';
}

/**
 * Records why a scenario ended early. A caller who gave up is no violation of its own: the audit reports the operation
 * without an answer or the flow without an outcome. Nor is a flow that was never started since an operator ended the
 * one before: no money of it may be in the ledger.
 */
export function recordEarlyEnd(record: PaymentRecord, error: unknown): void {
  if (error instanceof NoAnswerInTime) return;
  if (!(error instanceof EndedByOperator))
    record.violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  else if (record.operations.length === 0) record.neverStarted = true;
}

/** Runs a scenario until its flow has ended, and records when, and why if it ended early. */
export async function runToEnd(driver: FlowDriver, run: () => Promise<void>): Promise<void> {
  const { record } = driver;
  try {
    await run();
    if (!record.terminated) await driver.ended();
  } catch (error) {
    recordEarlyEnd(record, error);
  }
  record.endedAt = Date.now();
}

/** A card whose first transaction succeeds, at once or after being pending. */
export function goodCard(pick: Pick): string {
  return pick([CARDS.succeeds, CARDS.succeeds, CARDS.pendsThenSucceeds]);
}
