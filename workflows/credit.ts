import type { FinalCreditOutcome, ParsedCreditInput } from '../src/contract/charge.js';
import { FLOWS } from '../src/contract/flows.js';
import { type FlowState, kept, runFlow } from './flow/story.js';
import { firstPostUntil, refusesAllButVoid, executeVoidable } from './steps/transaction-steps.js';
import { moneyStep } from './steps/money-step.js';
import { type Created, openPayment, paymentTerms } from './steps/payment-step.js';

/**
 * Sends money to a card once, without relation to an earlier payment. Ends `succeeded`, `declined` or `notExecuted`,
 * and stays open while the outcome is unknown.
 *
 * Fails with `InvalidInput`, `ReferenceConflict`, `NotFound` or `StateConflict` when it is certain that no money moved.
 */
export function credit(raw: unknown, carried?: unknown): Promise<FinalCreditOutcome> {
  return runFlow(
    [raw, carried],
    { flow: FLOWS.credit, traitsOf: () => ({ refuses: refusesAllButVoid }), begin: (): Notes => ({}) },
    story,
  );
}

/** What the flow has done so far, for the run that continues it. */
interface Notes {
  created?: Created;
}

async function story(flow: FlowState, input: ParsedCreditInput, notes: Notes): Promise<FinalCreditOutcome> {
  const created = await kept(notes, 'created', () => openPayment(flow, input, paymentTerms(input)));
  if ('ended' in created) return created.ended;
  const { payment, readOnlyReason } = created;
  const step = moneyStep(flow, {
    paymentId: payment.paymentId,
    operation: 'credit',
    sequence: 1,
    reconciliationId: flow.reference,
    postUntil: firstPostUntil(flow, input),
    post: (activities, call) => {
      const { paymentMethod, cardOnFile } = input;
      const asked = { paymentMethod, ...(cardOnFile !== undefined && { cardOnFile }) };
      return activities.createCredit({ ...call, reconciliationId: flow.reference, credit: asked });
    },
  });
  return await executeVoidable(flow, step, readOnlyReason);
}
