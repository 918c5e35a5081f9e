import type { Sandbox } from './context.js';
import type { BusinessUnit, JsonObject, Payment, PaymentStatus, Token, Transaction } from './records.js';
import { KINDS } from './transaction-kinds.js';
import { showAmount, type VersionRules } from './versions.js';

/** What a resource looks like on the wire. Times are epoch milliseconds as strings, links are absolute. */
export interface ViewContext {
  sandbox: Sandbox;
  unit: BusinessUnit;
  rules: VersionRules;
}

/** Next actions by payment state; the list of `Initialized` was observed, the others are our choice. */
const NEXT_ACTIONS: Readonly<Record<PaymentStatus, readonly (readonly [string, string])[]>> = {
  Initialized: [
    ['Credit', '/credits'],
    ['Charge', '/charges'],
    ['Authorization', '/authorizations'],
    ['Update Payment', ''],
    ['Authentication', '/authentications'],
    ['Risk analysis', '/risk-analyses'],
  ],
  Pending: [],
  Authorized: [
    ['Capture', '/captures'],
    ['Void', '/voids'],
    ['Risk analysis', '/risk-analyses'],
  ],
  Captured: [['Refund', '/refunds']],
  Refunded: [['Refund', '/refunds']],
  Voided: [],
};

export const EXPANDABLE = [
  'all',
  'authorizations',
  'charges',
  'captures',
  'refunds',
  'voids',
  'credits',
  'redirections',
  'customer',
  'payment_method',
] as const;
export type Expandable = (typeof EXPANDABLE)[number];

export function paymentView(view: ViewContext, payment: Payment, expand: readonly Expandable[] = []): JsonObject {
  const { content } = payment;
  const base = `${view.sandbox.baseUrl}/payments/${payment.id}`;
  const fresh = payment.transactionIds.length === 0;
  const actions = NEXT_ACTIONS[payment.status].filter(([action]) => fresh || action !== 'Update Payment');
  const related = relatedResources(view, payment, expand);
  return withoutUndefined({
    id: payment.id,
    currency: content.currency,
    created: String(payment.created),
    modified: String(payment.modified),
    is_chargedback: false,
    status: payment.status,
    billing_address: content.billing_address,
    possible_next_actions: actions.map(([action, path]) => ({ action, href: `${base}${path}` })),
    order: content.order,
    amount: showAmount(view.rules, content.amount),
    customer: content.customer_id && { href: `${view.sandbox.baseUrl}/customers/${content.customer_id}` },
    shipping_address: content.shipping_address,
    statement_soft_descriptor: content.statement_soft_descriptor,
    additional_details: view.unit.profile.echo_additional_details ? content.additional_details : undefined,
    addendums: content.addendums,
    related_resources: related,
  });
}

/** Absent while there is nothing to relate to, unless it was asked for. Links, or whole resources once expanded. */
function relatedResources(view: ViewContext, payment: Payment, expand: readonly Expandable[]): JsonObject | undefined {
  const related: Record<string, unknown[]> = {};
  for (const transaction of view.sandbox.store.transactionsOf(payment)) {
    const { plural } = KINDS[transaction.kind];
    const whole = expand.includes('all') || expand.some((name) => name === plural);
    const href = `${view.sandbox.baseUrl}/payments/${payment.id}/${plural}/${transaction.id}`;
    (related[plural] ??= []).push(whole ? transactionView(view, transaction) : { href });
  }
  return Object.keys(related).length === 0 && expand.length === 0 ? undefined : related;
}

/** `answerTo` POST and GET differ in two fields. Webhooks carry the shape of GET. */
export function transactionView(
  view: ViewContext,
  transaction: Transaction,
  answerTo: 'POST' | 'GET' = 'GET',
): JsonObject {
  const { unit, rules } = view;
  const { profile } = unit;
  const details = answerTo === 'GET' ? transaction.paymentMethodDetails : undefined;
  return withoutUndefined({
    id: transaction.id,
    created: String(transaction.created),
    reconciliation_id: profile.echo_reconciliation_id ? transaction.reconciliationId : undefined,
    provider_specific_data: answerTo === 'POST' ? {} : undefined,
    payment_method:
      transaction.paymentMethod && details
        ? { ...transaction.paymentMethod, additional_details: details }
        : transaction.paymentMethod,
    result: transaction.result,
    provider_data: transaction.providerData,
    amount: showAmount(rules, transaction.amount),
    currency: transaction.currency,
    provider_configuration: providerConfiguration(view),
    ip_address: transaction.ipAddress,
    additional_details: profile.echo_additional_details ? transaction.additionalDetails : undefined,
    three_d_secure_attributes: transaction.threeDSecureAttributes,
    installments: transaction.installments,
  });
}

function providerConfiguration({ sandbox, unit }: ViewContext): JsonObject {
  const id = unit.providerConfigurationId;
  return {
    id,
    name: 'MockProcessor',
    description: 'Mock provider of the sandbox',
    created: String(unit.created),
    modified: String(unit.created),
    account_id: unit.accountId,
    provider_id: '00000000-0000-4000-8000-000000000001',
    type: 'cc_processor',
    href: `${sandbox.baseUrl}/accounts/${unit.accountId}/provider-configurations/${id}`,
  };
}

export function tokenView({ rules }: ViewContext, token: Token, encryptedCvv?: string): JsonObject {
  const { card } = token;
  return withoutUndefined({
    token: token.token,
    created: String(token.created),
    pass_luhn_validation: card.pass_luhn_validation,
    token_type: 'credit_card',
    type: 'tokenized',
    state: rules.showsTokenState ? token.state : undefined,
    bin_number: card.bin_number,
    vendor: card.vendor,
    card_type: card.card_type,
    issuer: card.issuer,
    level: card.level,
    country_code: card.country_code,
    billing_address: token.billingAddress,
    holder_name: card.holder_name,
    expiration_date: card.expiration_date,
    last_4_digits: card.last_4_digits,
    encrypted_cvv: encryptedCvv,
  });
}

function withoutUndefined(view: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== undefined));
}
