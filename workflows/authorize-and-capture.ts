import type {
  EarlierHold,
  FinalAuthorizeOutcome,
  HoldOutcome,
  ParsedAuthorizeInput,
} from '../src/contract/authorize.js';
import { durationMs } from '../src/contract/duration.js';
import { FLOWS } from '../src/contract/flows.js';
import type { FinalStepOutcome, NotExecuted, RiskVerdict, Succeeded } from '../src/contract/outcome.js';
import { givesConsent, usesStoredCard } from '../src/contract/payment-input.js';
import type { PaymentRecord } from '../src/contract/transaction.js';
import { DEFAULT_HOLD_MS, holdTerms, reviewMargin } from '../src/domain/hold.js';
import { waitingVoid } from './flow/mailbox.js';
import { runFlow } from './flow/open-flow.js';
import { kept, stage } from './flow/stages.js';
import type { FlowState } from './flow/state.js';
import { authorizeStep } from './steps/authorize-step.js';
import { beginStep } from './steps/begin-step.js';
import { cardTerms, redirectLimit } from './steps/charge-step.js';
import { answerEarlyVoid, earlyVoid, notSentForVoid } from './steps/early-void.js';
import { openHold, pursueHold } from './steps/hold.js';
import { refusesOfHold } from './steps/hold-refusals.js';
import { learnAndSettle, takeFirstStep } from './steps/money-step.js';
import { type Created, createPayment, takePayment } from './steps/payment-step.js';
import { renewHold } from './steps/renew-hold.js';
import { refuseSecondRun } from './steps/refuse-second-run.js';
import { analyse, refuseByRisk, riskTerms } from './steps/risk-step.js';
import { stopIfCancelled } from './steps/stop-if-cancelled.js';

/**
 * Holds the money, then captures or releases it: create the payment, authorize it, wait for `capture`, `void` or the
 * deadline. Ends `captured`, `voided`, `expired`, `declined` or `notExecuted`; no hold is forgotten.
 *
 * Fails with `InvalidInput`, `ReferenceConflict`, `NotFound` or `StateConflict` when it is certain that nothing was
 * held.
 */
export function authorizeAndCapture(raw: unknown, carried?: unknown): Promise<FinalAuthorizeOutcome> {
  return runFlow([raw, carried], { flow: FLOWS.authorizeAndCapture, traitsOf, begin: (): Notes => ({}) }, story);
}

/** What the flow has done so far, for the run that continues it. */
interface Notes {
  created?: Created;
  verdict?: RiskVerdict;
  /** Whether the flow continues to the authorization after its risk analysis. */
  toAuthorize?: boolean;
  unsent?: NotExecuted | 'sent';
  authorized?: FinalStepOutcome;
}

async function story(flow: FlowState, input: ParsedAuthorizeInput, notes: Notes): Promise<FinalAuthorizeOutcome> {
  return answerEarlyVoid(flow, await authorizeAndPursue(flow, input, notes));
}

async function authorizeAndPursue(
  flow: FlowState,
  input: ParsedAuthorizeInput,
  notes: Notes,
): Promise<FinalAuthorizeOutcome> {
  await refuseSecondRun(flow);
  const created = await kept(notes, 'created', async () => {
    const terms = { ...riskTerms(input), ...cardTerms(input), ...deadlineOf(input) };
    const made = await createPayment(flow, input, terms);
    if ('ended' in made) return made;
    takePayment(flow, made.payment);
    return made;
  });
  if ('ended' in created) return created.ended as Exclude<FinalStepOutcome, { status: 'succeeded' }>;

  const { payment, onlyRead } = created;
  const { risk } = input;
  const before = risk?.when === 'before' && onlyRead === undefined;
  if (risk !== undefined && before) {
    const verdict = await kept(notes, 'verdict', () => analyse(flow, input, risk));
    const toAuthorize = await kept(notes, 'toAuthorize', async () => {
      await stopIfCancelled(flow);
      const isDeclined = verdict.decision === 'decline';
      // A `void` that came during the analysis goes first, whatever the risk provider says: nothing is left to refuse.
      const isLetGo = earlyVoid(flow) !== undefined;
      if (isLetGo || !isDeclined) beginStep(flow, 'authorization');
      return isLetGo || !isDeclined;
    });
    if (!toAuthorize) {
      const refused = await kept(notes, 'authorized', () =>
        refuseByRisk(flow, 'authorization', () => authorizeStep(flow, input, payment)),
      );
      return refused.status === 'succeeded' ? await pursue(flow, input, payment, refused) : refused;
    }
  }

  const step = authorizeStep(flow, input, payment);
  const unsent = await kept(notes, 'unsent', async () => {
    if (onlyRead === undefined) await stopIfCancelled(flow);
    const ended = onlyRead === undefined ? await notSentForVoid(flow) : undefined;
    if (ended !== undefined) return ended;
    flow.tellOfVoid = earlyVoid(flow) === undefined;
    return 'sent';
  });
  if (unsent !== 'sent') return unsent;
  const authorized = await kept(notes, 'authorized', async () =>
    onlyRead === undefined ? await takeFirstStep(flow, step) : await learnAndSettle(flow, onlyRead, step),
  );
  return authorized.status === 'succeeded' ? await pursue(flow, input, payment, authorized) : authorized;
}

