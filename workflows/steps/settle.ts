import type { TransactionEvent } from '../../src/contract/messages.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import { isNotOffered } from '../../src/domain/absence.js';
import { pollDelay } from '../../src/domain/schedules.js';
import {
  nextSettlingStep,
  type SettlingProgress,
  advance,
  isFinal,
  isInDoubt,
  isUnconfirmedFailure,
  isUnexplained,
  classifyEvent,
  recordSaid,
  saysEnd,
  tellsOfPayment,
  tellsStatus,
} from '../../src/domain/settling.js';
import {
  hasNews,
  nextMessageOrRun,
  noteSecond,
  refusesWordOfAnother,
  takeOut,
  waitingVoid,
  waitOn,
} from '../flow/inbox.js';
import { decidedOutcome, settledOutcome } from '../flow/outcomes.js';
import { resumable } from '../flow/continue.js';
import { type FlowState, type Message, noteRequestId, type PendingVoids, type VoidOf } from '../flow/state.js';
import { ignore } from '../kit/run.js';
import { showLasting } from '../flow/explain.js';
import { askOperatorAfterADay, nextLookWhileRejected, noteAnswered, refusalOf } from './operator.js';
import { mismatchOf, otherSumOf, refusalOfSum } from './sum-shown.js';
import { isOfPendingDeadline, noteVoidOfDeadline, untilPendingDeadline, voidAtDeadline } from './pending-deadline.js';
import { forgetOldTries, type Known, noteUnansweredRepost, type Reposted, triesUntil } from './open-tries.js';
import { readTransaction } from './read.js';
import { showWaiting, untilTheBuyersTimeIsUp } from './waiting-shown.js';

/** Voids of a pending operation, while it is followed. */
export interface Voids {
  readonly so: PendingVoids;
  /** Reads whether a void is offered, sends it, and follows it to its end. */
  carryOut(command: VoidOf): Promise<void>;
}

/**
 * Follows a transaction to its final status: by event, poll or operator, whichever comes first. The wait has no time
 * limit, because money may still move.
 * @param repost sends the operation again under the same key; undefined if it can't be sent any more
 * @param voids set if a command may void the operation while it is pending
 */
export async function settle(
  flow: FlowState,
  sent: Known,
  repost?: () => Promise<Reposted>,
  voids?: Voids,
): Promise<FinalStepOutcome> {
  const begin = (): Settling => {
    noteAnswered(flow);
    const signed = signedBefore(flow, sent.record);
    return {
      known: sent,
      ...(signed !== undefined && { signed }),
      ...triesUntil(sent),
      progress: { polls: 0, reposts: 0, canRepost: repost !== undefined, readBack: false, unconfirmedForMs: 0 },
    };
  };
  const ended = await resumable(flow, 'settle', begin, async (settling) => {
    // Finish a void first: while it is under way the flow's step fields describe the void, not the pending operation.
    if (voids !== undefined && settling.voiding !== undefined)
      await executeVoid(flow, settling, voids, settling.voiding);
    return await follow(flow, settling, repost, voids);
  });
  if (voids !== undefined) listenForVoids(flow, undefined);
  return ended;
}

/** The end of it that was signed before anything else named it. One that does not say why it failed is the least of them. */
function signedBefore(flow: FlowState, { transactionId }: TransactionRecord): TransactionEvent | undefined {
  const { hints = [], unplaced = [] } = flow;
  const ends = [...hints, ...unplaced.map(({ event }) => event)].filter(
    (event) => event.status !== 'Pending' && tellsStatus(event, { ...flow, transactionId }),
  );
  return ends.findLast((event) => !isUnexplained(event)) ?? ends.at(-1);
}

/** Progress of following a transaction. */
interface Settling {
  known: Known;
  progress: SettlingProgress;
  /** Epoch ms. */
  unconfirmedSince?: number | undefined;
  /** Epoch ms: when a try that had no answer arrives at the latest. */
  triesUntil?: number;
  /** The void of it that is under way. */
  voiding?: VoidOf | undefined;
  /** A signed end that no read has confirmed yet: the service does not send it again. */
  signed?: TransactionEvent;
}

