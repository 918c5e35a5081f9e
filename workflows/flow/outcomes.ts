import type { Declined, Evidence, FinalStepOutcome, NotExecuted } from '../../src/contract/outcome.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import type { TransactionRecord } from '../../src/contract/transaction.js';
import { retryableBy } from '../../src/domain/decline.js';
import type { FlowState, Hold, SettleCommand } from './state.js';

/** The final state of a transaction. */
export interface Settled {
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
    retryable: confirmed ? retryableBy(category, record.subCategory, isConsent(flow)) : 'nobody',
    confirmed,
  };
  if (record.subCategory !== undefined) declined.subCategory = record.subCategory;
  if (record.description !== undefined) declined.description = record.description;
  if (record.omitted !== undefined) declined.omitted = record.omitted;
  return declined;
}

export function notExecuted(
  flow: FlowState,
  { knownBy, reason, proof }: { knownBy: KnownBy; reason: string; proof: string },
): NotExecuted {
  return { ...base(flow), status: 'notExecuted', reason, evidence: { ...evidence(flow, knownBy), proof } };
}

/** The operator's decision, with who made it and why. It answers their command too: the flow may stay open long. */
export function decidedOutcome(flow: FlowState, command: SettleCommand): FinalStepOutcome {
  const outcome = outcomeOf(flow, command);
  command.answer = { outcome };
  return outcome;
}

function outcomeOf(flow: FlowState, { request }: SettleCommand): FinalStepOutcome {
  const transactionId = request.transactionId ?? flow.transactionId;
  const common = {
    ...base(flow),
    ...(transactionId !== undefined && { transactionId }),
    evidence: { ...evidence(flow, 'operator'), operator: { who: request.who, why: request.why } },
  };
  if (request.status === 'succeeded') return { ...common, status: 'succeeded' };
  if (request.status === 'notExecuted') return { ...common, status: 'notExecuted', reason: request.why };
  const category = request.category ?? 'unknown';
  const retryable = retryableBy(category, undefined, isConsent(flow));
  return { ...common, status: 'declined', category, retryable, confirmed: true };
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
  return { ...base(flow), amount: flow.amount, authorizationId: authorized.transactionId ?? '' };
}

export function evidence(flow: FlowState, knownBy: KnownBy): Evidence {
  return {
    knownBy,
    requestIds: [...flow.requestIds],
    attempts: flow.attempts,
    startedAt: new Date(flow.stepStartedAt).toISOString(),
    settledAt: new Date().toISOString(),
    ...(flow.notLooked && { looked: false as const }),
  };
}
