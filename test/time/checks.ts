import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ChargeInput, FinalChargeOutcome } from '../../src/contract/charge.js';
import type { TransactionEvent } from '../../src/contract/messages.js';
import { SIGNAL_NAMES } from '../../src/contract/names.js';
import type { FaultInput } from '../../sandbox/control.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import type { StartedCharge, VirtualTime } from '../support/virtual-time.js';

/** Plants a fault for one reference only. */
export async function plant(time: VirtualTime, input: ChargeInput, fault: FaultInput): Promise<{ id: string }> {
  return await time.sandbox.addFault({ ...fault, reconciliation_id: input.reference });
}

/** The flow has ended, and the ledger of the payment service tells the same story. */
export async function expectOnLedger(
  time: VirtualTime,
  { input }: StartedCharge,
  answer: FinalChargeOutcome,
): Promise<void> {
  const ledger = await time.sandbox.ledger(input.reference);
  expect(auditCharges([{ input, answer }], ledger)).toEqual([]);
}

/** Sends what the webhook handler makes of a signed event about this charge. */
export async function signalEvent(
  time: VirtualTime,
  { input, workflowId, startedAt }: StartedCharge,
  event: Partial<TransactionEvent> & Pick<TransactionEvent, 'paymentId'>,
): Promise<void> {
  const { amount, currency, reference } = input;
  const whole: TransactionEvent = {
    hash: randomUUID(),
    eventType: 'payment.charge.update',
    created: String(startedAt),
    businessUnit: 'default',
    status: 'Succeed',
    reconciliationId: reference,
    amount,
    currency,
    trusted: true,
    ...event,
  };
  await time.client.workflow.getHandle(workflowId).signal(SIGNAL_NAMES.transactionEvent, whole);
}

/** How much later than planned a request may leave for reasons of the machine, in ms. */
const LATE = 8_000;

/** Every gap (ms) is as long as planned, or a moment longer. */
export function expectGaps(found: readonly number[], planned: readonly number[]): void {
  const faults = planned.flatMap((wanted, index) => {
    const gap = found[index];
    // The two clocks are compared in whole ms.
    const fits = gap !== undefined && gap >= wanted - 5 && gap <= wanted + LATE;
    return fits ? [] : [`gap ${index} is ${gap} ms instead of ${wanted}`];
  });
  expect(faults).toEqual([]);
}