/** From the authorization to the end of its hold, or of the hold that replaced it. */
async function pursue(
  flow: FlowState,
  input: ParsedAuthorizeInput,
  payment: PaymentRecord,
  authorized: Succeeded,
): Promise<FinalAuthorizeOutcome> {
  const begin = (): Pursuing => {
    openHold(flow, input, authorized, termsOf(flow, input, payment));
    return { earlierHolds: [], unwanted: waitingVoid(flow) !== undefined || flow.isCancelled() };
  };
  return await stage(flow, 'pursue', begin, (notes) => untilEnd(flow, input, payment, notes));
}

/** What a flow that holds money has done so far, for the run that continues it. */
interface Pursuing {
  /** A void or a cancel came before the money was held: its risk doesn't matter. */
  unwanted: boolean;
  analysed?: true;
  earlierHolds: EarlierHold[];
  /** How the present hold has ended; it is then reauthorized. */
  ended?: HoldOutcome | undefined;
}

async function untilEnd(
  flow: FlowState,
  input: ParsedAuthorizeInput,
  payment: PaymentRecord,
  notes: Pursuing,
): Promise<FinalAuthorizeOutcome> {
  const { earlierHolds, unwanted } = notes;
  if (input.risk?.when === 'after' && !unwanted) await kept(notes, 'analysed', () => analyseHold(flow, input));
  for (;;) {
    const { hold } = flow;
    if (hold === undefined) throw new Error('there is no hold to pursue');
    const ended = await kept(notes, 'ended', () => pursueHold(flow, hold));
    if (hold.mustVoid !== 'reauthorize') return withHistory(flow, ended, earlierHolds);
    const renewed = await renewHold(flow, input, hold, ended);
    notes.ended = undefined;
    if ('ended' in renewed) {
      const { status } = renewed.ended;
      if (status === 'declined' || status === 'notExecuted') noteHold(earlierHolds, ended);
      return withHistory(flow, renewed.ended, earlierHolds);
    }
    noteHold(earlierHolds, ended);
    openHold(flow, input, renewed.authorized, termsOf(flow, input, { ...payment, ...renewed.payment }), hold);
  }
}

function noteHold(earlierHolds: EarlierHold[], { status, paymentId, authorizationId, evidence }: HoldOutcome): void {
  if (status === 'captured') return;
  earlierHolds.push({ status, authorizationId, evidence, ...(paymentId !== undefined && { paymentId }) });
}

/** Adds the executed commands and the earlier holds to the end. */
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

/** A hold is released if its risk is declined or its review is not ended in time. */
async function analyseHold(flow: FlowState, input: ParsedAuthorizeInput): Promise<true> {
  const { hold } = flow;
  if (input.risk === undefined || hold === undefined) return true;
  const { captureBy, heldUntil } = hold.terms;
  // A review must not delay what the deadline starts.
  const latest = Math.min(captureBy, reviewMargin(heldUntil, hold.authorizedAt));
  // The authorization has used up a new token, and the service knows the card by it; a stored card's token stays valid.
  const { paymentMethod, ...withoutCard } = input;
  const analysed = usesStoredCard(input) ? { ...withoutCard, paymentMethod } : withoutCard;
  const verdict = await analyse(flow, analysed, input.risk, latest);
  if (verdict.decision !== 'decline') return true;
  hold.mustVoid = verdict.decidedBy === 'cancel' ? 'cancel' : 'risk declined';
  return true;
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

function traitsOf(input: ParsedAuthorizeInput) {
  return { refuses: refusesOfHold, keepsVoid: true, consents: givesConsent(input), ...redirectLimit(input) };
}
