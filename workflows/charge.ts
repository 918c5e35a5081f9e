import type { FinalChargeOutcome, ParsedChargeInput } from '../src/contract/charge.js';
import { BILLING_ATTEMPT, FLOWS } from '../src/contract/flows.js';
import { type FlowState, isAttemptToBill, kept, runFlow } from './flow/kit.js';
import { buyerTraits, chargeStep } from './steps/charge-step.js';
import { type Created, openPayment, paymentTerms } from './steps/payment-step.js';
import { passesRisk, refuseByRisk, type RiskNotes } from './steps/risk-step.js';
import { refusesAllButVoid, executeVoidable } from './steps/voidable-step.js';

/**
 * Charges once: create the payment, analyse its risk if requested, charge it, follow the charge to its final status.
 * Ends `succeeded`, `declined` or `notExecuted`; while the outcome is unknown it stays open and says so.
 *
 * Fails with `InvalidInput`, `ReferenceConflict`, `NotFound` or `StateConflict` when it is certain that no money moved.
 */
export function charge(raw: unknown, carried?: unknown): Promise<FinalChargeOutcome> {
  const flow = isAttemptToBill() ? BILLING_ATTEMPT : FLOWS.charge;
  return runFlow([raw, carried], { flow, traitsOf, begin: (): Notes => ({}) }, story);
}

/** What the flow has done so far, for the run that continues it. */
interface Notes extends RiskNotes {
  created?: Created;
}

async function story(flow: FlowState, input: ParsedChargeInput, notes: Notes): Promise<FinalChargeOutcome> {
  const created = await kept(notes, 'created', () => openPayment(flow, input, paymentTerms(input)));
  if ('ended' in created) return created.ended;

  const { payment, readOnlyReason } = created;
  const { risk } = input;
  if (
    risk !== undefined &&
    readOnlyReason === undefined &&
    !(await passesRisk(flow, { ...input, risk }, 'charge', notes))
  )
    return await refuseByRisk(flow, 'charge', () => chargeStep(flow, input, payment));

  return await executeVoidable(flow, chargeStep(flow, input, payment), readOnlyReason);
}

function traitsOf(input: ParsedChargeInput) {
  return {
    ...buyerTraits(input),
    // A subscription sends no void to its attempt, and the limit of the attempt's task queue protects the service.
    ...(isAttemptToBill() ? { localFirst: false } : { refuses: refusesAllButVoid }),
  };
}
