import { randomUUID } from 'node:crypto';
import { toDecimal } from './money.js';
import type { JsonObject, MockOutcome, ResultStatus, TransactionResult, MoneyKind, PaymentContent } from './records.js';
import type { KindRules } from './transaction-kinds.js';

const DAY_MS = 86_400_000;

/** Input of the mock provider for the transaction that it decides. */
interface ProviderQuestion {
  rules: KindRules;
  amount: number;
  currency: string;
  externalId: string;
  accountId: string;
  now: number;
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  provider_error: "Something went wrong on the provider's side.",
  provider_network_error: 'Unable to reach the provider network.',
  provider_authentication_error: "The provider did not accept the configuration's credentials.",
  provider_request_error: 'The provider found the request invalid.',
  payment_method_error: 'There was a problem with the payment method.',
  payment_method_not_supported: 'The payment method is not supported.',
  payment_method_declined: 'The payment method was declined.',
  request_not_supported_by_provider: 'The provider does not offer this request.',
  two_way_authentication_failed: 'The authentication of the payer failed.',
  blocked_by_decision_engine: 'The request was blocked by a decision engine rule.',
};

/** Returns the first result and, for a pending one, the final result. */
export function outcomeResults(outcome: MockOutcome): { first: TransactionResult; last?: TransactionResult } {
  switch (outcome) {
    case 'succeed':
      return { first: { status: 'Succeed' } };
    case 'failed':
      return { first: failure('provider_error') };
    case 'pending_succeed':
    case 'pending_succeed_late':
      return { first: { status: 'Pending' }, last: { status: 'Succeed' } };
    case 'pending_failed':
      return { first: { status: 'Pending' }, last: failure('provider_error') };
    case 'invalid_card':
      return { first: failure('payment_method_error') };
    case 'refused':
      return { first: failure('provider_request_error') };
  }
}

/** Returns how long a transaction is pending. */
export function pendingFor(outcome: MockOutcome, usually: number): number {
  return outcome === 'pending_succeed_late' ? DAY_MS : usually;
}

export function failure(category: string, subCategory?: string): TransactionResult {
  const description = DESCRIPTIONS[category] ?? 'The transaction failed.';
  return { status: 'Failed', category, ...(subCategory && { sub_category: subCategory }), description };
}

/** Builds the result that a fault or the control API names; a failure without a category gets the mock's default. */
export function chosenResult(status: ResultStatus, category?: string, subCategory?: string): TransactionResult {
  return status === 'Failed' ? failure(category ?? 'provider_error', subCategory) : { status };
}

/** The `provider_data` of a transaction, as the mock provider was observed to fill it. */
export function providerData(question: ProviderQuestion, result: TransactionResult): JsonObject {
  const { rules, externalId } = question;
  const authorizationCode = externalId.slice(0, 5);
  const transactionId = `${randomUUID()}_${question.accountId}_${rules.providerOperation}`;
  const description = {
    Succeed: rules.descriptions.succeeded,
    Pending: rules.descriptions.pending,
    Failed: rules.descriptions.failed,
  }[result.status];
  const responseCode = { Succeed: '0', Pending: '1', Failed: '102' }[result.status];
  const rawResponse = {
    OID: externalId,
    AUTH_CODE: authorizationCode,
    RETURN_MESSAGE: description,
    TRANSID: transactionId,
    STATUS: { Succeed: 'SUCCESS', Pending: 'PENDING', Failed: 'FAILED' }[result.status],
    AMOUNT: toDecimal(question.amount, question.currency),
    DATE: String(question.now),
    RETURN_CODE: responseCode,
    CURRENCY: question.currency,
  };
  const showsCode = result.status !== 'Failed' || rules.authorizationCodeOnFailure;
  return {
    provider_name: 'MockProcessor',
    response_code: responseCode,
    description,
    raw_response: JSON.stringify(rawResponse),
    ...(showsCode ? { authorization_code: authorizationCode } : {}),
    transaction_id: transactionId,
    external_id: externalId,
  };
}

/**
 * The documented outcomes of captures, refunds and voids, by the amount in minor units whatever the currency. Captures
 * and refunds follow the older of two tables, which agrees with what was observed; voids are only in the newer one.
 */
export function amountOutcome(kind: MoneyKind, minorUnits: number): MockOutcome {
  if (minorUnits < 2_000) return 'failed';
  if (minorUnits < 3_000) return 'pending_succeed';
  if (minorUnits < 4_000) return 'pending_failed';
  return kind === 'void' && minorUnits < 5_000 ? 'pending_succeed_late' : 'succeed';
}

const APM_TRIGGERS: ReadonlyMap<string | undefined, MockOutcome> = new Map([
  ['failed', 'failed'],
  ['pending_succeed', 'pending_succeed'],
  ['pending_failed', 'pending_failed'],
]);

/** The documented outcomes of an alternative payment method by its `untokenized_result_status`. */
export function alternativeOutcome(wanted: string | undefined): MockOutcome {
  return APM_TRIGGERS.get(wanted) ?? 'succeed';
}

type RiskDecision = 'approve' | 'review' | 'decline';

const TRIGGERS: ReadonlyMap<unknown, RiskDecision> = new Map([
  ['reject-hub@email.com', 'decline'],
  ['manual-review-hub@email.com', 'review'],
]);

export const RISK_STATUS = { approve: 'Succeed', review: 'Pending', decline: 'Failed' } as const;
const DECISIONS: Readonly<Record<ResultStatus, RiskDecision>> = {
  Succeed: 'approve',
  Pending: 'review',
  Failed: 'decline',
};
const SCORES: Readonly<Record<RiskDecision, number>> = { approve: 10, review: 55, decline: 90 };
const CODES: Readonly<Record<RiskDecision, string>> = { approve: '0', review: '1', decline: '102' };
const RISK_DESCRIPTIONS: Readonly<Record<RiskDecision, string>> = {
  approve: 'Approved.',
  review: 'In review.',
  decline: 'Declined.',
};

/** The mock risk provider's decision, by the e-mail address of the payment's billing or shipping address. */
export function riskDecision({ billing_address: billing, shipping_address: shipping }: PaymentContent): RiskDecision {
  return TRIGGERS.get(billing?.['email']) ?? TRIGGERS.get(shipping?.['email']) ?? 'approve';
}

/** The result of a risk analysis that a fault or the control API names: without a category a failure is a decision. */
export function chosenRiskResult(status: ResultStatus, category?: string, subCategory?: string): TransactionResult {
  return (category ?? subCategory) === undefined ? { status } : chosenResult(status, category, subCategory);
}

/**
 * The `provider_data` of a risk analysis. A later decision keeps score and id of the first answer; one that failed with a
 * category was never made.
 */
export function riskProviderData(
  { status, category, description }: TransactionResult,
  before?: JsonObject,
): JsonObject {
  const decision = DECISIONS[status];
  const first = before?.['risk_analyses_result'] as { score: number } | undefined;
  const externalId = (before?.['external_id'] as string | undefined) ?? randomUUID();
  const decided = category === undefined ? { score: first?.score ?? SCORES[decision], decision } : undefined;
  return {
    provider_name: 'PayU-Risk',
    response_code: CODES[decision],
    description: description ?? RISK_DESCRIPTIONS[decision],
    raw_response: JSON.stringify({ id: externalId, ...decided }),
    external_id: externalId,
    additional_information: {},
    ...(decided && { risk_analyses_result: decided }),
  };
}
