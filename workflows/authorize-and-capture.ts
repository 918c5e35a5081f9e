import type {
  EarlierHold,
  FinalAuthorizeOutcome,
  HoldOutcome,
  ParsedAuthorizeInput,
} from '../src/contract/authorize.js';
import { authorizeInputSchema } from '../src/contract/authorize.js';
import { durationMs } from '../src/contract/duration.js';
import { fingerprint } from '../src/contract/fingerprint.js';
import { paymentWorkflowId, WORKFLOW_TYPES } from '../src/contract/names.js';
import type { FinalStepOutcome, Succeeded } from '../src/contract/outcome.js';
import { givesConsent, usesStoredCard } from '../src/contract/payment-input.js';
import type { PaymentRecord } from '../src/contract/transaction.js';
import { DEFAULT_HOLD_MS, holdTerms, reviewMargin } from '../src/domain/hold.js';
import { waitingVoid } from './flow/mailbox.js';
import { runFlow } from './flow/open-flow.js';
import { happen, happened } from './flow/phase.js';
import type { FlowState } from './flow/state.js';
import { LOCAL_FIRST, NOTHING_LOCAL } from './policies.js';
import { authorizeStep } from './steps/authorize-step.js';
import { beginStep } from './steps/begin-step.js';
import { cardTerms, redirectLimit } from './steps/charge-step.js';
import { answerEarlyVoid, earlyVoid, notSentForVoid } from './steps/early-void.js';
import type { Hold } from './steps/hold.js';
import { openHold, pursueHold } from './steps/hold.js';
import { refusesBeforeHold } from './steps/hold-refusals.js';
import { learnAndSettle, takeFirstStep } from './steps/money-step.js';
import { createPayment, takePayment } from './steps/payment-step.js';
import { renewHold } from './steps/renew-hold.js';
import { refuseSecondRun } from './steps/refuse-second-run.js';
import { analyse, refuseByRisk, riskTerms } from './steps/risk-step.js';
import { stopIfCancelled } from './steps/stop-if-cancelled.js';

/**
 * Holds the money, then takes it or lets it go: create the payment, authorize it, wait for `capture`, `void` or
 * the deadline. Ends `captured`, `voided`, `expired`, `declined` or `notExecuted`; no hold is forgotten.
 *
 * Fails with `InvalidInput`, `ReferenceConflict`, `NotFound` or `StateConflict` when it is certain that
 * nothing was held.
 */
export function authorizeAndCapture(raw: unknown): Promise<FinalAuthorizeOutcome> {
  return runFlow(
    raw,
    { schema: authorizeInputSchema, workflowIdOf: ({ reference }) => paymentWorkflowId(reference), identityOf },
    story,
  );
}

async function story(flow: FlowState, input: ParsedAuthorizeInput): Promise<FinalAuthorizeOutcome> {
  return answerEarlyVoid(flow, await authorizeAndPursue(flow, input));
}

async function authorizeAndPursue(flow: FlowState, input: ParsedAuthorizeInput): Promise<FinalAuthorizeOutcome> {
  await refuseSecondRun(flow);
  const created = await createPayment(flow, input, LOCAL_FIRST, {
    ...riskTerms(input),
    ...cardTerms(input),
    ...deadlineOf(input),
  });
  if ('ended' in created) return happened(flow, created.ended) as Exclude<FinalStepOutcome, { status: 'succeeded' }>;

  const { payment, onlyRead } = created;
  takePayment(flow, payment);
  const before = input.risk?.when === 'before' && onlyRead === undefined;
  if (input.risk !== undefined && before) {
    const verdict = await analyse(flow, input, input.risk);
    await stopIfCancelled(flow);
    // Whatever the risk provider has said: a void that came meanwhile leaves nothing to be refused.
    if (earlyVoid(flow) !== undefined) {
      if (verdict.decision === 'decline') happen(flow, 'approved');
    } else if (verdict.decision === 'decline') {
      const refused = await refuseByRisk(flow, 'authorization', () =>
        authorizeStep(flow, input, payment, NOTHING_LOCAL),
      );
      return refused.status === 'succeeded' ? await pursue(flow, input, payment, refused) : refused;
    }
    beginStep(flow, 'authorization');
  } else {
    happen(flow, 'paymentCreated');
  }

  const step = authorizeStep(flow, input, payment, before ? NOTHING_LOCAL : LOCAL_FIRST);
  if (onlyRead === undefined) await stopIfCancelled(flow);
  const unsent = onlyRead === undefined ? await notSentForVoid(flow) : undefined;
  if (unsent !== undefined) return happened(flow, unsent);
  flow.tellOfVoid = earlyVoid(flow) === undefined;
  const authorized =
    onlyRead === undefined ? await takeFirstStep(flow, step) : await learnAndSettle(flow, onlyRead, step);
  happened(flow, authorized);
  return authorized.status === 'succeeded' ? await pursue(flow, input, payment, authorized) : authorized;
}

