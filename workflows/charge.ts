import type { FinalChargeOutcome, ParsedChargeInput } from '../src/contract/charge.js';
import { BILLING_ATTEMPT, FLOWS } from '../src/contract/flows.js';
import { type FlowState, isAttemptToBill, kept, runFlow } from './flow/story.js';
import { buyerTraits, chargeStep, refusesAllButVoid, executeVoidable } from './steps/transaction-steps.js';
import { type Created, openPayment, paymentTerms } from './steps/payment-step.js';
import { passesRisk, refuseByRisk, type RiskNotes } from './steps/risk-step.js';

/**
 * Charges once: create the payment, analyse its risk if requested, charge it, follow the charge to its final status.
 * Ends `succeeded`; `declined`, without another try, if the issuer or the risk analysis says no; `voided` if a `void`
 * or the `pendingDeadline` reversed the charge while it was pending; `notExecuted` if it is proven that no money moved.
 * While the outcome is unknown the flow stays open, for as long as that takes, and answers `unknown` to whoever asks; an
 * operator who has found out more says so with `settleManually`.
 *
 * A lost reply charges nobody twice: each attempt carries the same idempotency key, and once the idempotency window has
 * closed the flow only reads, until the charge or the proof of its absence is found (money rules 3, 4 and 6). A cancel
 * that comes before the payment is created ends the flow as cancelled; later it is only recorded (money rule 8). The
 * rules are listed in `docs/guarantees.md`.
 *
 * Fails, instead of ending `notExecuted`, if the request itself is at fault: with `InvalidInput`, `ReferenceConflict`,
 * `NotFound` or `StateConflict`, and only if it is certain that no money moved.
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

  // With a read-only reason nothing is sent, no analysis either: the payment was found, not created, so nobody has
  // compared its amount with the input's. The flow only looks for a charge that a run before a reset may have made.
  const { payment, readOnlyReason } = created;
  const { risk } = input;
  if (
    risk !== undefined &&
    readOnlyReason === undefined &&
    !(await passesRisk(flow, { ...input, risk }, 'charge', notes))
  )
    // Nothing is charged: by the step, a run after a reset looks for what the earlier run may have charged.
    return await refuseByRisk(flow, 'charge', () => chargeStep(flow, input, payment));

  // `chargeStep` says what to send; this sends it, follows it, and sends a void that is asked for while it is pending.
  return await executeVoidable(flow, chargeStep(flow, input, payment), readOnlyReason);
}

function traitsOf(input: ParsedChargeInput) {
  return {
    ...buyerTraits(input),
    // A subscription's attempt takes no void either. Its calls are not tried inside the first task, but go through the
    // billing queue, whose limit protects the service.
    ...(isAttemptToBill() ? { localFirst: false } : { refuses: refusesAllButVoid }),
  };
}
