import { CancelledFailure } from '@temporalio/workflow';
import { FLOWS } from '../src/contract/flows.js';
import type { FinalStepOutcome } from '../src/contract/outcome.js';
import type { FinalRiskOutcome, ParsedAnalyseRiskInput } from '../src/contract/risk.js';
import { type FlowState, kept, runFlow } from './flow/story.js';
import { base, evidence } from './flow/outcomes.js';
import { type Created, openPayment } from './steps/payment-step.js';
import { analyse } from './steps/risk-step.js';
import { stopIfCancelled } from './flow/earlier-runs.js';

/** A risk analysis without a payment operation: returns score and decision. No money moves. */
export function analyseRisk(raw: unknown, carried?: unknown): Promise<FinalRiskOutcome> {
  return runFlow([raw, carried], { flow: FLOWS.analyseRisk, begin: (): Notes => ({}) }, story);
}

/** What the flow has done so far, for the run that continues it. */
interface Notes {
  created?: Created;
}

async function story(flow: FlowState, input: ParsedAnalyseRiskInput, notes: Notes): Promise<FinalRiskOutcome> {
  const created = await kept(notes, 'created', async () => {
    const made = await openPayment(flow, input, { risk: true });
    if (!('ended' in made)) await stopIfCancelled(flow);
    return made;
  });
  if ('ended' in created) return created.ended as Extract<FinalStepOutcome, { status: 'notExecuted' }>;
  const { reviewTimeLimit } = input;
  const risk = await analyse(flow, input, {
    ...input.risk,
    onReviewTimeout: input.waitForReview ? 'decline' : 'leave',
    ...(reviewTimeLimit !== undefined && { reviewTimeLimit }),
  });
  await stopIfCancelled(flow);
  // Whatever a lost task has sent, nobody has decided.
  if (risk.decidedBy === 'cancel') throw new CancelledFailure('Cancelled before its review was decided');
  return { ...base(flow), status: risk.decision, risk, evidence: evidence(flow, risk.knownBy) };
}
