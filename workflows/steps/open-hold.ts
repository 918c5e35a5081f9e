import { MAX_REAUTHORIZATIONS, type ParsedAuthorizeInput } from '../../src/contract/authorize.js';
import type { Succeeded } from '../../src/contract/outcome.js';
import { usesStoredCard } from '../../src/contract/payment-input.js';
import type { HoldTerms } from '../../src/domain/hold.js';
import { CLOCKS_DIFFER_MS, earlierRuns, lastSequences } from '../../src/domain/sent-before.js';
import type { FlowState, Hold } from '../flow/state.js';
import { LOOK_AFTER_MS } from './inspect-hold.js';

/** The part of the flow's input that a hold needs. */
type HoldInput = Pick<ParsedAuthorizeInput, 'onDeadline' | 'captureMode'> &
  Partial<Pick<ParsedAuthorizeInput, 'cardOnFile' | 'reauthorization'>>;

/** @param earlier the hold that this one replaces; keys of its operations are never used again */
export function openHold(
  flow: FlowState,
  input: HoldInput,
  authorized: Succeeded,
  terms: HoldTerms,
  earlier?: Hold,
): Hold {
  const { onDeadline, captureMode, reauthorization } = input;
  const times = onDeadline === 'reauthorize' ? (reauthorization?.times ?? 1) : 0;
  flow.held = {
    captureBy: new Date(terms.captureBy).toISOString(),
    heldUntil: new Date(terms.heldUntil).toISOString(),
  };
  const sequences = sequencesAfter(earlier);
  const isFound = madeBefore(flow, authorized);
  const hold: Hold = {
    authorized,
    authorizedAt: flow.stepStartedAt,
    terms,
    onDeadline: onDeadline === 'capture' ? 'capture' : 'void',
    mustVoid: undefined,
    captureAtOnce: captureMode === 'auto' && earlier === undefined,
    retries: { tries: 0, lastTryAt: 0, captureFailed: false },
    captures: [],
    ...(earlier !== undefined && ofHoldsBefore(earlier)),
    voids: [],
    sequences,
    voidsBefore: sequences.void,
    unconfirmedCapture: undefined,
    looks: 0,
    // Not the current time: since then it may have been captured, for instance by the run before a reset.
    seenAt: flow.stepStartedAt,
    isLate: Date.now() - flow.stepStartedAt >= LOOK_AFTER_MS || isFound,
    ...(isFound && { isFound }),
    nextVoidAt: 0,
    number: (earlier?.number ?? 0) + 1,
    reauthorizationsLeft: usesStoredCard(input) ? MAX_REAUTHORIZATIONS - (earlier?.number ?? 0) : undefined,
    reauthorizationsAtDeadline:
      earlier === undefined
        ? times
        : earlier.reauthorizationsAtDeadline - (earlier.reauthorization === undefined ? 1 : 0),
    reauthorization: undefined,
  };
  if (earlier?.sentBefore !== undefined) hold.sentBefore = earlierRuns(earlier.sentBefore, hold, flow.startedAt);
  flow.hold = hold;
  flow.keepsVoid = false;
  flow.tellOfVoid = false;
  return hold;
}

function ofHoldsBefore({ capturesBefore = [], captures, paymentsBefore = [], authorized }: Hold) {
  const { paymentId } = authorized;
  return {
    capturesBefore: [...capturesBefore, ...captures],
    paymentsBefore: paymentId === undefined ? paymentsBefore : [...paymentsBefore, paymentId],
  };
}

function sequencesAfter(earlier: Hold | undefined): Hold['sequences'] {
  if (earlier === undefined) return { capture: 0, void: 0 };
  return earlier.sentBefore === undefined ? { ...earlier.sequences } : lastSequences(earlier.sentBefore, earlier);
}

/** True if a run before a reset, or one that a restore has lost, may have made the authorization. */
function madeBefore({ stepStartedAt, mayBeLost }: FlowState, { details }: Succeeded): boolean {
  return mayBeLost === true || Date.parse(details?.createdAt ?? '') < stepStartedAt - CLOCKS_DIFFER_MS;
}
