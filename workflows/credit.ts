import type { FinalCreditOutcome, ParsedCreditInput } from '../src/contract/charge.js';
import { FLOWS } from '../src/contract/flows.js';
import { idempotencyKey } from '../src/contract/idempotency.js';
import type { PaymentRecord } from '../src/contract/records.js';
import { taskWasLost } from './flow/earlier-runs.js';
import { type FlowState, kept, runFlow } from './flow/story.js';
import { decidesAfterReset, invalidInput } from './kit/start-guard.js';
import { type Cleared, clearOutgoing } from './steps/clear-outgoing.js';
import { firstPostUntil, refusesAllButVoid, executeVoidable } from './steps/transaction-steps.js';
import { beginStep, type MoneyStep, moneyStep } from './steps/money-step.js';
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
  /** It may be sent, or not. */
  cleared?: Cleared;
}

async function story(flow: FlowState, input: ParsedCreditInput, notes: Notes): Promise<FinalCreditOutcome> {
  const created = await kept(notes, 'created', () => openPayment(flow, input, paymentTerms(input)));
  if ('ended' in created) return created.ended;
  const { payment, readOnlyReason } = created;
  if (flow.limitsOutgoing === true && readOnlyReason === undefined) {
    const cleared = await kept(notes, 'cleared', () => clearCredit(flow, input));
    const { refused, unnamed, approved } = cleared;
    if (refused !== undefined || unnamed !== undefined) {
      // A run or task before this one may have sent it: only reads can tell.
      if (!(await taskWasLost(flow)) && !decidesAfterReset()) {
        if (refused !== undefined) return refused;
        throw invalidInput([`${unnamed}, under a new reference`]);
      }
      return await executeVoidable(flow, stepOf(flow, input, payment), refused?.reason ?? unnamed);
    }
    flow.approved ??= approved;
  }
  return await executeVoidable(flow, stepOf(flow, input, payment), readOnlyReason);
}

async function clearCredit(flow: FlowState, { who }: ParsedCreditInput): Promise<Cleared> {
  const { reference, amount, workflowId } = flow;
  const cleared = await clearOutgoing(flow, {
    operation: 'credit',
    commandId: reference,
    key: idempotencyKey(workflowId, 'credit', 1),
    amount,
    askedBy: who,
    // Not when the flow began: what has waited for its payment takes room on the day on which it is sent.
    at: Date.now(),
    isCancelled: () => flow.isCancelled(),
  });
  // The window counts from here, as after a review: nothing was sent before.
  if (cleared.waited === true) beginStep(flow, 'credit');
  return cleared;
}

function stepOf(flow: FlowState, input: ParsedCreditInput, payment: PaymentRecord): MoneyStep {
  return moneyStep(flow, {
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
}
