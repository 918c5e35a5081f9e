import { randomUUID } from 'node:crypto';
import { notFound, paymentConflict } from './api-error.js';
import { reconciliationIdsOf } from './events.js';
import { findKey, rememberKey } from './idempotency.js';
import { asReadsShow, isTooYoung } from './lagging-reads.js';
import { chosenResult, outcomeResults, pendingFor, providerData } from './mock-provider.js';
import { restCanBeVoided, pendingCanBeVoided, transactionView } from './payment-view.js';
import type {
  BusinessUnit,
  MoneyKind,
  Payment,
  RememberedKey,
  ResultStatus,
  Settlement,
  Transaction,
  TransactionKind,
  TransactionResult,
} from './records.js';
import { replayed } from './replay.js';
import { keyUse, paymentOfPath, uuidParam, type Answer, type Call } from './route.js';
import { applyTransaction, isOpenFailure, repeated } from './settlement.js';
import { KINDS } from './transaction-kinds.js';
import { jsonText } from './wire-fields.js';

/** Fields of a new transaction that the request determines; payment and call determine the rest. */
type Draft = Pick<Transaction, 'amount' | 'trigger'> & Partial<Transaction>;
/**
 * `others`: the payment's transactions except the repeated one (`again`), whose amount and outcome are worked out anew.
 * Throws the refusals that depend on state.
 */
export type Drafting = (payment: Payment, others: readonly Transaction[], again: Transaction | undefined) => Draft;

/**
 * Creates a transaction under the payment of the path, or replays the answer of its idempotency key. An unreachable
 * provider, and by its profile a unit's failing one, are the only answers that are not replayed: the provider is called again,
 * and the same transaction gets the new result.
 */
export function createTransaction(call: Call, kind: MoneyKind, drafting: Drafting): Answer {
  const { sandbox, unit } = call;
  const remembered = findKey(sandbox, keyUse(call));
  const again = remembered && transactionToAskAgain(call, kind, remembered);
  const replay = remembered !== undefined && again === undefined;
  if (replay && unit.profile.state_checks === 'after_key_lookup') return replayed(call, remembered);

  const payment = paymentOfPath(call);
  const others = sandbox.store.transactionsOf(payment).filter(({ id }) => id !== again?.id);
  if (!mayStart(kind, unit, payment, others)) throw paymentConflict();
  const draft = drafting(payment, others, again);
  if (replay) return replayed(call, remembered);

  const made = again === undefined ? newTransaction(call, kind, payment, draft) : { ...repeated(again), ...draft };
  const transaction = { ...made, ...ask(call, kind, payment, made) };
  applyTransaction(sandbox, again === undefined ? 'create' : 'update', unit, transaction);
  return answerAndRemember(call, transaction);
}

function newTransaction(call: Call, kind: MoneyKind, payment: Payment, draft: Draft): Transaction {
  return {
    ...draft,
    id: randomUUID(),
    kind,
    paymentId: payment.id,
    appId: call.unit.appId,
    env: call.env,
    created: call.sandbox.clock.now(),
    currency: payment.content.currency,
    result: { status: 'Pending' },
    providerData: {},
    requestId: call.requestId,
    paymentStatusBefore: statusBefore(call, kind, payment),
    ...(call.idempotencyKey !== undefined && { idempotencyKey: call.idempotencyKey }),
  };
}

/** Answers a created transaction and stores the answer under the request's idempotency key. */
export function answerAndRemember(call: Call, transaction: Transaction): Answer {
  const text = jsonText(transactionView(call, transaction, 'POST'));
  const { version } = call.rules;
  const made = { resource: transaction.kind, resourceId: transaction.id, status: 201, version };
  rememberKey(call.sandbox, keyUse(call), made, text);
  return { status: 201, text };
}

export function getTransaction(call: Call, kind: TransactionKind): Answer {
  const payment = paymentOfPath(call, missing(kind));
  const transaction = call.sandbox.store.transactions.get(uuidParam(call, 'transaction_id'));
  const isOther = transaction?.kind !== kind || transaction.paymentId !== payment.id;
  if (isOther || isTooYoung(call, transaction)) {
    throw notFound(missing(kind) === 'named' ? `${KINDS[kind].plural} resource does not exits` : undefined);
  }
  return { status: 200, body: transactionView(call, transaction) };
}

