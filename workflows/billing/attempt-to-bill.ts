import {
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  condition,
  ParentClosePolicy,
  patched,
  sleep,
  startChild,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { FlowReading } from '../../src/contract/engine-port.js';
import { FLOWS } from '../../src/contract/flows.js';
import { BILLING_TASK_QUEUE, FAILURE_TYPES, MEMO_KEYS, PATCHES, paymentWorkflowId } from '../../src/contract/names.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import type { Outcome } from '../../src/contract/messages.js';
import { pollDelay } from '../../src/domain/schedules.js';
import { startedAttributes } from '../kit/visibility.js';
import { billing } from '../policies.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { referenceOf } from './bills.js';
import { executeCommands } from './execute-command.js';
import { isRunUnknown } from './given-again.js';
import { followedAgain, mayBeForgotten } from './is-started.js';
import type { Attempted, Billing, OpenPeriod } from './state.js';

/** Marks the payments that a subscription has started, with reuse policy "reject duplicate". */
const STARTED_BY = 'holdfast-subscription';

/**
 * Charges the stored card once for a period: starts a `charge` as a child, or joins the one that an earlier run started
 * under the same reference (money rule 8). It is followed however long it takes; commands are executed meanwhile.
 */
export async function attemptToBill(flow: Billing, open: OpenPeriod, again?: number): Promise<Attempted> {
  const input = chargeOf(flow, open);
  let attempted: Attempted | undefined;
  let broken: Error | undefined;
  follow(flow, open, input, again).then(
    (known) => (attempted = known),
    (error: unknown) => (broken = error instanceof Error ? error : new Error(String(error))),
  );
  for (;;) {
    await condition(
      () => attempted !== undefined || broken !== undefined || flow.queue.length > 0 || isRunUnknown(flow),
    );
    if (broken !== undefined) throw broken;
    if (attempted !== undefined) return attempted;
    await executeCommands(flow);
  }
}

async function follow(
  flow: Billing,
  open: OpenPeriod,
  input: ReturnType<typeof chargeOf>,
  again?: number,
): Promise<Attempted> {
  const { type, fingerprint } = FLOWS.charge;
  const workflowId = FLOWS.charge.workflowId(input);
  const number = (open.unsure === undefined ? undefined : await followedAgain(flow, open)) ?? again;
  if (number !== undefined) {
    // Instead of the payment that was about to be made.
    open.attempts -= 1;
    return { ...(await join(paymentWorkflowId(referenceOf(flow, open, number)))), number };
  }
  const kept = mayBeForgotten(flow) ? await laterKept(workflowId) : undefined;
  if (kept !== undefined) {
    open.attempts = kept;
    open.forgotten = true;
    return await join(paymentWorkflowId(referenceOf(flow, open)));
  }
  try {
    const child = await startChild(type, {
      workflowId,
      taskQueue: BILLING_TASK_QUEUE,
      args: [input],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      memo: {
        [MEMO_KEYS.fingerprint]: fingerprint(input),
        [MEMO_KEYS.startedBy]: STARTED_BY,
        [MEMO_KEYS.decidedAt]: Date.now(),
      },
      typedSearchAttributes: startedAttributes(input),
      staticSummary: `Bill ${flow.input.reference}, ${input.reference}`,
    });
    return { outcome: decodedOrRetry((await child.result()) as FinalStepOutcome) };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return await join(workflowId);
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const { cause } = error;
    if (cause instanceof ApplicationFailure)
      // Another flow has used the reference of this attempt, and may have charged: nobody tries again before it is known.
      return cause.type === FAILURE_TYPES.referenceConflict ? { lost: cause.message } : { refused: cause.message };
    if (cause instanceof CancelledFailure) return { refused: 'it was cancelled before anything was sent' };
    return { lost: cause?.message ?? error.message };
  }
}

/** Number of a later payment of the bill that Temporal still has, where it has forgotten this one: its id could be used again. */
async function laterKept(workflowId: string): Promise<number | undefined> {
  const reading = decodedOrRetry(await billing.readAttempt(workflowId));
  return reading.state === 'absent' ? reading.later : undefined;
}

async function join(workflowId: string): Promise<Attempted> {
  for (let looks = 0; ; looks += 1) {
    const reading: FlowReading = decodedOrRetry(await billing.readAttempt(workflowId));
    if (reading.state === 'ended') return { ...endedAs(reading.outcome), ...cardOf(reading) };
    if (reading.state === 'refused') return { refused: reading.why };
    if (reading.state === 'lost') return { lost: reading.why, ...cardOf(reading) };
    // It would be waited for without end, and nobody would know.
    if (reading.state === 'absent' && patched(PATCHES.knowsForgotten))
      return { lost: 'Temporal knows nothing of it any more' };
    await sleep(pollDelay(looks), { summary: 'Until the next look at the payment' });
  }
}

function cardOf({ token }: { token?: string }): { token?: string } {
  return token === undefined ? {} : { token };
}

/** A flow under the attempt's id that ended otherwise is no attempt of ours: its result is not believed. */
function endedAs(outcome: Outcome): Attempted {
  const { status } = outcome;
  const isKnown = status === 'succeeded' || status === 'declined' || status === 'notExecuted';
  return isKnown ? { outcome, joined: true } : { lost: `it ended ${status}` };
}

function chargeOf(flow: Billing, open: OpenPeriod) {
  const { currency, businessUnit, customerId, entryMode, statementSoftDescriptor } = flow.input;
  const { token, consentTransactionId } = flow.card;
  return {
    reference: referenceOf(flow, open),
    amount: open.amount,
    currency,
    businessUnit,
    customerId,
    paymentMethod: { type: 'tokenized' as const, token },
    cardOnFile: { entryMode, ...(consentTransactionId !== undefined && { consentTransactionId }) },
    ...(statementSoftDescriptor !== undefined && { statementSoftDescriptor }),
  };
}
