import type { FinalCreditOutcome, ParsedCreditInput } from '../src/contract/credit.js';
import { FLOWS } from '../src/contract/flows.js';
import { runFlow } from './flow/open-flow.js';
import { kept } from './flow/stages.js';
import type { FlowState } from './flow/state.js';
import { cardTerms, firstPostUntil } from './steps/charge-step.js';
import { learnAndSettle, moneyStep, takeFirstStep } from './steps/money-step.js';
import { type Created, createPayment, takePayment } from './steps/payment-step.js';
import { refuseSecondRun } from './steps/refuse-second-run.js';
import { endVoidable, refusesAllButVoid } from './steps/voidable-step.js';

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
  await refuseSecondRun(flow);
  const created = await kept(notes, 'created', async () => {
    const made = await createPayment(flow, input, cardTerms(input));
    if ('ended' in made) return made;
    takePayment(flow, made.payment);
    return made;
  });
  if ('ended' in created) return created.ended;

  const { payment, onlyRead } = created;
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
  return await endVoidable(flow, (voids) =>
    onlyRead === undefined
      ? takeFirstStep(flow, { ...step, voids })
      : learnAndSettle(flow, onlyRead, { ...step, voids }),
  );
}