async function follow(
  flow: FlowState,
  settling: Settling,
  repost: (() => Promise<Reposted>) | undefined,
  voids: Voids | undefined,
): Promise<FinalStepOutcome> {
  const { progress } = settling;
  let message: Message | undefined;
  for (;;) {
    forgetOldTries(settling);
    const { known } = settling;
    note(flow, known.record);
    const unexplained = unexplainedFailure(settling);
    progress.unexplained = unexplained !== undefined;
    if (flow.redirectUntil !== undefined && Date.now() >= flow.redirectUntil) flow.redirectUrl = undefined;
    settling.unconfirmedSince =
      progress.unexplained || isUnconfirmedFailure(known.record) || isInDoubt(known.record, known.knownBy)
        ? (settling.unconfirmedSince ?? Date.now())
        : undefined;
    progress.unconfirmedForMs = settling.unconfirmedSince === undefined ? 0 : Date.now() - settling.unconfirmedSince;
    const mismatch = mismatchOf(flow, known.record);
    flow.settlesAmount = otherSumOf(flow, known.record) !== undefined;
    const next = nextSettlingStep(known.record, known.knownBy, progress);
    // A message that came with the read may tell of the success: after the end it would contradict what callers were answered.
    if (next.end && mismatch === undefined && (next.confirmed || !hasNews(flow))) {
      const outcome = settledOutcome(flow, { ...(unexplained ?? known), confirmed: next.confirmed });
      // Answer an operator whose decision matches the service's now: the flow may continue for long.
      if (message?.kind === 'settle') message.command.answer ??= { outcome };
      return outcome;
    }
    showWaiting(flow, known.record, mismatch);
    const pends = mismatch === undefined && known.record.status === 'Pending';
    if (pends) voidAtDeadline(flow, voids?.so);
    const asked = voids !== undefined && pends ? waitingVoid(flow) : undefined;
    if (voids !== undefined) listenForVoids(flow, pends && asked === undefined ? voids.so : undefined);
    if (voids !== undefined && asked !== undefined) {
      takeOut(flow, asked);
      await executeVoid(flow, settling, voids, asked);
      continue;
    }

    if (flow.lookBeside !== undefined) await flow.lookBeside();
    const lookMs = untilTheBuyersTimeIsUp(flow, next.end ? pollDelay(progress.polls) : next.waitMs);
    const waitMs = pends ? untilPendingDeadline(flow, lookMs) : lookMs;
    message = await nextMessageOrRun(flow, nextLookWhileRejected(flow, waitMs), 'Until the next look');
    if (message === undefined && !next.end && next.by === 'repost' && repost !== undefined) {
      progress.reposts += 1;
      if (isInDoubt(known.record, known.knownBy)) progress.repostedInDoubt = true;
      const again = await repost();
      if (again === 'unanswered') noteUnansweredRepost(settling);
      else if (again !== undefined) {
        settling.known = afterRepost(known, again, progress);
        Object.assign(settling, triesUntil(again));
      }
      continue;
    }
    const after = await handle(flow, settling, message);
    if ('ended' in after) return after.ended;
    settling.known = after;
    askOperatorAfterADay(flow, flow.stepStartedAt, { ...after.record, signed: settling.signed?.status });
  }
}

/** What the reply says is as much in doubt as the first one: no read before it has shown this attempt. */
function afterRepost(known: Known, again: Known, progress: SettlingProgress): Known {
  // What pended before it failed pends still in the stored answer: where a read can tell, that answer is none. A read is no
  // stored answer, and where a reply has told of the failure, one that pends is newer.
  const isOlder = known.knownBy !== 'reply' && again.knownBy === 'reply';
  const mayBeStored = isOlder && isUnconfirmedFailure(known.record) && known.record.category === 'provider_error';
  if (mayBeStored && again.record.status === 'Pending' && progress.unreadable !== true) return known;
  const next = advanceKnown(known, again, 'answer');
  if (!isInDoubt(next.record, again.knownBy)) return next;
  progress.readBack = false;
  progress.polls = 0;
  return { ...next, knownBy: again.knownBy };
}

/** Executes the void, then reads the pending operation at once. */
async function executeVoid(flow: FlowState, settling: Settling, voids: Voids, command: VoidOf): Promise<void> {
  settling.voiding = command;
  await voids.carryOut(command);
  settling.voiding = undefined;
  if (isOfPendingDeadline(command)) noteVoidOfDeadline(flow, command);
  // A voided operation is not sent again: the money is not wanted any more.
  if (hasBeenVoided(voids.so)) settling.progress.canRepost = false;
  listenForVoids(flow, voids.so);
  const { known } = settling;
  const fresh = await readTransaction(flow, known.record.transactionId);
  if (fresh !== undefined) settling.known = advanceKnown(known, { record: fresh, knownBy: 'poll' }, 'answer');
  // Nobody waits for the void of a deadline: until one has succeeded nothing more is expected soon.
  if (hasBeenVoided(voids.so) || !isOfPendingDeadline(command)) settling.progress.polls = 0;
}

