import type { PaymentTerms } from '../src/contract/activity-calls.js';
import { attemptInputSchema, type FinalChargeOutcome, type ParsedChargeInput } from '../src/contract/charge.js';
import { FLOWS } from '../src/contract/flows.js';
import type { RiskVerdict } from '../src/contract/outcome.js';
import { givesConsent } from '../src/contract/payment-input.js';
import { runFlow } from './flow/open-flow.js';
import { kept } from './flow/stages.js';
import { isAttemptToBill } from './flow/start-guard.js';
import type { FlowState } from './flow/state.js';
import { beginStep } from './steps/begin-step.js';
import { cardTerms, chargeStep, redirectLimit } from './steps/charge-step.js';
import { learnAndSettle, takeFirstStep } from './steps/money-step.js';
import { type Created, createPayment, takePayment } from './steps/payment-step.js';
import { refuseSecondRun } from './steps/refuse-second-run.js';
import { analyse, refuseByRisk, riskTerms } from './steps/risk-step.js';
import { stopIfCancelled } from './steps/stop-if-cancelled.js';
import { endVoidable, refusesAllButVoid } from './steps/voidable-step.js';

/**
 * Charges once: create the payment, analyse its risk if requested, charge it, follow the charge to its final status.
 * Ends `succeeded`, `declined` or `notExecuted`; while the outcome is unknown it stays open and says so.
 *
 * Fails with `InvalidInput`, `ReferenceConflict`, `NotFound` or `StateConflict` when it is certain that no money moved.
 */
export function charge(raw: unknown, carried?: unknown): Promise<FinalChargeOutcome> {
  const row = isAttemptToBill() ? { ...FLOWS.charge, schema: attemptInputSchema } : FLOWS.charge;
  return runFlow([raw, carried], { flow: row, traitsOf, begin: (): Notes => ({}) }, story);
}

/** What the flow has done so far, for the run that continues it. */
interface Notes {
  created?: Created;
  verdict?: RiskVerdict;
  toCharge?: true;
}

async function story(flow: FlowState, input: ParsedChargeInput, notes: Notes): Promise<FinalChargeOutcome> {
  await refuseSecondRun(flow);
  const created = await kept(notes, 'created', async () => {
    const made = await createPayment(flow, input, termsOf(input));
    if ('ended' in made) return made;
    takePayment(flow, made.payment);
    return made;
  });
  if ('ended' in created) return created.ended;

  const { payment, onlyRead } = created;
  if (onlyRead !== undefined) {
    const step = chargeStep(flow, input, payment);
    return await endVoidable(flow, (voids) => learnAndSettle(flow, onlyRead, { ...step, voids }));
  }
  const { risk } = input;
  if (risk !== undefined) {
    const verdict = await kept(notes, 'verdict', () => analyse(flow, input, risk));
    await kept(notes, 'toCharge', async () => {
      await stopIfCancelled(flow);
      if (verdict.decision !== 'decline') beginStep(flow, 'charge');
      return true as const;
    });
    if (verdict.decision === 'decline')
      return await refuseByRisk(flow, 'charge', () => chargeStep(flow, input, payment));
  }
  const step = chargeStep(flow, input, payment);
  // An attempt to bill belongs to its subscription, which sends no void.
  if (isAttemptToBill()) return await takeFirstStep(flow, step);
  return await endVoidable(flow, (voids) => takeFirstStep(flow, { ...step, voids }));
}

/** undefined if any business unit may be used. */
function termsOf(input: ParsedChargeInput): PaymentTerms | undefined {
  const terms = { ...riskTerms(input), ...cardTerms(input) };
  return Object.keys(terms).length === 0 ? undefined : terms;
}

function traitsOf(input: ParsedChargeInput) {
  return {
    // An attempt to bill tries nothing locally: the limit of its task queue protects the payment service.
    ...(isAttemptToBill() ? { localFirst: false } : { refuses: refusesAllButVoid }),
    consents: givesConsent(input),
    ...redirectLimit(input),
  };
}
