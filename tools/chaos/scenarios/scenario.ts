import type { FlowDriver } from '../driver/flow-driver.js';

/** Cards of the sandbox by how the first transaction of a payment ends. */
export const CARDS = {
  succeeds: '4111111111111111',
  declines: '4242424242424242',
  pendsThenSucceeds: '5105105105105100',
  pendsThenFails: '5454545454545454',
} as const;

/** Amounts (minor units) by which the sandbox ends a capture, refund or void; from 50.00 on all succeed at once. */
export const FAILS = 1_500;
export const PENDS_THEN_SUCCEEDS = 2_500;
export const PENDS_THEN_FAILS = 3_500;

/** Addresses by which the sandbox decides about risk. */
export const RISK_EMAILS = {
  approve: 'ann@example.com',
  decline: 'reject-hub@email.com',
  review: 'manual-review-hub@email.com',
} as const;

/** Chooses one, the same one for the same seed and number. */
export type Pick = <Value>(values: readonly Value[]) => Value;

/** A course of events, from the first question to the last. */
export interface Scenario {
  /** As the summary calls it. */
  readonly name: string;
  /** Its holds end within seconds. */
  readonly brief?: true;
  /** Nothing but one charge can move money in it. */
  readonly isChargeAlone?: true;
  play(driver: FlowDriver, pick: Pick): Promise<void>;
}

/** Where nothing could be read an operator has ended what the rest of the scenario builds on. The ledger is compared. */
export class EndedByOperator extends Error {
  override readonly name = 'EndedByOperator';
}

/** A card by which the money is taken or held, at once or after a while. */
export function goodCard(pick: Pick): string {
  return pick([CARDS.succeeds, CARDS.succeeds, CARDS.pendsThenSucceeds]);
}
