import type { ConsentMoney } from '../../src/contract/cards.js';
import type { Succeeded, FinalStepOutcome } from '../../src/contract/outcome.js';
import type { PaymentRecord, TransactionRecord } from '../../src/contract/records.js';
import { isNotOffered } from '../../src/domain/absence.js';
import { DEFAULT_HOLD_MS, holdTerms, releaseDelay } from '../../src/domain/hold.js';
import { postUntil, OPERATOR_AFTER_MS } from '../../src/domain/schedules.js';
import { isFinal } from '../../src/domain/settling.js';
import { resumable } from '../flow/continue.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { nextMessage, nextMessageOrRun } from '../flow/inbox.js';
import { evidence } from '../flow/outcomes.js';
import { type FlowState } from '../flow/state.js';
import { ignore } from '../kit/run.js';
import { enter } from '../flow/explain.js';
import { publish } from '../kit/visibility.js';
import { noteRefusal } from './failures.js';
import { followHold } from './hold.js';
import { openHold } from './open-hold.js';
import { beginStep, moneyStep, tryExecute } from './money-step.js';
import { ASK_OPERATOR_AFTER_TRIES, askOperator, credentialsWork, handleFailedRead, pollWait } from './operator.js';
import { readTransaction, READS } from './read.js';

interface ConsentGiven {
  by: 'authorization' | 'charge';
  consent: Succeeded;
  /** undefined if only an operator knows of the charge. */
  payment: PaymentRecord | undefined;
  /** Epoch ms: when the consent may have been sent. */
  sentAt: number;
  /** The charge must be refunded. */
  reverse: boolean;
}

/** Voids a hold that served only for the consent, with retries until that is proven. A charge is kept or refunded. */
export async function releaseConsent(flow: FlowState, given: ConsentGiven): Promise<ConsentMoney> {
  const { payment } = given;
  if (given.by === 'authorization') return await release(flow, given);
  if (given.reverse && payment !== undefined) return await reverse(flow);
  return given.reverse ? { status: 'notRefunded', why: 'the payment of the charge is not known' } : { status: 'kept' };
}

async function release(flow: FlowState, { consent, payment, sentAt }: ConsentGiven): Promise<ConsentMoney> {
  const begin = (): object => {
    const terms = holdTerms(sentAt, Date.now(), payment?.holdMs ?? DEFAULT_HOLD_MS, {});
    openHold(flow, { onDeadline: 'void', captureMode: 'manual' }, consent, terms).mustVoid = 'consent given';
    return {};
  };
  const { status, transactionId, evidence } = await resumable(flow, 'releaseConsent', begin, async () => {
    if (flow.hold === undefined) throw new Error('there is no hold to release');
    return await followHold(flow, flow.hold);
  });
  return {
    status: status === 'captured' ? 'capturedElsewhere' : status,
    ...(transactionId !== undefined && { transactionId }),
    evidence,
  };
}

/** Tries over about a day: a provider may refund only what it has settled. */
const MOST_TRIES = 9;

/** ms until a refund that a brake has stopped is tried again. */
const BRAKED_MS = 15 * 60_000;

/** Refunds all that this flow has charged, with retries. */
async function reverse(flow: FlowState): Promise<ConsentMoney> {
  const begin = (): Reversing => ({ made: [], tries: 1, sequence: 1 });
  return await resumable(flow, 'reverse', begin, (notes) => untilReversed(flow, notes));
}

interface Reversing {
  /** Refund transactions of the tries so far. */
  made: string[];
  tries: number;
  sequence: number;
  /** The last declined refund, until a read shows it as failed. */
  declined?: string | undefined;
  /** Epoch ms: it waits for the next try until then. */
  restUntil?: number;
}

async function untilReversed(flow: FlowState, notes: Reversing): Promise<ConsentMoney> {
  const { made } = notes;
  // A refused request executed nothing, so its key is used again. A declined one uses up its key once a read shows it
  // as failed (money rule 3).
  for (;;) {
    if (notes.restUntil !== undefined) await rest(flow, notes.restUntil);
    delete notes.restUntil;
    const { tries, declined } = notes;
    if (declined !== undefined) {
      const read = await readTransaction(flow, declined);
      if (read?.status === 'Succeed')
        return { status: 'refunded', transactionId: declined, evidence: evidence(flow, 'poll') };
      if (read === undefined || !isFinal(read)) {
        // Until a read shows it as failed it may still refund the money, and a second refund could be one too many.
        const why = `refund ${declined} was declined, and can't be read back as failed`;
        if (tries >= MOST_TRIES) return { status: 'notRefunded', transactionId: declined, why };
        if (tries >= ASK_OPERATOR_AFTER_TRIES) askOperator(flow, `the charge of the consent is not refunded: ${why}`);
        tryLater(notes);
        continue;
      }
      notes.declined = undefined;
      notes.sequence += 1;
    }
    const ended = await refund(flow, notes.sequence, made);
    if (!('refused' in ended) && ended.status === 'notExecuted' && ended.braked === true) {
      // No try: nothing was sent, under a key that is still good.
      enter(flow, { waitingFor: 'brake' });
      publish(flow);
      notes.restUntil = Date.now() + BRAKED_MS;
      continue;
    }
    if (!('refused' in ended)) {
      const { transactionId, evidence: known } = ended;
      if (transactionId !== undefined) made.push(transactionId);
      const id = transactionId === undefined ? {} : { transactionId };
      if (ended.status === 'succeeded') return { status: 'refunded', ...id, evidence: known };
      // An unconfirmed decline may have refunded the money, and a second refund could be one too many.
      if (ended.status === 'declined' && !ended.confirmed)
        return { status: 'notRefunded', ...id, why: 'its failure was never confirmed', evidence: known };
      if (ended.status === 'declined') notes.declined = transactionId;
      if (notes.declined === undefined) notes.sequence += 1;
    }
    const why = 'refused' in ended ? ended.refused.message : whyOf(ended);
    if (tries >= MOST_TRIES) return { status: 'notRefunded', why };
    if (tries >= ASK_OPERATOR_AFTER_TRIES) askOperator(flow, `the charge of the consent is not refunded: ${why}`);
    tryLater(notes);
  }
}

