import type {
  EarlierHold,
  FinalAuthorizeOutcome,
  HoldOutcome,
  ParsedAuthorizeInput,
} from '../../src/contract/authorize.js';
import { durationMs } from '../../src/contract/fields.js';
import type { Succeeded } from '../../src/contract/outcome.js';
import { usesStoredCard } from '../../src/contract/payment-input.js';
import type { PaymentRecord } from '../../src/contract/records.js';
import { DEFAULT_HOLD_MS, holdTerms, reviewMargin } from '../../src/domain/hold.js';
import { CLOCKS_DIFFER_MS } from '../../src/domain/sent-before.js';
import { waitingVoid } from '../flow/inbox.js';
import { kept, resumable } from '../flow/continue.js';
import type { FlowState, Hold } from '../flow/state.js';
import { followHold } from './hold.js';
import { openHold } from './open-hold.js';
import { mayBeReauthorized, reauthorizeHold } from './reauthorize-hold.js';
import { analyse } from './risk-step.js';

/** From the authorization to the end of its hold, or of the hold that replaced it; no hold is forgotten. */
export async function followHolds(
  flow: FlowState,
  input: ParsedAuthorizeInput,
  payment: PaymentRecord,
  authorized: Succeeded,
): Promise<FinalAuthorizeOutcome> {
  const begin = (): Following => {
    const hold = openHold(flow, input, authorized, termsOf(flow, input, payment));
    // The earlier flow may have captured or voided it.
    if (payment.ofEarlierFlow === true) {
      hold.isLate = true;
      hold.isFound = true;
      hold.ofEarlierFlow = true;
    }
    return { earlierHolds: [], unwanted: waitingVoid(flow) !== undefined || flow.isCancelled() };
  };
  return await resumable(flow, 'followHolds', begin, (notes) => untilEnd(flow, input, payment, notes));
}

/** What a flow that holds money has done so far, for the run that continues it. */
interface Following {
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
  notes: Following,
): Promise<FinalAuthorizeOutcome> {
  const { earlierHolds, unwanted } = notes;
  if (input.risk?.when === 'after' && !unwanted) await kept(notes, 'analysed', () => analyseHold(flow, input));
  for (;;) {
    const { hold } = flow;
    if (hold === undefined) throw new Error('there is no hold to follow');
    const ended = await kept(notes, 'ended', () => followHold(flow, hold));
    if (hold.mustVoid !== 'reauthorize' && !mayBeReauthorized(flow, hold, ended))
      return withHistory(flow, ended, earlierHolds);
    const reauthorized = await reauthorizeHold(flow, input, hold, ended);
    notes.ended = undefined;
    if ('ended' in reauthorized) {
      const { status } = reauthorized.ended;
      if (status === 'declined' || status === 'notExecuted') noteHold(earlierHolds, ended);
      return withHistory(flow, reauthorized.ended, earlierHolds);
    }
    noteHold(earlierHolds, ended);
    const { authorized, payment: next } = reauthorized;
    const knownAt = countFromCreation(flow, hold, authorized);
    openHold(flow, input, authorized, termsOf(flow, input, { ...payment, ...next }, knownAt), hold);
  }
}

/**
 * The run before a reset may have made the authorization that this one has found: it lasts, and may have been captured,
 * since it was made. Returns when its success counts as known (epoch ms).
 */
function countFromCreation(flow: FlowState, earlier: Hold, { details }: Succeeded): number {
  const created = Date.parse(details?.createdAt ?? '');
  const isEarlier = created > earlier.authorizedAt && created < flow.stepStartedAt - CLOCKS_DIFFER_MS;
  if (!isEarlier) return Date.now();
  flow.stepStartedAt = created;
  return created;
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

function termsOf(
  flow: FlowState,
  input: ParsedAuthorizeInput,
  { holdMs = DEFAULT_HOLD_MS }: PaymentRecord,
  knownAt = Date.now(),
) {
  const { deadlineWarning } = input;
  return holdTerms(flow.stepStartedAt, knownAt, holdMs, {
    deadlineMs: deadlineOf(input).captureDeadlineMs,
    warningMs: deadlineWarning === undefined ? undefined : durationMs(deadlineWarning),
  });
}

/** How long the hold must last: the business unit is chosen by it. */
export function deadlineOf({ captureDeadline }: ParsedAuthorizeInput): { captureDeadlineMs?: number } {
  const ms = captureDeadline === undefined ? undefined : durationMs(captureDeadline);
  return ms === undefined ? {} : { captureDeadlineMs: ms };
}
