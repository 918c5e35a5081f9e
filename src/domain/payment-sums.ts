import type { ActionRecord, MadeTransactions, PaymentAction } from '../contract/payment-actions.js';
import type { TransactionRecord } from '../contract/records.js';
import type { TransactionEvent } from '../contract/transaction-event.js';
import { UNKNOWN_ID } from './ownership.js';
import { isUnknownWord } from './payment-words.js';
import { hasFailed, isFinal, resourceOf } from './settling.js';

/** The service's data of one payment. Amounts are minor units. */
export interface PaymentFacts {
  status: string;
  currency: string;
  /** The payment's amount, used for transactions without an amount. */
  amount: number;
  authorizations: readonly TransactionRecord[];
  charges: readonly TransactionRecord[];
  captures: readonly TransactionRecord[];
  refunds: readonly TransactionRecord[];
  voids: readonly TransactionRecord[];
}

export interface Sums {
  authorized: number;
  captured: number;
  /** Refunded at most: pending and unknown refunds count as refunded. */
  refunded: number;
  /** Captured at most, including pending and unknown captures. */
  capturedAtMost: number;
  /** Its authorization was voided, or what was taken. */
  voided: boolean;
  /** The service shows the payment itself as voided. */
  showsVoided: boolean;
}

/**
 * The sums of a payment, each on the safe side: what can be refunded counts only money that was surely captured, minus
 * everything that may have been refunded. Lists lag, so our own commands are added until a list shows them.
 */
export function sumsOf(facts: PaymentFacts, actions: readonly ActionRecord[]): Sums {
  const worth = ({ amount = facts.amount }: { amount?: number }): number => amount;
  const total = (records: readonly TransactionRecord[], counts: (record: TransactionRecord) => boolean): number =>
    records.filter(counts).reduce((sum, record) => sum + worth(record), 0);
  const succeeded = ({ status }: TransactionRecord): boolean => status === 'Succeed';
  const unseen = actions.filter((done) => isToldMoved(done) && done.toldSeen !== true);
  const told = new Set(unseen.map(({ outcome }) => outcome.transactionId));
  const perhaps = (record: TransactionRecord): boolean =>
    record.status === 'Succeed' || !isFinal(record) || told.has(record.transactionId);
  const unlisted = (
    action: PaymentAction,
    records: readonly TransactionRecord[],
    counts: (done: ActionRecord) => boolean,
  ): number =>
    actions
      .filter((done) => done.action === action && counts(done))
      .filter((done) => !records.some((record) => isMadeBy(record, done)))
      .reduce((sum, { amount }) => sum + amount, 0);

  const captured = total(facts.captures, succeeded) + total(facts.charges, succeeded);
  return {
    authorized: total(facts.authorizations, succeeded),
    captured: captured + unlisted('capture', facts.captures, surelyMoved),
    refunded: total(facts.refunds, perhaps) + unlisted('refund', facts.refunds, mayHaveMoved),
    capturedAtMost:
      total(facts.captures, perhaps) +
      total(facts.charges, perhaps) +
      unlisted('capture', facts.captures, mayHaveMoved),
    showsVoided: facts.status === 'Voided',
    voided: facts.status === 'Voided' || facts.voids.some(succeeded) || actions.some(isVoid),
  };
}

/**
 * Adds what the creating flow has recorded and the lists, which lag, don't show yet. It is added as pending: it counts
 * as taken or refunded at most, and only a list makes it refundable.
 * @param actions what was done on command counts by itself, as surely moved
 */
