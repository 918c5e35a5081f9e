import { showMethod } from './card-views.js';
import type { JsonObject, Transaction, TransactionResult } from './records.js';
import { KINDS } from './transaction-kinds.js';
import { echoesDetails, withoutUndefined, type ViewContext } from './view-context.js';
import { showAmount } from './wire-fields.js';

/** Answers to POST and GET differ in two fields; an event is like GET plus a refund's reason. */
export function transactionView(
  view: ViewContext,
  transaction: Transaction,
  answerTo: 'POST' | 'GET' | 'event' = 'GET',
): JsonObject {
  const { rules } = view;
  const { profile } = view.unit;
  const { shows } = KINDS[transaction.kind];
  const details = answerTo === 'POST' ? undefined : transaction.paymentMethodDetails;
  const method = transaction.paymentMethod && showMethod(rules, transaction.paymentMethod);
  // By the interface description every transaction has amount and currency; some were observed without.
  const byInterface = profile.reading === 'interface' || profile.offers === 'interface';
  const everyField = byInterface && transaction.kind !== 'risk-analysis';
  const hasMethod = method !== undefined && transaction.kind !== 'risk-analysis';
  return withoutUndefined({
    id: transaction.id,
    created: String(transaction.created),
    reconciliation_id: profile.echo_reconciliation_id ? transaction.reconciliationId : undefined,
    provider_specific_data: answerTo === 'POST' && hasMethod ? {} : undefined,
    payment_method: method && details ? { ...method, additional_details: details } : method,
    result: showResult(transaction.result),
    provider_data: providerData(view, transaction),
    amount: shows.amount || everyField ? showAmount(rules, transaction.amount, transaction.currency) : undefined,
    currency: shows.currency || everyField ? transaction.currency : undefined,
    provider_configuration: providerConfiguration(view, transaction),
    capture_id: transaction.captureId,
    reason: answerTo === 'event' ? transaction.reason : undefined,
    ip_address: transaction.ipAddress,
    redirection: redirectionView(view, transaction),
    additional_details: echoesDetails(view.unit) ? transaction.additionalDetails : undefined,
    three_d_secure_attributes: shownThreeDSecure(transaction),
    installments: transaction.installments,
    ...transaction.echo,
  });
}

function showResult({ shownAs, ...result }: TransactionResult): JsonObject {
  return { ...result, status: shownAs ?? result.status };
}

/** The redirection on which the customer authorises the payment: a page of the sandbox in place of a bank's. */
export function redirectionView({ sandbox }: ViewContext, transaction: Transaction): JsonObject | undefined {
  const { redirection, paymentId, id } = transaction;
  return (
    redirection && {
      id: redirection.id,
      created: String(redirection.created),
      merchant_site_url: redirection.merchantSiteUrl,
      url: `${sandbox.baseUrl}/sandbox/redirections/${paymentId}/${id}`,
    }
  );
}

function providerData({ unit }: ViewContext, { providerData: data, consentId, result }: Transaction): JsonObject {
  const shown = consentId !== undefined && result.status === 'Succeed';
  return shown ? { ...data, [unit.profile.consent_id_field]: consentId } : data;
}

/** Omits the input of the service's own authentication, as observed. */
function shownThreeDSecure({ threeDSecureAttributes: attributes }: Transaction): JsonObject | undefined {
  const { internal: _hidden, ...shown } = attributes ?? {};
  return Object.keys(shown).length === 0 ? undefined : shown;
}

function providerConfiguration({ sandbox, unit }: ViewContext, { kind }: Transaction): JsonObject {
  const id = unit.providerConfigurationId;
  const risk = kind === 'risk-analysis';
  return {
    id,
    name: risk ? 'PayU-Risk' : 'MockProcessor',
    description: 'Mock provider of the sandbox',
    created: String(unit.created),
    modified: String(unit.created),
    account_id: unit.accountId,
    provider_id: risk ? '00000000-0000-4000-8000-000000000002' : MOCK_PROVIDER_ID,
    type: risk ? 'risk_provider' : 'cc_processor',
    href: `${sandbox.baseUrl}/accounts/${unit.accountId}/provider-configurations/${id}`,
  };
}

export const MOCK_PROVIDER_ID = '00000000-0000-4000-8000-000000000001';
