import { shownDispute } from '../../src/contract/disputes.js';
import { idempotencyKey, canonical } from '../../src/contract/idempotency.js';
import { type FlowStatus, OPERATION_OF_COMMAND, type Outcome } from '../../src/contract/messages.js';
import type { Declined, Evidence, FinalStepOutcome, NotExecuted, Retryable } from '../../src/contract/outcome.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import { retryableBy } from '../../src/domain/decline.js';
import type { FlowState, Hold, SettleCommand, Command, MoneyCommand, ReauthorizeRequest } from './state.js';

/** The final state of a transaction. */
interface Settled {
  record: TransactionRecord;
  knownBy: KnownBy;
  /** False if the service never confirmed a failure about which it could not ask its provider. */
  confirmed: boolean;
}

export function settledOutcome(flow: FlowState, { record, knownBy, confirmed }: Settled): FinalStepOutcome {
  const details = record.details ?? flow.details;
  const common = {
    ...base(flow),
    transactionId: record.transactionId,
    ...(details !== undefined && { details }),
    evidence: evidence(flow, knownBy),
  };
  if (record.status === 'Succeed') return { ...common, status: 'succeeded' };
  const category = record.category ?? 'unknown';
  const declined: Declined = {
    ...common,
    status: 'declined',
    category,
    retryable: retryableOf(flow, { category, subCategory: record.subCategory, confirmed }),
    confirmed,
  };
  if (record.subCategory !== undefined) declined.subCategory = record.subCategory;
  if (record.description !== undefined) declined.description = record.description;
  if (record.omitted !== undefined) declined.omitted = record.omitted;
  return declined;
}

export function notExecuted(
  flow: FlowState,
  { knownBy, reason, proof, braked }: { knownBy: KnownBy; reason: string; proof: string; braked?: true | undefined },
): NotExecuted {
  return {
    ...base(flow),
    status: 'notExecuted',
    reason,
    ...(braked === true && { braked }),
    evidence: { ...evidence(flow, knownBy), proof },
  };
}

/** The operator's decision, with who made it and why. It answers their command too: the flow may stay open long. */
export function decidedOutcome(flow: FlowState, command: SettleCommand): FinalStepOutcome {
  const outcome = outcomeOf(flow, command);
  command.answer = { outcome };
  return outcome;
}

function outcomeOf(flow: FlowState, { request }: SettleCommand): FinalStepOutcome {
  const transactionId = request.transactionId ?? flow.transactionId ?? askedAbout(flow, request.status);
  const common = {
    ...base(flow),
    ...(transactionId !== undefined && { transactionId }),
    evidence: { ...evidence(flow, 'operator'), operator: { who: request.who, why: request.why } },
  };
  if (request.status === 'succeeded') return { ...common, status: 'succeeded' };
  if (request.status === 'notExecuted') return { ...common, status: 'notExecuted', reason: request.why };
  const category = request.category ?? 'unknown';
  const retryable = retryableOf(flow, { category, confirmed: true });
  return { ...common, status: 'declined', category, retryable, confirmed: true };
}

/** What the flow's own payment was created for: others may capture, void and refund it as well. */
export const MADE_FOR: readonly FlowState['kind'][] = ['authorization', 'charge', 'credit'];

/** What an event has named, and the person was asked about. */
function askedAbout(
  { kind, hintedTransactionId: hinted, needsOperator = '' }: FlowState,
  status: SettleCommand['request']['status'],
): string | undefined {
  if (status !== 'succeeded' || hinted === undefined || !MADE_FOR.includes(kind)) return undefined;
  return needsOperator.includes(hinted) ? hinted : undefined;
}

/** How it may be retried, by what is known of its business unit. */
export function retryableOf(
  flow: FlowState,
  { category, subCategory, confirmed }: { category: string; subCategory?: string | undefined; confirmed: boolean },
): Retryable {
  return confirmed ? retryableBy(category, subCategory, isConsent(flow), flow.declines) : 'nobody';
}

/** True if the operation under way is the buyer's consent to later use of the card. */
function isConsent({ consents, kind }: FlowState): boolean {
  return consents === true && (kind === 'authorization' || kind === 'charge');
}

/** Fields of the operation under way: its amount may be less than the payment's. */
export function base(flow: FlowState) {
  return {
    reference: flow.reference,
    amount: flow.stepAmount,
    currency: flow.currency,
    ...(flow.paymentId !== undefined && { paymentId: flow.paymentId }),
    ...(flow.risk !== undefined && { risk: flow.risk }),
  };
}

/** Fields that every end of a hold has in common. */
export function baseOfHold(flow: FlowState, { authorized }: Pick<Hold, 'authorized'>) {
  return { ...base(flow), amount: authorized.amount, authorizationId: authorized.transactionId ?? '' };
}

export function evidence(flow: FlowState, knownBy: KnownBy): Evidence {
  return {
    knownBy,
    requestIds: [...flow.requestIds],
    attempts: flow.attempts,
    startedAt: new Date(flow.stepStartedAt).toISOString(),
    settledAt: new Date().toISOString(),
    ...(flow.notLooked && { looked: false as const }),
    ...(flow.approved !== undefined && { approved: flow.approved }),
  };
}

