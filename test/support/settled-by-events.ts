import { expect } from 'vitest';
import type { ChargeInput, ChargeOutcome } from '../../src/contract/charge.js';
import { CARDS, chargeInput } from './charges.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import type { TestStack } from './stack.js';
import { until } from './until.js';

/** A charge that pends, and that only an event can settle: reads of it fail until the fault is removed. */
export async function chargeOnlyEventsSettle(stack: TestStack, eventsAreLost: boolean) {
  const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
  const { reference } = input;
  const { sandbox } = stack;
  if (eventsAreLost) await sandbox.addFault({ action: 'lose_event', reconciliation_id: reference });
  const path = '/payments/*/charges*';
  await sandbox.addFault({ action: 'status', method: 'GET', path, status: 503, reconciliation_id: reference });
  const pending = await stack.holdfast.charge(input);
  if (pending.status !== 'pending') throw new Error(`the charge is ${pending.status}`);
  return { input, paymentId: pending.paymentId ?? '', transactionId: pending.transactionId ?? '' };
}

/** Its end, which is what the ledger says: one charge. */
export async function expectRightEnd(stack: TestStack, input: ChargeInput): Promise<ChargeOutcome> {
  const { outcome } = await until(
    () => stack.holdfast.status(input.reference),
    (status) => status.outcome !== undefined,
  );
  const answer = outcome as ChargeOutcome;
  const ledger = await stack.sandbox.ledger(input.reference);
  expect(auditCharges([{ input, answer }], ledger)).toEqual([]);
  expect(ledger).toHaveLength(1);
  return answer;
}
