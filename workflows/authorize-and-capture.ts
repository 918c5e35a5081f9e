import type { FinalAuthorizeOutcome, ParsedAuthorizeInput } from '../src/contract/authorize.js';
import { FLOWS } from '../src/contract/flows.js';
import type { FinalStepOutcome, NotExecuted } from '../src/contract/outcome.js';
import { type FlowState, kept, runFlow } from './flow/story.js';
import { authorizeStep, authorizeTraits } from './steps/transaction-steps.js';
import { answerEarlyVoid, unsentOrSent } from './steps/early-void.js';
import { executeFirst } from './steps/money-step.js';
import { type Created, type CreatedPayment, openPayment, paymentTerms } from './steps/payment-step.js';
import { deadlineOf, followHolds } from './steps/follow-holds.js';
import { passesRisk, refuseByRisk, type RiskNotes } from './steps/risk-step.js';

/**
 * Holds the money, then captures or releases it: create the payment, authorize it, wait for `capture`, `void` or the
 * deadline. Ends `captured`, `voided`, `expired`, `declined` or `notExecuted`; no hold is forgotten.
 *
 * Fails with `InvalidInput`, `ReferenceConflict`, `NotFound` or `StateConflict` when it is certain that nothing was
 * held.
 */
export function authorizeAndCapture(raw: unknown, carried?: unknown): Promise<FinalAuthorizeOutcome> {
  const begin = (): Notes => ({});
  return runFlow([raw, carried], { flow: FLOWS.authorizeAndCapture, traitsOf: authorizeTraits, begin }, story);
}

/** What the flow has done so far, for the run that continues it. */
interface Notes extends RiskNotes {
  created?: Created;
  unsent?: NotExecuted | 'sent';
  authorized?: FinalStepOutcome;
}

async function story(flow: FlowState, input: ParsedAuthorizeInput, notes: Notes): Promise<FinalAuthorizeOutcome> {
  return answerEarlyVoid(flow, await authorizeThenFollow(flow, input, notes));
}

async function authorizeThenFollow(
  flow: FlowState,
  input: ParsedAuthorizeInput,
  notes: Notes,
): Promise<FinalAuthorizeOutcome> {
  const terms = { ...paymentTerms(input), ...deadlineOf(input) };
  const created = await kept(notes, 'created', () => openPayment(flow, input, terms));
  if ('ended' in created) return created.ended as Exclude<FinalStepOutcome, { status: 'succeeded' }>;

  const authorized = await kept(notes, 'authorized', () => authorize(flow, input, created, notes));
  if (authorized.status !== 'succeeded') return authorized;

  return await followHolds(flow, input, created.payment, authorized);
}

/** Authorizes, unless the risk of the payment or a `void` that came first forbids it. */
async function authorize(
  flow: FlowState,
  input: ParsedAuthorizeInput,
  { payment, readOnlyReason }: CreatedPayment,
  notes: Notes,
): Promise<FinalStepOutcome> {
  const { risk } = input;
  const isAnalysed = risk?.when === 'before' && readOnlyReason === undefined;
  if (isAnalysed && !(await passesRisk(flow, { ...input, risk }, 'authorization', notes)))
    return await refuseByRisk(flow, 'authorization', () => authorizeStep(flow, input, payment));

  const step = authorizeStep(flow, input, payment);
  const unsent = await kept(notes, 'unsent', () => unsentOrSent(flow, readOnlyReason));
  return unsent === 'sent' ? await executeFirst(flow, step, readOnlyReason) : unsent;
}
