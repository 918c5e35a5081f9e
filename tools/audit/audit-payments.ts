import type { FinalAuthorizeOutcome } from '../../src/contract/authorize.js';
import type { FinalOutcome, Outcome } from '../../src/contract/messages.js';
import {
  describeEntries,
  describeEntry,
  groupBy,
  hasTaken,
  isVoidedBy,
  type LedgerEntry,
  movements,
  differencesFromSums,
  requestsOf,
  movedTwice,
} from './ledger.js';
import { besideMovements, differencesBeside, hasLapsed } from './beside-movements.js';
import type { PaymentRecord, Movement, Operation } from './payment-record.js';
import { auditSubscription } from './audit-subscription.js';

/**
 * Compares every answer to a caller with the ledger of the payment service. Returns one sentence per difference,
 * beginning with the reference; an empty list means that they agree. The ledger covers the whole service, so money that
 * moved without a request is found too. A whole ledger shows what is given back or analysed twice too.
 */
export function auditPayments(records: readonly PaymentRecord[], whole: readonly LedgerEntry[]): string[] {
  const ledger = requestsOf(whole);
  const beside = besideMovements(whole);
  const byPayment = groupBy(ledger, ({ payment_id: id }) => id);
  const referenceOf = (entries: readonly LedgerEntry[]): string =>
    entries.find(({ kind }) => ['charge', 'authorization', 'credit'].includes(kind))?.reconciliation_id ?? '';
  const byReference = groupBy(byPayment.values(), referenceOf);
  const known = new Set(records.map(({ reference }) => reference));
  const uninvited = [...byReference]
    .filter(([reference]) => !known.has(reference))
    .flatMap(([, lists]) => lists.flat());
  return [
    ...records.flatMap((record) => {
      const payments = byReference.get(record.reference) ?? [];
      const twice =
        payments.length > 1 && record.isReauthorized !== true
          ? [`has ${payments.length} payments with transactions`]
          : [];
      const found = [
        ...record.violations,
        ...twice,
        ...differencesOf(record, payments.flat(), hasLapsed(record, beside)),
        ...differencesBeside(record, payments.flat(), beside),
        ...auditSubscription(record.subscription, ledger),
      ];
      return found.map((sentence) => `${record.reference}: ${sentence} (${record.scenario}, ${record.profile})`);
    }),
    ...uninvited.map((entry) => `${entry.reconciliation_id}: nobody asked for ${describeEntry(entry)}`),
  ];
}

function differencesOf(record: PaymentRecord, entries: readonly LedgerEntry[], hasLapsed: boolean): string[] {
  return [
    ...record.operations.flatMap((operation) => auditOperation(record, operation, entries)),
    ...differencesFromOutcome(record, entries),
    ...differencesOfCard(record, entries),
    ...unclaimed(record, entries),
    ...inAnotherCurrency(record, entries),
    ...inParts(record, entries).flatMap((part) => [...movedTwice(part), ...differencesFromSums(part, hasLapsed)]),
    ...entries.filter(({ status }) => status === 'Pending').map((entry) => `${describeEntry(entry)} is still pending`),
  ];
}

/** Compares the answer to one operation, or its refusal, with the operation's transaction in the ledger. */
export function auditOperation(record: PaymentRecord, operation: Operation, entries: readonly LedgerEntry[]): string[] {
  const { what, answer, refusal, expected, amount, reconciliationId } = operation;
  const name = `${what} ${reconciliationId ?? operation.commandId ?? ''}`.trim();
  if (refusal !== undefined) {
    const made = entries.filter((one) => one.kind === what && one.reconciliation_id === reconciliationId);
    const ours = reconciliationId === undefined || isRepeated(record, operation) ? [] : movements(made);
    return [
      ...(expected === 'refused' || expected === 'any'
        ? []
        : [`${name} was refused, though it should have ${expected}: ${refusal.type}, ${refusal.message}`]),
      ...ours.map((entry) => `${name} was refused, but the ledger has ${describeEntry(entry)}`),
    ];
  }
  if (answer === undefined) return [`${name} was never answered`];
  const otherCurrency =
    answer.currency === record.currency
      ? []
      : [`was told ${answer.status} in ${answer.currency}, not in ${record.currency}`];
  const wanted = ledgerOf(what, answer);
  if (wanted === 'not final') return [...otherCurrency, `${name} is still ${answer.status}`];
  // Where the service can't be read, an operator decides the outcome. `notExecuted` is then valid if the ledger agrees.
  const byPerson = record.withoutReads === true && 'evidence' in answer && answer.evidence.knownBy === 'operator';
  const surprise =
    expected === 'any' || expected === answer.status || (byPerson && answer.status === 'notExecuted')
      ? []
      : [`${name} ended ${answer.status}, and not ${expected}`];
  const otherSum =
    amount === undefined || answer.amount === amount
      ? []
      : [`${name} was asked for over ${amount}, and told over ${answer.amount}`];
  const found = [
    ...otherCurrency,
    ...surprise,
    ...otherSum,
    ...differencesOfVoid(name, answer, entries),
    ...underAnotherReference(name, operation, answer, entries),
  ];
  return wanted === 'nothing' ? found : [...found, ...compare(name, wanted, record, entries)];
}

