import type { TransactionEvent } from '../../src/contract/messages.js';
import type { RiskVerdict } from '../../src/contract/outcome.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import type { RiskAnalysisRecord } from '../../src/contract/records.js';
import { classifyEvent } from '../../src/domain/settling.js';
import { type NextInput, nextCommandOrMessage, waitOn } from '../flow/inbox.js';
import { base, evidence } from '../flow/outcomes.js';
import { resumable } from '../flow/continue.js';
import { noteRestore } from '../flow/restored.js';
import { type FlowState, noteRequestId, type QueuedCommand, type ReviewCommand } from '../flow/state.js';
import { ignore } from '../kit/run.js';
import { enter } from '../flow/explain.js';
import { publish } from '../kit/visibility.js';
import { poll } from '../policies.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { askOperator, handleFailedRead, credentialsWork, pollWait } from './operator.js';
import { readRefusal } from './failures.js';

export interface ReviewTerms {
  /** Epoch ms. */
  until: number;
  /** Epoch ms by which a review must end: for a held payment there must be time left to void it. */
  latest: number;
  /** `leave`: a review is an answer, and the flow doesn't wait for its end. */
  onTimeout: 'decline' | 'proceed' | 'escalate' | 'leave';
}

/**
 * Resolves the decision of an analysis. A review waits for the risk provider (by event or poll), an operator or its
 * time limit, whichever comes first; so does an analysis that was never answered.
 */
export async function review(
  flow: FlowState,
  analysis: RiskAnalysisRecord | undefined,
  terms: ReviewTerms,
  repliedBy: KnownBy,
): Promise<RiskVerdict> {
  const begin = (): Review => ({ record: analysis, knownBy: repliedBy, polls: 0 });
  return await resumable(flow, 'review', begin, (notes) => untilDecided(flow, terms, notes));
}

interface Review {
  record?: RiskAnalysisRecord | undefined;
  /** The time limit has passed, and an operator was asked. Without a `latest` the wait may last forever. */
  escalated?: true;
  /** A signed end of the review that no read has confirmed or refuted yet: the service does not send it again. */
  signed?: TransactionEvent;
  knownBy: KnownBy;
  polls: number;
}

async function untilDecided(
  flow: FlowState,
  { until, latest, onTimeout }: ReviewTerms,
  notes: Review,
): Promise<RiskVerdict> {
  for (;;) {
    const { record, knownBy } = notes;
    const end = notes.escalated === true ? latest : until;
    flow.transactionId = record?.transactionId;
    const score = record?.score;
    const common = {
      knownBy,
      ...(score !== undefined && { score }),
      ...(record && { analysisId: record.transactionId }),
    };
    const decision = decisionOf(record);
    if (decision !== 'review') return { ...common, decision, decidedBy: 'provider' };
    if (onTimeout === 'leave' && isUnderReview(record)) return { ...common, decision, decidedBy: 'provider' };

    flow.risk = { ...common, decision, decidedBy: 'provider' };
    showReview(flow, end);
    const ms = Math.max(0, Math.min(pollWait(flow, notes.polls), end - Date.now()));
    const next = await nextCommandOrMessage(flow, ms, 'Until the review is looked at again', true, (command) =>
      isForReview(flow, command),
    );
    if ('cancelled' in next) return { ...common, decision: 'decline', decidedBy: 'cancel' };
    if ('command' in next && next.command.name === 'void') {
      flow.queue.unshift(next.command);
      return { ...common, decision: 'decline', decidedBy: 'cancel' };
    }
    if (isNoNews(flow, next)) {
      waitOn(flow);
      continue;
    }
    if ('elapsed' in next) notes.polls += 1;
    notes.knownBy = 'message' in next && next.message.kind === 'event' ? 'webhook' : 'poll';
    if (record !== undefined && 'message' in next && next.message.kind === 'event') {
      const { event } = next.message;
      if (endsReview(flow, record, event)) notes.signed = event;
    }
    let latestRead = (await readAnalysis(flow, record, notes)) ?? record;
    // Nobody decides against what the service has signed, also if it can't be read.
    const isToDecide = 'command' in next || Date.now() >= end;
    if (isToDecide && latestRead !== undefined && notes.signed !== undefined && decisionOf(latestRead) === 'review')
      latestRead = asSigned(latestRead, notes);
    notes.record = latestRead;
    if ('command' in next) {
      const command = next.command as ReviewCommand;
      const now = decisionOf(latestRead);
      if (now !== 'review') {
        command.answer = { refusal: `the risk provider has decided: ${now}` };
        continue;
      }
      const { who, why, decision: decided } = command.request;
      flow.risk = { ...common, decision: decided, decidedBy: 'operator', knownBy: 'operator', operator: { who, why } };
      command.answer = {
        outcome: { ...base(flow), status: decided, risk: flow.risk, evidence: evidence(flow, 'operator') },
      };
      return flow.risk;
    }
    if (Date.now() < end || decisionOf(latestRead) !== 'review') continue;
    if (onTimeout === 'escalate' && Date.now() < latest) {
      askOperator(flow, `the review of its risk has taken longer than it may; \`decideReview\` ends it`);
      notes.escalated = true;
      continue;
    }
    const decided = onTimeout === 'leave' ? 'review' : onTimeout === 'proceed' ? 'approve' : 'decline';
    return { ...common, decision: decided, decidedBy: 'time limit' };
  }
}