export function withUnlisted<Facts extends PaymentFacts>(
  facts: Facts,
  made: MadeTransactions | undefined,
  actions: readonly ActionRecord[],
): Facts {
  if (made === undefined) return facts;
  const onCommand = new Set(actions.map(({ outcome }) => outcome.transactionId));
  const shown = (listed: readonly TransactionRecord[], ours: readonly TransactionRecord[]): TransactionRecord[] => {
    // One without an id may be any that is listed and has no other origin.
    const isListed = ({ transactionId: id }: TransactionRecord): boolean =>
      id === UNKNOWN_ID
        ? listed.some((record) => !hasFailed(record) && !onCommand.has(record.transactionId))
        : onCommand.has(id) || listed.some(({ transactionId }) => transactionId === id);
    const lacking = ours.filter((record) => !isListed(record));
    return [...listed, ...lacking.map((record) => ({ ...record, status: 'Pending' as const }))];
  };
  return {
    ...facts,
    charges: shown(facts.charges, made.charges),
    captures: shown(facts.captures, made.captures),
    refunds: shown(facts.refunds, made.refunds),
  };
}

/** What a signed event tells of a transaction. */
type Told = Pick<TransactionEvent, 'eventType' | 'transactionId' | 'amount'>;

/**
 * Adds what signed events call `Succeed` and no answer did. It counts as pending, also where a list says that it has failed.
 * @param actions what was done on command counts by itself
 */
export function withTold<Facts extends PaymentFacts>(
  facts: Facts,
  told: readonly Told[],
  actions: readonly ActionRecord[],
): Facts {
  const onCommand = new Set(actions.map(({ outcome }) => outcome.transactionId));
  const counted = (listed: readonly TransactionRecord[], resource: string): TransactionRecord[] => {
    const of = told.filter(({ eventType, transactionId }) => {
      return resourceOf(eventType) === resource && !onCommand.has(transactionId);
    });
    const ids = new Set(of.map(({ transactionId }) => transactionId));
    const known = listed.map((one) =>
      ids.has(one.transactionId) && hasFailed(one) ? { ...one, status: 'Pending' as const } : one,
    );
    const lacking = of.filter(({ transactionId: id }) => !listed.some(({ transactionId }) => transactionId === id));
    const added = lacking.map(({ transactionId = UNKNOWN_ID, amount }) => {
      return { transactionId, status: 'Pending' as const, ...(amount !== undefined && { amount }) };
    });
    return [...known, ...added];
  };
  return { ...facts, captures: counted(facts.captures, 'capture'), refunds: counted(facts.refunds, 'refund') };
}

/** One capture: what it surely captured, and what may have been refunded of it. */
export interface CaptureSums {
  captured: number;
  refunded: number;
}

/** undefined if neither a list nor our commands contain this capture. */
export function sumsOfCapture(
  facts: PaymentFacts,
  actions: readonly ActionRecord[],
  captureId: string,
): CaptureSums | undefined {
  const ofIt = facts.captures.filter(({ transactionId }) => transactionId === captureId);
  const ours = actions.filter(({ action, outcome }) => action === 'capture' && outcome.transactionId === captureId);
  if (ofIt.length === 0 && ours.length === 0) return undefined;
  const one = { ...facts, charges: [], captures: ofIt, refunds: facts.refunds.filter(names) };
  const { captured, refunded } = sumsOf(one, [...ours, ...actions.filter((done) => isRefundOf(done, captureId))]);
  return { captured, refunded };

  function names({ transactionId, captureId: named }: TransactionRecord): boolean {
    const asked = actions.find(({ outcome }) => outcome.transactionId === transactionId);
    return named === captureId || (named === undefined && asked !== undefined && isRefundOf(asked, captureId));
  }
}

function isRefundOf({ action, request }: ActionRecord, captureId: string): boolean {
  return action === 'refund' && request.includes(JSON.stringify(['captureId', captureId]));
}

/** A person may have settled it without its id: then its key tells. */
function isMadeBy({ transactionId, holdfastKey }: TransactionRecord, { key, outcome }: ActionRecord): boolean {
  return transactionId === outcome.transactionId || holdfastKey === key;
}

/** A command without a transaction id may be one that a list already shows. */
function surelyMoved({ outcome, told }: ActionRecord): boolean {
  return outcome.status === 'succeeded' && outcome.transactionId !== undefined && told?.status !== 'Failed';
}

function isVoid({ action, outcome }: ActionRecord): boolean {
  return action === 'void' && outcome.status === 'succeeded';
}