/** Compares the void that an answer names with the ledger. */
function differencesOfVoid(name: string, answer: Outcome, entries: readonly LedgerEntry[]): string[] {
  if (answer.status !== 'voided' || isVoidedBy(answer.transactionId, entries)) return [];
  return [`${name} was told as voided by ${answer.transactionId}, the ledger has ${describeEntries(entries)}`];
}

/** The merchant finds a capture or refund in its books by the reference that it gave for it. */
function underAnotherReference(
  name: string,
  { what, reconciliationId }: Operation,
  { transactionId }: Outcome,
  entries: readonly LedgerEntry[],
): string[] {
  const made = entries.find((entry) => entry.transaction_id === transactionId && entry.kind === what);
  if (made === undefined || reconciliationId === undefined || made.reconciliation_id === reconciliationId) return [];
  return [`${name}: the ledger has it under reference ${made.reconciliation_id}`];
}

interface Wanted {
  id: string | undefined;
  kind: Movement;
  status: 'Succeed' | 'Failed';
  amount: number;
}

/** The ledger entry that a final answer implies. */
function ledgerOf(what: Operation['what'], answer: Outcome): Wanted | 'nothing' | 'not final' {
  if (what === 'risk') return 'nothing';
  const { status, transactionId: id, amount } = answer;
  // A void that arrives before there is a hold is answered with the outcome of the authorization.
  if ('nothingHeld' in answer)
    return status === 'declined' ? { id, kind: 'authorization', status: 'Failed', amount } : 'nothing';
  if ('voided' in answer && !('authorizationId' in answer) && what !== 'void')
    return { id: answer.voided?.transactionId, kind: what, status: 'Failed', amount };
  switch (status) {
    case 'succeeded':
    case 'stored':
    case 'consentedNotStored':
      return { id, kind: what, status: 'Succeed', amount };
    case 'authorized':
      return { id, kind: 'authorization', status: 'Succeed', amount };
    case 'captured':
    case 'voided':
    case 'expired':
      if (!('authorizationId' in answer)) return 'nothing';
      return { id: answer.authorizationId, kind: 'authorization', status: 'Succeed', amount };
    case 'declined':
      if (answer.category === 'risk_declined') return 'nothing';
      return { id, kind: what, status: 'Failed', amount };
    case 'notExecuted':
    case 'underReview':
      return 'nothing';
    default:
      return 'not final';
  }
}

function compare(
  name: string,
  { id, kind, status, amount }: Wanted,
  record: PaymentRecord,
  entries: readonly LedgerEntry[],
): string[] {
  const entry = entries.find(({ transaction_id: one }) => one === id);
  if (entry === undefined) return [`${name} is told as transaction ${id}, which is not in the ledger`];
  const stated = {
    ...{ kind, status, amount, currency: record.currency },
    ...(record.isReauthorized !== true && { payment_id: record.paymentId }),
  };
  return Object.entries(stated).flatMap(([field, value]) => {
    const inLedger = entry[field as keyof LedgerEntry];
    return inLedger === value ? [] : [`${name}: ${field} was told as ${value}, the ledger says ${inLedger}`];
  });
}

/** Compares the outcome that the payment's flow ended with to the ledger. */
function differencesFromOutcome(record: PaymentRecord, entries: readonly LedgerEntry[]): string[] {
  const { outcome, terminated, neverStarted } = record;
  if (outcome === undefined) return terminated || neverStarted === true ? [] : ['its flow never ended'];
  const named = entries.find(({ transaction_id: id }) => id === outcome.transactionId);
  const has = (kind: Movement, status: string): boolean => named?.kind === kind && named.status === status;
  switch (outcome.status) {
    case 'captured': {
      const released = outcome.released?.by === 'void' ? outcome.released.transactionId : undefined;
      const isReleased = entries.some(({ transaction_id: id, status }) => id === released && status === 'Succeed');
      return [
        ...(has('capture', 'Succeed') && named?.amount === outcome.capturedAmount
          ? []
          : [`its flow ended as captured over ${outcome.capturedAmount}, the ledger has ${describeEntries(entries)}`]),
        ...(released === undefined || isReleased ? [] : [`the rest was not released by ${released}`]),
      ];
    }
    case 'voided':
      return isVoidedBy(outcome.transactionId, entries)
        ? []
        : [`its flow ended as voided, the ledger has ${describeEntries(entries)}`];
    case 'notExecuted':
      return entries.every((entry) => isOfEarlierHold(record, entry))
        ? []
        : [`its flow ended as not executed, the ledger has ${describeEntries(entries)}`];
    case 'declined':
      return outcome.category === 'risk_declined' && entries.some(hasTaken)
        ? [`its flow ended as declined for its risk, the ledger has ${describeEntries(entries)}`]
        : [];
    default:
      return [];
  }
}

