import type { TransactionEvent } from '../contract/messages.js';
import type { TransactionRecord, TransactionKind } from '../contract/records.js';
import type { KnownBy } from '../contract/statuses.js';
import {
  NETWORK_ERROR_BELIEVED_AFTER_MS,
  NETWORK_ERROR_REPOSTS_MS,
  pollDelay,
  PROVIDER_ERROR_READ_AFTER_MS,
  PROVIDER_ERROR_REPOST_AFTER_MS,
} from './schedules.js';

/** Progress of waiting for one transaction's final status. */
export interface SettlingProgress {
  polls: number;
  /** POSTs repeated under the same key because the provider could not be reached. */
  reposts: number;
  /** false if the window has closed or the transaction is foreign. */
  canRepost: boolean;
  /** A read has been answered since the transaction was first seen. */
  readBack: boolean;
  /** The service offers no read of it: nothing but the same POST can say more. */
  unreadable?: boolean;
  /** A reply in doubt has led to a repeat under the same key. */
  repostedInDoubt?: boolean;
  /** It is called failed only by an event that does not say why, and the service offers no read of it. */
  unexplained?: boolean;
  /** ms since a failure that is not believed yet was first seen. */
  unconfirmedForMs: number;
}

export type NextStep = { end: true; confirmed: boolean } | { end: false; waitMs: number; by: 'read' | 'repost' };

/**
 * The next step towards a final status. `Succeed` is final. A failure is final with two exceptions: `provider_error` in
 * a reply is read once more, and `provider_network_error` is sent again under the same key, then read for an hour,
 * before it counts as an unconfirmed decline, as does the first one if no read is answered for so long, or an earlier try of its
 * key has had no answer. Where the service
 * offers no read of it, that one is sent again once, as the service advises, and is unconfirmed if nothing else is said. There
 * an event that does not say why it failed counts as an unconfirmed decline after the hour: the provider may not have been reached.
 */
export function nextSettlingStep(record: TransactionRecord, knownBy: KnownBy, progress: SettlingProgress): NextStep {
  if (isUnconfirmedFailure(record)) {
    if (progress.unconfirmedForMs >= NETWORK_ERROR_BELIEVED_AFTER_MS) return { end: true, confirmed: false };
    const repostIn = progress.canRepost ? NETWORK_ERROR_REPOSTS_MS[progress.reposts] : undefined;
    if (repostIn !== undefined) return { end: false, waitMs: repostIn, by: 'repost' };
    const left = NETWORK_ERROR_BELIEVED_AFTER_MS - progress.unconfirmedForMs;
    return { end: false, waitMs: Math.min(pollDelay(progress.polls), left), by: 'read' };
  }
  if (record.status === 'Pending') {
    const left = progress.unexplained === true ? NETWORK_ERROR_BELIEVED_AFTER_MS - progress.unconfirmedForMs : Infinity;
    if (left <= 0) return { end: true, confirmed: false };
    return { end: false, waitMs: Math.min(pollDelay(progress.polls), left), by: 'read' };
  }
  if (isInDoubt(record, knownBy) && !progress.readBack) {
    const left = NETWORK_ERROR_BELIEVED_AFTER_MS - progress.unconfirmedForMs;
    if (left <= 0) return { end: true, confirmed: false };
    if (progress.unreadable === true) {
      if (!progress.canRepost || progress.repostedInDoubt === true) return { end: true, confirmed: false };
      return { end: false, waitMs: PROVIDER_ERROR_REPOST_AFTER_MS, by: 'repost' };
    }
    const waitMs = progress.polls === 0 ? PROVIDER_ERROR_READ_AFTER_MS : pollDelay(progress.polls);
    return { end: false, waitMs: Math.min(waitMs, left), by: 'read' };
  }
  return { end: true, confirmed: true };
}

/**
 * The service could not reach its provider, so the money may have moved; or the provider has failed, and an earlier try of the
 * same key, for which the service asks it again, may still arrive. Not final until it has lasted an hour.
 */
export function isUnconfirmedFailure({ status, category, earlierTryOpen }: TransactionRecord): boolean {
  if (status !== 'Failed') return false;
  return category === 'provider_network_error' || (category === 'provider_error' && earlierTryOpen === true);
}

/** What another try of its key may still change, by what the service says of repeats. */
export function isOpenToTries({ status, category }: TransactionRecord): boolean {
  if (status === 'Pending') return true;
  return status === 'Failed' && (category === 'provider_network_error' || category === 'provider_error');
}

export function isFinal(record: TransactionRecord): boolean {
  return record.status === 'Succeed' || (record.status === 'Failed' && !isUnconfirmedFailure(record));
}

/** A failure at the provider is read once more before a reply that tells of it is believed. */
export function isInDoubt({ status, category }: TransactionRecord, knownBy: KnownBy): boolean {
  return status === 'Failed' && category === 'provider_error' && knownBy === 'reply';
}

/** The transaction moved no money and never will. */
export function hasFailed(record: TransactionRecord): boolean {
  return record.status === 'Failed' && isFinal(record);
}

/**
 * Merges `news` into the `known` state of a transaction. Monotone: a final status is never overwritten unless it is in
 * doubt, and news with less information change nothing.
 * @param by an event may be older than the known state; an answer to our own call is not
 * @param doubted see {@link isInDoubt}
 */