function tryLater(notes: Reversing): void {
  notes.restUntil = Date.now() + releaseDelay(notes.tries);
  notes.tries += 1;
}

async function refund(flow: FlowState, sequence: number, made: readonly string[]) {
  const begin = (): object => {
    beginStep(flow, 'refund');
    enter(flow, { status: 'refunding', waitingFor: 'provider', dueAt: null });
    publish(flow);
    return {};
  };
  const { paymentId = '', reference: reconciliationId, amount } = flow;
  const knownTransactionIds = [...made];
  // Without an amount the service refunds everything; from the second refund on it requires an amount.
  const sum = made.length === 0 ? {} : { amount };
  return await resumable(flow, 'refund', begin, () =>
    tryExecute(
      flow,
      moneyStep(flow, {
        paymentId,
        operation: 'refund',
        sequence,
        reconciliationId,
        knownTransactionIds,
        postUntil: postUntil(flow.stepStartedAt, false),
        post: (activities, call) =>
          activities.createRefund({ ...call, reconciliationId, knownTransactionIds, refund: sum }),
      }),
    ),
  );
}

function whyOf(ended: Exclude<FinalStepOutcome, { status: 'succeeded' }>): string {
  if (ended.status === 'notExecuted') return ended.reason;
  return ended.subCategory === undefined ? ended.category : `${ended.category}/${ended.subCategory}`;
}

/** Waits until the next try; `retryNow` ends the wait. A brake may stay for months: the flow may continue as new here. */
async function rest(flow: FlowState, until: number): Promise<void> {
  flow.transactionId = undefined;
  flow.settleable = false;
  while (Date.now() < until) {
    const message = await nextMessageOrRun(flow, until - Date.now(), 'Before the refund is tried again');
    if (message?.kind === 'retryNow') return;
    if (message?.kind === 'settle')
      message.command.answer = { refusal: 'nothing is under way: the refund will be tried again' };
    else if (message?.kind === 'event') ignore(flow, 'nothingUnderWay');
  }
}

/** `null`: there is no id. `undefined`: the service could not be read. */
type ConsentId = string | null | undefined;

/**
 * Reads the consent id that later transactions send. Events don't sign it, so it is always read. If the service refuses
 * that read, the id is known if an earlier answer of the service contained it.
 */
export async function readConsentId(
  flow: FlowState,
  kind: 'authorization' | 'charge',
  { transactionId }: Succeeded,
): Promise<ConsentId> {
  const { paymentId, businessUnit, madeUnder, currency } = flow;
  if (paymentId === undefined || transactionId === undefined) return null;
  let record: TransactionRecord;
  try {
    record = await READS[kind].get({ businessUnit, madeUnder, paymentId, transactionId, currency });
  } catch (error) {
    ignore(flow, 'readFailed');
    handleFailedRead(flow, error);
    const refusal = noteRefusal(flow.refusedGets, kind, error);
    const isNamed = refusal !== undefined && flow.consent?.transactionId === transactionId;
    return isNamed ? flow.consent?.id : undefined;
  }
  credentialsWork(flow);
  return decodedOrRetry(record).consentTransactionId ?? null;
}

/**
 * If the first read got no answer, polls the id for 24 hours once all else is done, because nothing else keeps it, or
 * until the service proves not to offer the read. An operator's decision may be about no transaction at all, so its
 * consent is not read again.
 */
export async function consentIdAtLast(
  flow: FlowState,
  kind: 'authorization' | 'charge',
  consent: Succeeded,
  early: ConsentId,
): Promise<ConsentId> {
  if (early !== undefined || consent.evidence.knownBy === 'operator') return early;
  beginStep(flow, kind);
  enter(flow, { status: 'unknown', waitingFor: 'provider', needsOperator: flow.lasting ?? null });
  for (let polls = 0; Date.now() < flow.stepStartedAt + OPERATOR_AFTER_MS; polls += 1) {
    const id = await readConsentId(flow, kind, consent);
    if (id !== undefined || isNotOffered(flow.refusedGets[kind])) return id;
    const message = await nextMessage(flow, pollWait(flow, polls), 'Until the consent can be read');
    if (message?.kind === 'settle')
      message.command.answer = { refusal: 'nothing is unknown but the id of the consent' };
    else if (message?.kind === 'event') ignore(flow, 'nothingUnderWay');
  }
  return undefined;
}