export function hasBeenVoided({ sent }: PendingVoids): boolean {
  return sent.some(({ outcome }) => outcome.status === 'succeeded');
}

function listenForVoids(flow: FlowState, voids: PendingVoids | undefined): void {
  flow.voidable = voids;
  flow.tellOfVoid = voids !== undefined;
}

/** Handles one message or one poll. Returns the updated record, or the end. */
async function handle(
  flow: FlowState,
  settling: Settling,
  message: Message | undefined,
): Promise<Known | { ended: FinalStepOutcome }> {
  const { known, progress } = settling;
  if (message?.kind === 'settle' && refusesWordOfAnother(flow, message.command)) {
    waitOn(flow);
    return known;
  }
  if (message?.kind === 'event') {
    const verdict = classifyEvent(message.event, flow);
    if (verdict.verdict === 'ignore' && !tellsOfPayment(message.event, flow)) {
      // What a person is asked already stays: the end shows this as well.
      if (noteSecond(flow, message.event) && flow.needsOperator === undefined) showLasting(flow);
      ignore(flow, verdict.reason);
      waitOn(flow);
      return known;
    }
    if (verdict.verdict === 'settles')
      return advanceKnown(known, { record: verdict.record, knownBy: 'webhook' }, 'event');
    if (saysEnd(message.event, flow)) settling.signed = message.event;
  }
  if (message === undefined) progress.polls += 1;
  const fresh = await readTransaction(flow, known.record.transactionId);
  if (fresh !== undefined) progress.readBack = true;
  progress.unreadable = fresh === undefined && isNotOffered(flow.refusedGets[flow.kind]);
  const knownBy = message?.kind === 'event' ? 'webhook' : 'poll';
  const next = fresh === undefined ? asSigned(settling) : advanceKnown(known, { record: fresh, knownBy }, 'answer');
  if (message?.kind !== 'settle') return next;

  const doubted = isInDoubt(next.record, next.knownBy) && !progress.readBack;
  const sum = otherSumOf(flow, next.record);
  const { command } = message;
  const refusal = refusalOf(flow, command, next.record, doubted) ?? refusalOfSum(flow, command, sum);
  if (refusal !== undefined) command.answer = { refusal };
  else if (mismatchOf(flow, next.record) !== undefined || !isFinal(next.record) || doubted) {
    // What has moved counts: the rest of it may be released, or given back, later.
    if (sum !== undefined && command.request.status === 'succeeded') flow.stepAmount = command.request.amount ?? sum;
    return { ended: decidedOutcome(flow, command) };
  }
  return next;
}

/** What is known where the service offers no read: nothing but a signed event can tell then how a transaction has ended. */
function asSigned({ known, signed, progress }: Settling): Known {
  if (signed === undefined || progress.unreadable !== true || isUnexplained(signed)) return known;
  return advanceKnown(known, { record: recordSaid(signed, known.record), knownBy: 'webhook' }, 'event');
}

/** A failure that only an event tells of, which does not say why, and that no read can explain. */
function unexplainedFailure({ known, signed, progress }: Settling): Known | undefined {
  if (signed === undefined || progress.unreadable !== true || !isUnexplained(signed)) return undefined;
  if (known.record.status !== 'Pending') return undefined;
  return advanceKnown(known, { record: recordSaid(signed, known.record), knownBy: 'webhook' }, 'event');
}

function advanceKnown(known: Known, news: Known, by: 'event' | 'answer'): Known {
  const record = advance(known.record, news.record, by, isInDoubt(known.record, known.knownBy));
  return record.status === known.record.status ? { ...known, record } : { record, knownBy: news.knownBy };
}

function note(flow: FlowState, record: TransactionRecord): void {
  flow.transactionId = record.transactionId;
  flow.provider = record.provider ?? flow.provider;
  flow.details = record.details ?? flow.details;
  // A void is sent without an amount: beside a partial capture some services show what it releases, others all that was held.
  const isBesideCapture = flow.kind === 'void' && flow.hold?.taken !== undefined;
  if (flow.beingVoided !== undefined || isBesideCapture) flow.stepAmount = record.amount ?? flow.stepAmount;
  const { transactionId, consentTransactionId: id } = record;
  if (id !== undefined) flow.consent ??= { transactionId, id };
  if (record.redirectUrl !== undefined) {
    flow.redirectUntil ??= Date.now() + flow.redirectLimitMs;
    flow.redirectUrl = Date.now() < flow.redirectUntil ? record.redirectUrl : undefined;
  }
  noteRequestId(flow, record.requestId);
}
