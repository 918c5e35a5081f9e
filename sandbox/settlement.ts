import type { Sandbox } from './context.js';
import { emitPaymentEvent, emitTransactionEvent } from './events.js';
import { watchHold } from './holds.js';
import { failure, providerData, riskProviderData } from './mock-provider.js';
import { endedBy, isTooLate, VOIDED } from './payment-view.js';
import { statusAfter } from './payment-status.js';
import type { BusinessUnit, Payment, Profile, Transaction, TransactionResult } from './records.js';
import { KINDS } from './transaction-kinds.js';

/**
 * Within a store transaction: stores a transaction with its result and applies the consequences: the states of payment
 * and token, the events, and the time at which a pending transaction ends.
 */
export function applyTransaction(
  sandbox: Sandbox,
  action: 'create' | 'update',
  unit: BusinessUnit,
  transaction: Transaction,
): void {
  const { store, clock } = sandbox;
  const before = store.payments.get(transaction.paymentId);
  if (before === undefined) throw new Error('a transaction without a payment');
  const others = store.transactionsOf(before).filter(({ id }) => id !== transaction.id);
  const status = statusAfter(transaction, before, { unit, others, now: clock.now() });
  const holds = transaction.kind === 'authorization' && transaction.result.status === 'Succeed';
  const known = before.transactionIds.includes(transaction.id);
  const payment: Payment = {
    ...before,
    status,
    modified: status === before.status ? before.modified : clock.now(),
    transactionIds: known ? before.transactionIds : [...before.transactionIds, transaction.id],
    ...(holds && { holdUntil: clock.now() + sandbox.settings.holdMs }),
  };
  const isFinal = transaction.result.status !== 'Pending';
  store.transactions.put(isFinal ? { ...transaction, settled: clock.now() } : transaction);
  store.payments.put(payment);
  useToken(sandbox, unit, transaction);
  emitTransactionEvent(sandbox, action, { unit, payment, transaction });
  if (status !== before.status)
    emitPaymentEvent(sandbox, 'update', { unit, payment, requestId: transaction.requestId });
  store.afterCommit(() => {
    scheduleSettlement(sandbox, transaction);
    if (status !== before.status) watchHold(sandbox, payment);
  });
  // In the same store transaction: after a crash in between, what was voided would succeed beside its void.
  for (const { id } of endedBy(unit, transaction, store.transactionsOf(payment))) settle(sandbox, id, VOIDED);
}

/** Ends a pending transaction with a final result. Returns false, and changes nothing, if it is not pending. */
export function settle(sandbox: Sandbox, transactionId: string, result: TransactionResult): boolean {
  const transaction = sandbox.store.transactions.get(transactionId);
  if (transaction?.result.status !== 'Pending') return false;
  end(sandbox, transaction, result);
  return true;
}

/**
 * Ends by hand what pends, or what failed and may have moved money all the same. Returns false, and changes nothing, if it is
 * neither.
 */
export function complete(sandbox: Sandbox, transactionId: string, result: TransactionResult): boolean {
  const transaction = sandbox.store.transactions.get(transactionId);
  const unit = sandbox.store.units.get(transaction?.appId ?? '');
  const mayHaveMoved = transaction !== undefined && unit !== undefined && isOpenFailure(transaction, unit);
  if (!mayHaveMoved) return settle(sandbox, transactionId, result);
  // Its key no longer asks the provider, and what it once answered was never replayed.
  end(sandbox, { ...repeated(transaction), answersAnew: true }, result);
  return true;
}

/**
 * Whether it failed, and nobody knows whether the provider has acted or will: it was not reached, or the unit's service asks it
 * again after an error of its own. What has pended before it failed has failed for good.
 */
export function isOpenFailure({ result, pended }: Transaction, { profile }: Pick<BusinessUnit, 'profile'>): boolean {
  if (result.status !== 'Failed') return false;
  const isAskedAgain = profile.provider_errors === 'asked_again' && pended !== true;
  return result.category === 'provider_network_error' || (result.category === 'provider_error' && isAskedAgain);
}

/** A transaction that its provider answers once more, without what the last answer has left behind. */
export function repeated({ settled: _settled, answersAnew: _answers, ...kept }: Transaction): Transaction {
  return kept;
}

function end(sandbox: Sandbox, transaction: Transaction, asked: TransactionResult): void {
  const unit = sandbox.store.units.get(transaction.appId);
  const payment = sandbox.store.payments.get(transaction.paymentId);
  if (unit === undefined || payment === undefined) throw new Error('a transaction without its unit or payment');
  const tooLate = asked.status === 'Succeed' && isTooLate(transaction, unit, sandbox.store.transactionsOf(payment));
  const result = tooLate ? failure('provider_error') : asked;
  const { settlement: _done, ...rest } = transaction;
  const settled = {
    ...rest,
    result,
    providerData: settledData(sandbox, transaction, unit, payment, result),
    ...(transaction.result.status === 'Pending' && { pended: true as const }),
  };
  sandbox.store.transaction(() => {
    sandbox.store.afterCommit(() => sandbox.schedule.cancel(jobKey(transaction.id)));
    applyTransaction(sandbox, 'update', unit, settled);
  });
}

function settledData(
  sandbox: Sandbox,
  transaction: Transaction,
  unit: BusinessUnit,
  payment: Payment,
  result: TransactionResult,
): Transaction['providerData'] {
  if (transaction.kind === 'risk-analysis') return riskProviderData(result, transaction.providerData);
  const question = {
    rules: KINDS[transaction.kind],
    amount: transaction.amount,
    currency: transaction.currency,
    externalId: payment.externalId,
    accountId: unit.accountId,
    now: sandbox.clock.now(),
  };
  // Merged, so that the provider's ids stay those of the pending answer.
  const { transaction_id: _fresh, ...data } = providerData(question, result);
  const { authorization_code: _code, ...kept } = transaction.providerData;
  return { ...kept, ...data };
}

/** At boot: schedules pending transactions again; those that came due meanwhile end at once. */
export function resumeSettlements(sandbox: Sandbox): void {
  for (const transaction of sandbox.store.transactions.values()) scheduleSettlement(sandbox, transaction);
}

function scheduleSettlement(sandbox: Sandbox, { id, settlement }: Transaction): void {
  if (settlement === undefined) return;
  sandbox.schedule.at(jobKey(id), settlement.at, () => void settle(sandbox, id, settlement.result));
}

function useToken(sandbox: Sandbox, { profile }: BusinessUnit, transaction: Transaction): void {
  const { tokenId, consentId, result } = transaction;
  const token = tokenId === undefined ? undefined : sandbox.store.tokens.get(tokenId);
  if (token === undefined) return;
  const uses = USES_TOKEN[profile.reading](transaction);
  const consentDeclined = consentId === undefined ? token.consentDeclined : result.status === 'Failed';
  sandbox.store.tokens.put({
    ...token,
    // A stored token stays assigned, since it may be used again.
    ...(uses && token.state !== 'assigned' && { state: 'used' }),
    ...(consentDeclined !== undefined && { consentDeclined }),
  });
}

/** By the interface description every authorization or charge uses up its token; as observed, only a successful one. */
const USES_TOKEN: Readonly<Record<Profile['reading'], (transaction: Transaction) => boolean>> = {
  observed: ({ kind, result }) => kind !== 'risk-analysis' && result.status === 'Succeed',
  interface: ({ kind }) => kind === 'authorization' || kind === 'charge',
};

function jobKey(id: string): string {
  return `settle:${id}`;
}