/** An analysis that failed with a category has decided nothing: an operator or the time limit does. */
function decisionOf(record: RiskAnalysisRecord | undefined): RiskVerdict['decision'] {
  if (record === undefined) return 'review';
  if (record.decision !== undefined) return record.decision;
  if (record.status === 'Succeed') return 'approve';
  return record.status === 'Failed' && record.category === undefined ? 'decline' : 'review';
}

/** True if the provider has said so: one whose analysis has failed has said nothing. */
function isUnderReview(record: RiskAnalysisRecord | undefined): boolean {
  return record?.decision === 'review' || record?.status === 'Pending';
}

function showReview(flow: FlowState, end: number): void {
  if (flow.status === 'underReview') return;
  enter(flow, { status: 'underReview', waitingFor: 'review' });
  publish(flow, Number.isFinite(end) ? { dueAt: end } : {});
}

/** After a reset commands are given again that are for the hold: they wait for it. */
function isForReview({ keepsVoid }: FlowState, { name }: QueuedCommand): boolean {
  return name === 'decideReview' || (name === 'void' && keepsVoid);
}

/** True if it neither triggers a read nor decides. */
function isNoNews(flow: FlowState, next: NextInput): boolean {
  if (!('message' in next)) return false;
  const { message } = next;
  if (message.kind === 'settle') {
    message.command.answer = { refusal: 'a review is open: use decideReview' };
    return true;
  }
  if (message.kind !== 'event') return false;
  const verdict = classifyEvent(message.event, flow);
  if (verdict.verdict === 'ignore') ignore(flow, verdict.reason);
  return verdict.verdict === 'ignore';
}

async function readAnalysis(
  flow: FlowState,
  known: RiskAnalysisRecord | undefined,
  notes: Review,
): Promise<RiskAnalysisRecord | undefined> {
  const { businessUnit, madeUnder, currency, paymentId = '' } = flow;
  if (known === undefined) return undefined;
  const call = { businessUnit, madeUnder, currency, paymentId, transactionId: known.transactionId };
  let record: RiskAnalysisRecord;
  try {
    record = await poll.getRiskAnalysis(call);
  } catch (error) {
    ignore(flow, 'readFailed');
    handleFailedRead(flow, error);
    // If the service has no such read, a signed event is the only evidence there is.
    if (readRefusal(error) === undefined || notes.signed === undefined) return undefined;
    return asSigned(known, notes);
  }
  // A read that lags behind refutes nothing.
  const isBehind = record.status !== notes.signed?.status || record.category !== notes.signed?.category;
  if (decisionOf(record) !== 'review' || !isBehind) delete notes.signed;
  credentialsWork(flow);
  noteRequestId(flow, decodedOrRetry(record).requestId);
  noteRestore(flow, record);
  return record;
}

/** Only the event's status is signed, and it decides. */
function asSigned(known: RiskAnalysisRecord, notes: Review): RiskAnalysisRecord {
  const { status, category } = notes.signed ?? {};
  notes.knownBy = 'webhook';
  const { decision: _asked, ...lasting } = known;
  return { ...lasting, ...(status !== undefined && { status }), ...(category !== undefined && { category }) };
}

function endsReview(flow: FlowState, known: RiskAnalysisRecord, event: TransactionEvent): boolean {
  const { status, trusted, transactionId } = event;
  if (!trusted || transactionId !== known.transactionId || status === undefined || status === 'Pending') return false;
  // A service may call an analysis successful whose decision is a review: its event says nothing new.
  if (status === known.status) return false;
  return event.paymentId === flow.paymentId && event.businessUnit === flow.businessUnit;
}
