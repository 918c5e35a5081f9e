import { randomUUID } from 'node:crypto';
import { notFound, paymentConflict } from './api-error.js';
import { reconciliationIdsOf } from './events.js';
import { findKey, rememberKey, storedAnswer } from './idempotency.js';
import { chosenResult, outcomeResults, providerData } from './mock-provider.js';
import { resolvePaymentMethod, type PaymentMethodTransactionRequest } from './payment-method.js';
import type {
  MockOutcome,
  Payment,
  RememberedKey,
  ResultStatus,
  Settlement,
  Transaction,
  TransactionKind,
  TransactionResult,
} from './records.js';
import { keyUse, paymentOfPath, uuidParam, type Answer, type Call } from './route.js';
import { applyTransaction } from './settlement.js';
import { KINDS } from './transaction-kinds.js';
import { transactionView } from './views.js';

/**
 * Makes a transaction under the payment of the path, or answers again what its idempotency key made before.
 * The one answer that is not replayed is a provider that could not be reached: it is asked again, and the same
 * transaction gets its new result.
 */
export function createTransaction(call: Call, kind: TransactionKind, request: PaymentMethodTransactionRequest): Answer {
  const { sandbox, unit } = call;
  const remembered = findKey(sandbox, keyUse(call));
  const again = remembered && transactionToAskAgain(call, kind, remembered);
  const replay = remembered !== undefined && again === undefined;
  const checkFirst = unit.profile.state_checks === 'before_key_lookup';
  if (replay && !checkFirst) return replayed(call, remembered);

  const payment = paymentOfPath(call);
  if (!KINDS[kind].allowedFrom.includes(payment.status)) throw paymentConflict();
  const method = resolvePaymentMethod(call, request.payment_method);
  if (replay) return replayed(call, remembered);

  const asked = ask(call, kind, payment, again?.trigger ?? method.trigger, request.reconciliation_id);
  const made: Transaction = again ?? {
    ...method,
    id: randomUUID(),
    kind,
    paymentId: payment.id,
    appId: unit.appId,
    env: call.env,
    created: sandbox.clock.now(),
    amount: payment.content.amount,
    currency: payment.content.currency,
    result: asked.result,
    providerData: asked.providerData,
    requestId: call.requestId,
    paymentStatusBefore: payment.status,
    ...(call.idempotencyKey !== undefined && { idempotencyKey: call.idempotencyKey }),
    ...(request.reconciliation_id !== undefined && { reconciliationId: request.reconciliation_id }),
    ...(request.additional_details && { additionalDetails: request.additional_details }),
    ...(request.three_d_secure_attributes && { threeDSecureAttributes: request.three_d_secure_attributes }),
    ...(request.installments && { installments: request.installments }),
    ...(call.clientIpAddress !== undefined && { ipAddress: call.clientIpAddress }),
  };
  const transaction = { ...made, ...asked };
  applyTransaction(sandbox, again === undefined ? 'create' : 'update', unit, transaction);
  const text = JSON.stringify(transactionView(call, transaction, 'POST'));
  rememberKey(sandbox, keyUse(call), { resource: kind, resourceId: transaction.id, status: 201 }, text);
  return { status: 201, text };
}

export function getTransaction(call: Call, kind: TransactionKind): Answer {
  const payment = paymentOfPath(call);
  const transaction = call.sandbox.store.transactions.get(uuidParam(call, 'transaction_id'));
  if (transaction === undefined || transaction.kind !== kind || transaction.paymentId !== payment.id) {
    throw notFound(`${KINDS[kind].plural} resource does not exits`);
  }
  return { status: 200, body: transactionView(call, transaction) };
}

export function listTransactions(call: Call, kind: TransactionKind): Answer {
  const youngest = call.sandbox.clock.now() - call.unit.profile.list_lag_ms;
  const listed = call.sandbox.store
    .transactionsOf(paymentOfPath(call))
    .filter((transaction) => transaction.kind === kind && transaction.created <= youngest);
  return { status: 200, body: listed.map((transaction) => transactionView(call, transaction)) };
}

function replayed(call: Call, remembered: RememberedKey): Answer {
  return { status: remembered.status, text: storedAnswer(call.sandbox, remembered) };
}

function transactionToAskAgain(call: Call, kind: TransactionKind, remembered: RememberedKey): Transaction | undefined {
  if (remembered.resource !== kind || call.unit.profile.replay_network_errors) return undefined;
  const transaction = call.sandbox.store.transactions.get(remembered.resourceId);
  const { status, category } = transaction?.result ?? {};
  return status === 'Failed' && category === 'provider_network_error' ? transaction : undefined;
}

/** The provider's decision: what the card triggers, unless a planted fault decides. */
function ask(
  call: Call,
  kind: TransactionKind,
  payment: Payment,
  trigger: MockOutcome,
  reconciliationId: string | undefined,
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
    // A card that pends still pends first and ends with what was planted; a planted Pending ends only by hand.
    if (planted.status === 'Pending') [first, last] = [planted, undefined];
    else if (first.status === 'Pending') last = planted;
    else first = planted;
  }
  const question = {
    rules: KINDS[kind],
    amount: payment.content.amount,
    currency: payment.content.currency,
    externalId: payment.externalId,
    accountId: unit.accountId,
    now,
  };
  return {
    result: first,
    providerData: providerData(question, first),
    ...(first.status === 'Pending' && last && { settlement: { at: now + sandbox.settings.pendingMs, result: last } }),
  };
}