/**
 * What `outcome` answers now: the final result, or what is known so far.
 * @param command answers this command: the operation that is pending need not be the one it requested
 */
export function presentOutcome(state: FlowState, command?: Command): Outcome {
  if (state.outcome !== undefined) return state.outcome;
  const isOther = command !== undefined && !isUnderWay(state, command);
  const base = {
    reference: state.reference,
    amount: command === undefined ? state.amount : amountOf(state, command, isOther),
    currency: state.currency,
    ...(state.paymentId !== undefined && { paymentId: state.paymentId }),
    ...(state.transactionId !== undefined && !isOther && { transactionId: state.transactionId }),
    ...(state.risk !== undefined && { risk: state.risk }),
    waitingFor: state.waitingFor,
  };
  if (state.status === 'authorized' && state.held !== undefined && command === undefined) {
    return { ...base, amount: state.hold?.authorized.amount ?? state.amount, status: 'authorized', ...state.held };
  }
  if (state.status === 'underReview' && command === undefined) {
    const score = state.risk?.score;
    return { ...base, status: 'underReview', ...(score !== undefined && { score }) };
  }
  // Releasing what a capture left may take days: what it captured is known.
  const taken = state.hold?.taken;
  if (taken !== undefined) return { ...base, status: 'unknown', transactionId: taken.transactionId, captured: taken };
  // A void may wait for its hold, or for the end of the operation that it voids.
  if (state.status !== 'pending' || isOther) return { ...base, status: 'unknown' };
  return {
    ...base,
    status: 'pending',
    ...(state.details !== undefined && { details: state.details }),
    ...(state.redirectUrl !== undefined && { redirectUrl: state.redirectUrl }),
  };
}

/** The command waits behind another one, for an approval, or for the end of the operation that it voids. */
function isUnderWay(state: FlowState, command: Command): boolean {
  if (state.queue.some((waiting) => waiting === command)) return false;
  const kind = OPERATION_OF_COMMAND[command.name];
  return kind === undefined || state.kind === kind;
}

/** Of a command that is under way its own, and of one that waits what it asks for. */
function amountOf(state: FlowState, { request }: Command, isOther: boolean): number {
  if (!isOther) return state.stepAmount;
  return 'amount' in request && request.amount !== undefined ? request.amount : state.amount;
}

export function flowStatus(flow: FlowState): FlowStatus {
  return {
    reference: flow.reference,
    workflowId: flow.workflowId,
    type: flow.type,
    status: flow.status,
    waitingFor: flow.waitingFor,
    since: new Date(flow.since).toISOString(),
    ...(flow.dueAt !== undefined && { dueAt: new Date(flow.dueAt).toISOString() }),
    needsOperator: flow.needsOperator !== undefined,
    ...(flow.needsOperator !== undefined && { operatorReason: flow.needsOperator }),
    ...(flow.paymentId !== undefined && { paymentId: flow.paymentId }),
    ...(flow.transactionId !== undefined && { transactionId: flow.transactionId }),
    operation: flow.kind,
    operationAmount: flow.stepAmount,
    ...(flow.queue.length > 0 && { queued: flow.queue.map(({ commandId }) => commandId) }),
    amount: flow.amount,
    currency: flow.currency,
    businessUnit: flow.businessUnit,
    cancelRequested: flow.cancelRequested,
    ...(flow.dispute !== undefined && { disputed: shownDispute(flow.dispute) }),
    ...(flow.approval !== undefined && {
      approval: { ...flow.approval, until: new Date(flow.approval.until).toISOString() },
    }),
    ignored: { ...flow.ignored },
    ...(flow.outcome !== undefined && { outcome: flow.outcome }),
  };
}

/**
 * Records an executed command with its outcome.
 * @param refusal what its caller gets instead
 * @returns the answer to its caller
 */
export function noteAction(
  flow: FlowState,
  { commandId, name, request }: MoneyCommand | ReauthorizeRequest,
  sequence: number | string,
  outcome: FinalStepOutcome,
  refusal?: string,
): { outcome: FinalStepOutcome } | { refusal: string } {
  const reference = 'reference' in request ? request.reference : undefined;
  flow.actions.push({
    commandId,
    action: name,
    request: canonical(request),
    key: idempotencyKey(flow.workflowId, name === 'reauthorize' ? 'authorize' : name, sequence),
    amount: outcome.amount,
    ...(reference !== undefined && { reference }),
    outcome: inShort(outcome),
    ...(refusal !== undefined && { refusal }),
  });
  return refusal === undefined ? { outcome } : { refusal };
}

const SHORT = 100;

/** A thousand commands are carried from run to run: there is no room for everything a provider may say about each. */
function inShort(outcome: FinalStepOutcome): FinalStepOutcome {
  if (outcome.details === undefined) return outcome;
  const {
    documents: _documents,
    additionalInformation: _information,
    omitted: _omitted,
    card,
    ...texts
  } = outcome.details;
  const details = Object.fromEntries(Object.entries(texts).filter(([, text]) => text.length <= SHORT));
  return { ...outcome, details: { ...details, ...(card !== undefined && { card }) } };
}