/** An unconfirmed failure may have moved money, and so may one that a signed event contradicts. */
function mayHaveMoved(done: ActionRecord): boolean {
  const { outcome } = done;
  return outcome.status === 'succeeded' || (outcome.status === 'declined' && !outcome.confirmed) || isToldMoved(done);
}

function isToldMoved({ told }: ActionRecord): boolean {
  return told?.status === 'Succeed';
}

/**
 * True if the payment's status and its lists contradict each other: a list lags. A status that nothing is known of may mean
 * that money was taken, and fits no lists that show none.
 */
export function listsLag(facts: PaymentFacts, sums: Sums): boolean {
  // Captured money was authorized before; taken money was authorized or charged.
  const isTaken = facts.status === 'Captured' || facts.status === 'Refunded';
  if (facts.authorizations.length === 0 && (facts.captures.length > 0 || (isTaken && facts.charges.length === 0))) {
    return true;
  }
  if (facts.status === 'Refunded') return sums.captured === 0 || sums.refunded === 0;
  if (facts.status === 'Captured') return sums.captured === 0;
  if (isUnknownWord(facts.status)) return sums.captured === 0 && !sums.voided;
  return facts.status === 'Authorized' && sums.authorized === 0;
}

/** `notYet`: it may be allowed once the service shows more. */
export type Allowed = { amount: number } | { refusal: string; badInput?: true; notYet?: true };

/**
 * The amount that a command may move, or why it is refused, with the numbers. `show` formats an amount for people.
 * @param capture for a refund of one capture: refunds at most what is left of it, whatever the payment has left
 */
export function allowedAmount(
  action: PaymentAction,
  asked: number | undefined,
  sums: Sums,
  show: (amount: number) => string,
  capture?: CaptureSums,
): Allowed {
  if (action === 'refund') {
    const numbersOf = ({ captured, refunded }: CaptureSums): string =>
      `${show(captured)} captured, ${show(refunded)} refunded or being refunded`;
    if (sums.captured === 0 && sums.capturedAtMost > 0)
      return {
        refusal: `${show(sums.capturedAtMost)} may have been captured, and nothing confirms it yet; try again later, under a new commandId`,
        notYet: true,
      };
    if (sums.captured === 0) return { refusal: 'nothing has been captured, so that nothing can be refunded' };
    // A void may have reversed the capture: a refund beside it would give the money back twice.
    if (sums.showsVoided)
      return {
        refusal: `${show(sums.captured)} captured, and the service shows the payment as voided, which may have given it back; look in its back office`,
      };
    const left = sums.captured - sums.refunded;
    const ofCapture = capture === undefined ? left : capture.captured - capture.refunded;
    if (capture === undefined || left <= ofCapture) return within('refund', asked, left, numbersOf(sums), show);
    return within('refund', asked, ofCapture, `${numbersOf(capture)} of that capture`, show);
  }
  if (sums.voided) return { refusal: 'the authorization has been voided' };
  if (action === 'void') {
    if (sums.capturedAtMost > 0)
      return { refusal: `${show(sums.capturedAtMost)} may have been captured; refund it instead` };
    return sums.authorized > 0 ? { amount: sums.authorized } : { refusal: 'nothing is authorized' };
  }
  const left = sums.authorized - sums.capturedAtMost;
  const numbers = `${show(sums.authorized)} authorized, ${show(sums.capturedAtMost)} captured or being captured`;
  if (sums.authorized === 0) return { refusal: 'nothing is authorized' };
  return within('capture', asked, left, numbers, show);
}

function within(
  action: PaymentAction,
  asked: number | undefined,
  left: number,
  numbers: string,
  show: (amount: number) => string,
): Allowed {
  if (left <= 0) return { refusal: `nothing is left to ${action}: ${numbers}` };
  const amount = asked ?? left;
  if (amount <= left) return { amount };
  return {
    refusal: `amount: ${show(amount)} is more than the ${show(left)} left to ${action}: ${numbers}`,
    badInput: true,
  };
}
