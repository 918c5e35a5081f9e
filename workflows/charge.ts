import type { FinalChargeOutcome, ParsedChargeInput } from '../src/contract/charge.js';
import { chargeInputSchema } from '../src/contract/charge.js';
import { fingerprint } from '../src/contract/fingerprint.js';
import { paymentWorkflowId, WORKFLOW_TYPES } from '../src/contract/names.js';
import { runFlow } from './flow/open-flow.js';
import { guardStart, parseInput } from './flow/start-guard.js';
import type { FlowState } from './flow/state.js';
import type { StartShape } from './policies.js';
import { LOCAL_FIRST } from './policies.js';
import { attempt } from './steps/attempt.js';
import type { ChargeStep } from './steps/charge-step.js';
import { chargeStep } from './steps/charge-step.js';
import { createPayment } from './steps/payment-step.js';
import { learnByReading } from './steps/prove.js';
import { refuseSecondRun } from './steps/refuse-second-run.js';
import { settle } from './steps/settle.js';
import { stopIfCancelled } from './steps/stop-if-cancelled.js';

/**
 * Takes the money once: create the payment, charge it, follow the charge to its final status. Ends
 * `succeeded`, `declined` or `notExecuted`; while it can't know, it stays open and says so.
 *
 * Fails with `InvalidInput`, `ReferenceConflict`, `NotFound` or `StateConflict` when it is certain that
 * no money moved.
 */
export function charge(raw: unknown): Promise<FinalChargeOutcome> {
  return chargeShaped(raw, LOCAL_FIRST);
}

/** The same in any shape; only benchmarks use another than `charge` does. */
export function chargeShaped(raw: unknown, shape: StartShape): Promise<FinalChargeOutcome> {
  let input: ParsedChargeInput;
  return runFlow(
    () => {
      input = parseInput(chargeInputSchema, raw);
      guardStart(paymentWorkflowId(input.reference));
      return identityOf(input);
    },
    (flow) => story(flow, input, shape),
  );
}

async function story(flow: FlowState, input: ParsedChargeInput, shape: StartShape): Promise<FinalChargeOutcome> {
  await refuseSecondRun(flow);
  const created = await createPayment(flow, input, shape);
  if ('ended' in created) return created.ended;

  const { payment, onlyRead } = created;
  flow.paymentId = payment.paymentId;
  // Signed evidence of a charge on it: the absence of one can't be proven any more.
  if (flow.revealed?.paymentId === payment.paymentId) flow.hintedTransactionId = flow.revealed.transactionId;
  const step = chargeStep(flow, input, payment, shape);
  if (onlyRead !== undefined) return await learnAndSettle(flow, onlyRead, step);

  await stopIfCancelled(flow);
  const sent = await attempt(flow, step);
  if (sent.answer === undefined) return await learnAndSettle(flow, sent.lastFailure, step);
  return await settle(flow, { record: sent.answer, knownBy: sent.knownBy }, async () => {
    const again = await attempt(flow, { ...step, once: true });
    return again.answer === undefined ? undefined : { record: again.answer, knownBy: again.knownBy };
  });
}

/** Nothing may be sent any more: only reads tell what happened. */
async function learnAndSettle(flow: FlowState, lastFailure: string, step: ChargeStep): Promise<FinalChargeOutcome> {
  const learned = await learnByReading(flow, lastFailure, step.find);
  return 'ended' in learned ? learned.ended : await settle(flow, learned);
}

function identityOf(input: ParsedChargeInput) {
  const { reference, amount, currency, businessUnit, paymentMethod, customerId } = input;
  const type = WORKFLOW_TYPES.charge;
  return {
    type,
    reference,
    amount,
    currency,
    businessUnit,
    kind: 'charge' as const,
    fingerprint: fingerprint({
      type,
      reference,
      amount,
      currency,
      businessUnit,
      token: paymentMethod.token,
      customerId,
    }),
  };
}