export function listTransactions(call: Call, kind: TransactionKind): Answer {
  const { list_lag_ms: lag } = call.unit.profile;
  const youngest = call.sandbox.clock.now() - lag;
  const listed = asReadsShow(call, paymentOfPath(call, missing(kind))).transactions.filter(
    (transaction) => transaction.kind === kind && transaction.created <= youngest,
  );
  return { status: 200, body: listed.map((transaction) => transactionView(call, transaction)) };
}

function mayStart(kind: MoneyKind, unit: BusinessUnit, payment: Payment, others: readonly Transaction[]): boolean {
  const { allowedFrom, follows } = KINDS[kind];
  const again = kind === 'authorization' && unit.profile.reauthorization === 'allowed' && payment.status === 'Voided';
  const rest = kind === 'void' && restCanBeVoided(unit, payment, others);
  if (kind === 'void' && pendingCanBeVoided(unit, payment, others)) return true;
  const second = unit.profile.second_charge === 'allowed' && (kind === 'authorization' || kind === 'charge');
  const beside = kind === 'refund' && unit.profile.beside_pending === 'allowed' && others.some(isPendingRefund);
  if (!again && !second && !rest && !beside && !allowedFrom.includes(payment.status)) return false;
  return follows.length === 0 || others.some((one) => follows.includes(one.kind) && one.result.status === 'Succeed');
}

/** A refund beside a pending one must not bring back `Pending` when it fails: nothing may pend any more by then. */
function statusBefore({ sandbox }: Call, kind: MoneyKind, payment: Payment): Transaction['paymentStatusBefore'] {
  const beside = kind === 'refund' ? sandbox.store.transactionsOf(payment).find(isPendingRefund) : undefined;
  return beside?.paymentStatusBefore ?? payment.status;
}

function isPendingRefund({ kind, result }: Transaction): boolean {
  return kind === 'refund' && result.status === 'Pending';
}

/** The 404s of risk analyses have no `more_info`. */
function missing(kind: TransactionKind): 'named' | 'unnamed' {
  return kind === 'risk-analysis' ? 'unnamed' : 'named';
}

/** Returns the transaction of a key whose provider was not reached, or failed: a repetition asks it again. */
export function transactionToAskAgain(
  call: Call,
  kind: TransactionKind,
  remembered: RememberedKey,
): Transaction | undefined {
  const { sandbox, unit } = call;
  const transaction = sandbox.store.transactions.get(remembered.resourceId);
  if (remembered.resource !== kind || transaction === undefined || !isOpenFailure(transaction, unit)) return undefined;
  const isUnreached = transaction.result.category === 'provider_network_error';
  return isUnreached && unit.profile.replay_network_errors ? undefined : transaction;
}

/** Returns the provider's result: what card or amount trigger, unless a planted fault decides. */
function ask(
  call: Call,
  kind: MoneyKind,
  payment: Payment,
  { trigger, amount, currency, reconciliationId }: Transaction,
): { result: TransactionResult; providerData: Transaction['providerData']; settlement?: Settlement } {
  const { sandbox, unit } = call;
  const now = sandbox.clock.now();
  let { first, last } = outcomeResults(trigger);
  const fault = sandbox.faults.forResult({
    method: 'POST',
    path: call.path,
    reconciliationIds: () => [reconciliationId ?? [], reconciliationIdsOf(sandbox, payment)].flat(),
  });
  if (fault !== undefined) {
    const planted = chosenResult(fault.status as ResultStatus, fault.category, fault.sub_category);
    // A pending transaction stays pending first and ends with the planted result; a planted Pending ends only manually.
    const shown = fault.shown_as === undefined ? {} : { shownAs: fault.shown_as };
    if (planted.status === 'Pending') [first, last] = [{ ...planted, ...shown }, undefined];
    else if (first.status === 'Pending') last = planted;
    else first = planted;
  }
  const { externalId } = payment;
  const question = { rules: KINDS[kind], amount, currency, externalId, accountId: unit.accountId, now };
  const settlement = last && { at: now + pendingFor(trigger, sandbox.settings.pendingMs), result: last };
  return {
    result: first,
    // The documents stay when a pending transaction ends, since provider answers are merged.
    providerData: { ...providerData(question, first), ...(fault?.documents && { documents: fault.documents }) },
    ...(first.status === 'Pending' && settlement && { settlement }),
  };
}