export function advance(
  known: TransactionRecord,
  news: TransactionRecord,
  by: 'event' | 'answer',
  doubted = false,
): TransactionRecord {
  if (isFinal(known) && !(doubted && (by === 'answer' || isFinal(news)))) return known;
  if (isUnconfirmedFailure(known) && news.status === 'Pending' && by === 'event') return known;
  // A failure without a category may still mean that the provider was never reached.
  if (isUnconfirmedFailure(known) && news.status === 'Failed' && news.category === undefined) return known;
  const {
    unknownStatus: _word,
    category: _category,
    subCategory: _subCategory,
    description: _description,
    omitted: _omitted,
    responseCode: _code,
    ...lasting
  } = known;
  return { ...lasting, ...news };
}

/** What an operation is of. */
interface OwnTransaction {
  kind: TransactionKind | 'risk-analysis';
  businessUnit: string;
  paymentId: string | undefined;
  transactionId: string | undefined;
}

type EventVerdict =
  { verdict: 'settles'; record: TransactionRecord } | { verdict: 'read' } | { verdict: 'ignore'; reason: string };

/** The resource of an event type: `charge` of `payment.charge.update`. */
export function resourceOf(eventType: string): string | undefined {
  return /^payment\.([a-z-]+)\.[a-z]+$/.exec(eventType)?.[1];
}

/**
 * Classifies an event for one operation. It settles the operation only if it has the operation's kind, payment and
 * transaction, and no signed value can have moved between fields. Until the transaction id is known it triggers a read.
 */
export function classifyEvent(event: TransactionEvent, own: OwnTransaction): EventVerdict {
  if (event.businessUnit !== own.businessUnit) return { verdict: 'ignore', reason: 'otherBusinessUnit' };
  if (own.paymentId === undefined) return { verdict: 'ignore', reason: 'paymentNotKnownYet' };
  if (event.paymentId !== own.paymentId) return { verdict: 'ignore', reason: 'otherPayment' };
  const resource = resourceOf(event.eventType);
  if (resource !== own.kind)
    return isKnownResource(resource) ? { verdict: 'ignore', reason: 'otherResource' } : { verdict: 'read' };
  if (own.transactionId === undefined) return { verdict: 'read' };
  // Kept out of the signed fields it may be this one.
  if (event.transactionId === undefined) return { verdict: 'read' };
  if (event.transactionId !== own.transactionId) return { verdict: 'ignore', reason: 'otherTransaction' };
  if (!event.trusted || event.status === undefined) return { verdict: 'read' };
  if (isUnexplained(event)) return { verdict: 'read' };
  // An event without amount and currency can't prove them.
  if (event.amount === undefined || event.currency === undefined) return { verdict: 'read' };
  return { verdict: 'settles', record: recordOf(event, own.transactionId, event.status) };
}

/**
 * True for a trusted event that says how the operation has ended, and lacks what must be read: a field that a service does not
 * send is signed as empty. Where the service offers no read, it is the only evidence there is.
 */
export function saysEnd(event: TransactionEvent, own: OwnTransaction): boolean {
  const { eventType, transactionId, status, trusted, unknownSum } = event;
  const isOurs =
    transactionId !== undefined && transactionId === own.transactionId && resourceOf(eventType) === own.kind;
  const isEnd = status !== undefined && status !== 'Pending' && unknownSum !== true;
  return isOurs && isEnd && trusted && classifyEvent(event, own).verdict === 'read';
}

/** True for a trusted event that says how the operation stands, whether or not it lacks what must be read. */
export function tellsStatus(event: TransactionEvent, own: OwnTransaction): boolean {
  return classifyEvent(event, own).verdict === 'settles' || saysEnd(event, own);
}

/** What an event says of which {@link tellsStatus} is true. */
export function recordSaid(
  event: TransactionEvent,
  known: Pick<TransactionRecord, 'transactionId' | 'status'>,
): TransactionRecord {
  return recordOf(event, known.transactionId, event.status ?? known.status);
}

/** It does not say why: the provider may not have been reached. */
export function isUnexplained({ status, category }: Pick<TransactionEvent, 'status' | 'category'>): boolean {
  return status === 'Failed' && !category;
}

/**
 * True for an event of the payment itself: it shows a change, but not which, so it settles nothing and only triggers a
 * read. Some merchants get no other events.
 */
export function tellsOfPayment(
  event: TransactionEvent,
  own: { businessUnit: string; paymentId: string | undefined },
): boolean {
  const { eventType, businessUnit, paymentId } = event;
  return eventType === 'payment.payment.update' && businessUnit === own.businessUnit && paymentId === own.paymentId;
}

const KNOWN_RESOURCES = new Set(['payment', 'authorization', 'charge', 'capture', 'refund', 'void', 'credit']);
function isKnownResource(resource: string | undefined): boolean {
  return resource !== undefined && KNOWN_RESOURCES.has(resource);
}

/**
 * True for a trusted event of a transaction that it does not name: the payment service lets fields be kept out of events, and signs
 * them as empty. It may be of any transaction of its payment, so nobody's answer agrees with it.
 */
export function hidesTransaction({ eventType, transactionId, status, trusted }: TransactionEvent): boolean {
  const resource = resourceOf(eventType);
  const isOfTransaction = isKnownResource(resource) && resource !== 'payment';
  return transactionId === undefined && trusted && isOfTransaction && status !== 'Pending';
}

function recordOf(
  event: TransactionEvent,
  transactionId: string,
  status: TransactionRecord['status'],
): TransactionRecord {
  return {
    transactionId,
    status,
    ...(event.category !== undefined && { category: event.category }),
    ...(event.subCategory !== undefined && { subCategory: event.subCategory }),
    ...(event.responseCode !== undefined && { responseCode: event.responseCode }),
    ...(event.amount !== undefined && { amount: event.amount }),
    ...(event.currency !== undefined && { currency: event.currency }),
  };
}
