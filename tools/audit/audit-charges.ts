import type { ChargeInput, ChargeOutcome } from '../../src/contract/charge.js';
import { auditPayments } from './audit-payments.js';
import type { LedgerEntry } from './ledger.js';
import { isEnd, newPaymentRecord, type PaymentRecord } from './payment-record.js';

/** A charge and the last answer that its caller got. */
export interface ChargeRecord {
  readonly input: ChargeInput;
  readonly answer: ChargeOutcome | undefined;
  /** Set if the call failed with an error that a retry can't fix. */
  readonly error?: unknown;
}

/** Compares the answers to charges with the ledger of the payment service: see `auditPayments`. */
export function auditCharges(charges: readonly ChargeRecord[], ledger: readonly LedgerEntry[]): string[] {
  return auditPayments(charges.map(paymentRecordOf), ledger);
}

function paymentRecordOf({ input, answer, error }: ChargeRecord): PaymentRecord {
  const { reference, amount, currency, businessUnit } = input;
  const known = { number: 0, scenario: 'charge', profile: businessUnit ?? 'default', reference, amount, currency };
  const record = newPaymentRecord(known);
  if (error !== undefined) {
    record.violations.push(
      `its caller got an error: ${error instanceof Error ? error.message : JSON.stringify(error)}`,
    );
  }
  record.operations.push({ what: 'charge', expected: 'any', amount, ...(answer !== undefined && { answer }) });
  if (answer?.paymentId !== undefined) record.paymentId = answer.paymentId;
  if (answer !== undefined && isEnd(answer)) record.outcome = answer;
  return record;
}
