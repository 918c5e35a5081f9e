import type { FinalChargeOutcome, ParsedChargeInput } from '../src/contract/charge.js';
import { BILLING_ATTEMPT, FLOWS } from '../src/contract/flows.js';
import { type FlowState, isAttemptToBill, kept, runFlow } from './flow/story.js';
import { buyerTraits, chargeStep, refusesAllButVoid, executeVoidable } from './steps/transaction-steps.js';
import { type Created, openPayment, paymentTerms } from './steps/payment-step.js';
import { passesRisk, refuseByRisk, type RiskNotes } from './steps/risk-step.js';

/**
 * Charges once: create the payment, analyse its risk if requested, charge it, follow the charge to its final status.
 * Ends `succeeded`; `declined` if the issuer or the risk analysis says no; `notExecuted` if it is proven that no money
 * moved. While the outcome is unknown the flow stays open, and answers `unknown` to whoever asks.
 *
 * A lost reply charges nobody twice: each attempt carries the same idempotency key, and once the idempotency window has
 * closed the flow only reads, until the charge or the proof of its absence is found (money rules 3, 4 and 6). A cancel
 * stops the flow before its first request; later it is only recorded (money rule 8).
 *
 * Fails with `InvalidInput`, `ReferenceConflict`, `NotFound` or `StateConflict` when it is certain that no money moved.
 */
export function charge(raw: unknown, carried?: unknown): Promise<FinalChargeOutcome> {
  const flow = isAttemptToBill() ? BILLING_ATTEMPT : FLOWS.charge;
  return runFlow([raw, carried], { flow, traitsOf, begin: (): Notes => ({}) }, story);
}

/** What the flow has done so far: `kept` does each once, also if another run continues this one. */
interface Notes extends RiskNotes {
  created?: Created;
}

async function story(flow: FlowState, input: ParsedChargeInput, notes: Notes): Promise<FinalChargeOutcome> {
  const created = await kept(notes, 'created', () => openPayment(flow, input, paymentTerms(input)));
  // There is no payment to charge: it could not be created, or an operator has decided.
  if ('ended' in created) return created.ended;

  // With a read-only reason nothing is sent: the payment was found, not created, so its amount was never compared. The
  // flow then looks for a charge that an earlier run may have made.
  const { payment, readOnlyReason } = created;
  const { risk } = input;
  if (
    risk !== undefined &&
    readOnlyReason === undefined &&
    !(await passesRisk(flow, { ...input, risk }, 'charge', notes))
  )
    // Nothing is charged. A run after a reset looks first for what the earlier run may have charged.
    return await refuseByRisk(flow, 'charge', () => chargeStep(flow, input, payment));

  // Sends the charge, and a `void` that comes while it is pending.
  return await executeVoidable(flow, chargeStep(flow, input, payment), readOnlyReason);
}

function traitsOf(input: ParsedChargeInput) {
  return {
    ...buyerTraits(input),
    // A subscription sends no void to its attempt, and the limit of the attempt's task queue protects the service.
    ...(isAttemptToBill() ? { localFirst: false } : { refuses: refusesAllButVoid }),
  };
}