/** From the authorization to the end of its hold, or of the one that took its place. */
async function pursue(
  flow: FlowState,
  input: ParsedAuthorizeInput,
  payment: PaymentRecord,
  authorized: Succeeded,
): Promise<FinalAuthorizeOutcome> {
  let hold = openHold(flow, input, authorized, termsOf(flow, input, payment));
  const unwanted = waitingVoid(flow) !== undefined || flow.isCancelled();
  if (input.risk?.when === 'after' && !unwanted) await analyseHold(flow, input, hold);
  const earlierHolds: EarlierHold[] = [];
  for (;;) {
    const ended = await pursueHold(flow, hold);
    if (hold.mustVoid !== 'reauthorize') return withHistory(flow, ended, earlierHolds);
    const renewed = await renewHold(flow, input, hold, ended);
    if ('ended' in renewed) {
      const { status } = renewed.ended;
      if (status === 'declined' || status === 'notExecuted') noteHold(earlierHolds, ended);
      return withHistory(flow, renewed.ended, earlierHolds);
    }
    noteHold(earlierHolds, ended);
    hold = openHold(flow, input, renewed.authorized, termsOf(flow, input, { ...payment, ...renewed.payment }), hold);
  }
}

function noteHold(earlierHolds: EarlierHold[], { status, paymentId, authorizationId, evidence }: HoldOutcome): void {
  if (status === 'captured') return;
  earlierHolds.push({ status, authorizationId, evidence, ...(paymentId !== undefined && { paymentId }) });
}

/** What came before the end: commands, and holds that were made anew. */
function withHistory(
  { actions }: FlowState,
  ended: FinalAuthorizeOutcome,
  earlierHolds: EarlierHold[],
): FinalAuthorizeOutcome {
  return {
    ...ended,
    ...(actions.length > 0 && { actions: [...actions] }),
    ...(earlierHolds.length > 0 && { earlierHolds }),
  };
}

/** A hold whose risk is declined, or whose review was not ended in time, is let go. */
async function analyseHold(flow: FlowState, input: ParsedAuthorizeInput, hold: Hold): Promise<void> {
  if (input.risk === undefined) return;
  const { captureBy, heldUntil } = hold.terms;
  // A review may not hold up what the deadline is to start.
  const latest = Math.min(captureBy, reviewMargin(heldUntil, hold.authorizedAt));
  // The authorization has used a new token up, and the service knows the card by it; that of a stored card lives on.
  const { paymentMethod, ...withoutCard } = input;
  const analysed = usesStoredCard(input) ? { ...withoutCard, paymentMethod } : withoutCard;
  const verdict = await analyse(flow, analysed, input.risk, latest);
  if (verdict.decision !== 'decline') return;
  happen(flow, 'rejected');
  hold.mustVoid = verdict.decidedBy === 'cancel' ? 'cancel' : 'risk declined';
}

function termsOf(flow: FlowState, input: ParsedAuthorizeInput, { holdMs = DEFAULT_HOLD_MS }: PaymentRecord) {
  const { deadlineWarning } = input;
  return holdTerms(flow.stepStartedAt, Date.now(), holdMs, {
    deadlineMs: deadlineOf(input).captureDeadlineMs,
    warningMs: deadlineWarning === undefined ? undefined : durationMs(deadlineWarning),
  });
}

function deadlineOf({ captureDeadline }: ParsedAuthorizeInput): { captureDeadlineMs?: number } {
  const ms = captureDeadline === undefined ? undefined : durationMs(captureDeadline);
  return ms === undefined ? {} : { captureDeadlineMs: ms };
}

function identityOf(input: ParsedAuthorizeInput) {
  const { reference, amount, currency, businessUnit, paymentMethod, customerId } = input;
  const type = WORKFLOW_TYPES.authorizeAndCapture;
  return {
    type,
    reference,
    amount,
    currency,
    businessUnit,
    kind: 'authorization' as const,
    refuses: refusesBeforeHold,
    keepsVoid: true,
    consents: givesConsent(input),
    ...redirectLimit(input),
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