/** A card must be on file if and only if its consent succeeded, and the consent's money must be as the outcome says. */
function differencesOfCard({ outcome, cardOnFile }: PaymentRecord, entries: readonly LedgerEntry[]): string[] {
  if (cardOnFile === undefined || outcome === undefined) return [];
  const is = cardOnFile ? 'is on file' : 'is not on file';
  const file = cardOnFile === (outcome.status === 'stored') ? [] : [`its flow ended ${outcome.status}, the card ${is}`];
  if (!('money' in outcome)) return file;
  const { status, transactionId: id } = outcome.money;
  if (status === 'kept') return file;
  const wanted = { voided: 'void', refunded: 'refund' }[status as string];
  const undone = entries.some((one) => one.transaction_id === id && one.kind === wanted && one.status === 'Succeed');
  return undone
    ? file
    : [...file, `the consent's money is told as ${status}, the ledger has ${describeEntries(entries)}`];
}

/** Ledger entries of a payment that no answer names. */
function unclaimed(record: PaymentRecord, entries: readonly LedgerEntry[]): string[] {
  const answered = record.operations.flatMap(({ answer }) => (answer === undefined ? [] : idsOf(answer)));
  const earlier = new Set(record.outcome === undefined ? [] : earlierHoldsOf(record.outcome));
  const claimed = new Set([...answered, ...(record.outcome === undefined ? [] : idsOf(record.outcome))]);
  // An outcome names only the authorization of an earlier hold. The check of sums covers the hold's release.
  const released = (entry: LedgerEntry): boolean =>
    entry.kind === 'void' &&
    entries.some((one) => one.payment_id === entry.payment_id && earlier.has(one.transaction_id));
  return entries
    .filter((entry) => !claimed.has(entry.transaction_id) && !released(entry))
    .map((entry) => `nobody was told of ${describeEntry(entry)}`);
}

/** Checks the outcome, and also transactions whose amount no answer states, such as the void of a remainder. */
function inAnotherCurrency({ currency, outcome }: PaymentRecord, entries: readonly LedgerEntry[]): string[] {
  return [
    ...(outcome === undefined || outcome.currency === currency
      ? []
      : [`its flow ended ${outcome.status} in ${outcome.currency}, not in ${currency}`]),
    ...entries
      .filter((entry) => entry.currency !== currency)
      .map((entry) => `the ledger has ${describeEntry(entry)}, not in ${currency}`),
  ];
}

function idsOf(outcome: Outcome | FinalOutcome): (string | undefined)[] {
  const { authorizationId, released, actions } = outcome as Partial<
    Extract<FinalAuthorizeOutcome, { status: 'captured' }>
  >;
  return [
    outcome.transactionId,
    authorizationId,
    'money' in outcome ? outcome.money.transactionId : undefined,
    'voided' in outcome ? outcome.voided?.transactionId : undefined,
    'despiteVoid' in outcome ? outcome.despiteVoid?.transactionId : undefined,
    released?.by === 'void' ? released.transactionId : undefined,
    ...(actions ?? []).map((action) => action.outcome.transactionId),
    ...earlierHoldsOf(outcome),
  ];
}

/** Whether it is of an earlier hold whose reauthorization an operator marked as not executed: see `withoutReads`. */
function isOfEarlierHold({ withoutReads, outcome }: PaymentRecord, { payment_id: id }: LedgerEntry): boolean {
  if (withoutReads !== true || outcome === undefined || !('earlierHolds' in outcome)) return false;
  return (outcome.earlierHolds ?? []).some(({ paymentId }) => paymentId === id);
}

function earlierHoldsOf(outcome: Outcome | FinalOutcome): string[] {
  return 'earlierHolds' in outcome ? (outcome.earlierHolds ?? []).map(({ authorizationId }) => authorizationId) : [];
}

/** A reauthorized hold has a payment of its own, so each payment is checked separately. */
function inParts(
  { isReauthorized }: PaymentRecord,
  entries: readonly LedgerEntry[],
): readonly (readonly LedgerEntry[])[] {
  return isReauthorized === true ? [...groupBy(entries, ({ payment_id: id }) => id).values()] : [entries];
}

function isRepeated(record: PaymentRecord, operation: Operation): boolean {
  const { what, reconciliationId } = operation;
  return record.operations.some(
    (one) => one !== operation && one.what === what && one.reconciliationId === reconciliationId,
  );
}
