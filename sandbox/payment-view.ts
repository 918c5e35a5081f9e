import { showMethod } from './card-views.js';
import { customerView } from './cards.js';
import { failure } from './mock-provider.js';
import { toDecimal } from './money.js';
import type {
  JsonObject,
  Payment,
  PaymentStatus,
  Transaction,
  TransactionResult,
  BusinessUnit,
  TransactionKind,
} from './records.js';
import { KINDS } from './transaction-kinds.js';
import type { VersionRules } from './versions.js';
import { echoesDetails, withoutUndefined, type ViewContext } from './view-context.js';
import { showAddress, showAmount, WireNumber } from './wire-fields.js';

const VOID = ['Void', '/voids'] as const;

/** Next actions by payment state; the list of `Initialized` was observed, the others are assumed. */
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
  Authorized: [['Capture', '/captures'], VOID, ['Risk analysis', '/risk-analyses']],
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

/** @param transactions those that are shown; default: all of the payment, as they are now */
export function paymentView(
  view: ViewContext,
  payment: Payment,
  expand: readonly Expandable[] = [],
  transactions: readonly Transaction[] = view.sandbox.store.transactionsOf(payment),
): JsonObject {
  if (view.unit.profile.offers !== 'all') return namedFields(view, payment);
  return wholePayment(view, payment, expand, transactions);
}

/** The fields in the interface description: no status, no next actions, no transactions. */
function namedFields({ rules }: ViewContext, { id, content }: Payment): JsonObject {
  return withoutUndefined({
    id,
    amount: showAmount(rules, content.amount, content.currency),
    currency: content.currency,
    statement_soft_descriptor: content.statement_soft_descriptor,
    order: showOrder(rules, content.order, content.currency),
  });
}

function wholePayment(
  view: ViewContext,
  payment: Payment,
  expand: readonly Expandable[],
  transactions: readonly Transaction[],
): JsonObject {
  const { content } = payment;
  const base = `${view.sandbox.baseUrl}/payments/${payment.id}`;
  const fresh = transactions.length === 0;
  const actions = NEXT_ACTIONS[payment.status].filter(([action]) => fresh || action !== 'Update Payment');
  const rest =
    restCanBeVoided(view.unit, payment, transactions) || pendingCanBeVoided(view.unit, payment, transactions);
  return withoutUndefined({
    id: payment.id,
    currency: content.currency,
    created: String(payment.created),
    modified: String(payment.modified),
    is_chargedback: payment.dispute !== undefined,
    status: payment.status,
    billing_address: showAddress(view.rules, content.billing_address),
    possible_next_actions: [...actions, ...(rest ? [VOID] : [])].map(([action, path]) => ({
      action,
      href: `${base}${path}`,
    })),
    order: showOrder(view.rules, content.order, content.currency),
    amount: showAmount(view.rules, content.amount, content.currency),
    customer: content.customer_id && customerOf(view, payment, expand),
    shipping_address: showAddress(view.rules, content.shipping_address),
    statement_soft_descriptor: content.statement_soft_descriptor,
    additional_details: echoesDetails(view.unit) ? content.additional_details : undefined,
    addendums: content.addendums,
    related_resources: relatedResources(view, payment, expand, transactions),
  });
}

function customerOf(view: ViewContext, { appId, content }: Payment, expand: readonly Expandable[]): JsonObject {
  const href = `${view.sandbox.baseUrl}/customers/${encodeURIComponent(content.customer_id ?? '')}`;
  const customer = view.sandbox.store.customers.get(content.customer_id ?? '');
  const whole = expand.includes('customer') || expand.includes('all');
  const known = customer !== undefined && customer.appId === appId && !customer.deleted;
  return whole && known ? { ...customerView(view, customer), href } : { href };
}

/** Values of `expand` that are not related resources. */
const NOT_RELATED: readonly Expandable[] = ['customer', 'payment_method'];

/** Links, or whole resources if expanded. undefined if there are none and `expand` names none. */
function relatedResources(
  view: ViewContext,
  payment: Payment,
  expand: readonly Expandable[],
  transactions: readonly Transaction[],
): JsonObject | undefined {
  const related: Record<string, unknown[]> = {};
  const base = `${view.sandbox.baseUrl}/payments/${payment.id}`;
  const relate = (plural: string, id: string, whole: () => JsonObject | undefined): void => {
    const expanded = expand.includes('all') || expand.some((name) => name === plural);
    (related[plural] ??= []).push(expanded ? whole() : { href: `${base}/${plural}/${id}` });
  };
  for (const transaction of transactions) {
    if (transaction.kind === 'risk-analysis') continue;
    relate(KINDS[transaction.kind].plural, transaction.id, () => transactionView(view, transaction));
    const { redirection } = transaction;
    if (redirection) relate('redirections', redirection.id, () => redirectionView(view, transaction));
  }
  const asked = expand.some((name) => !NOT_RELATED.includes(name));
  return Object.keys(related).length === 0 && !asked ? undefined : related;
}

/** Unit prices are stored in minor units. */
function showOrder(rules: VersionRules, order: JsonObject | undefined, currency: string): JsonObject | undefined {
  const items = order?.['line_items'];
  if (!rules.decimalAmounts || !Array.isArray(items)) return order;
  const show = (item: JsonObject): JsonObject => {
    const { unit_price: price } = item;
    return typeof price === 'number' ? { ...item, unit_price: new WireNumber(toDecimal(price, currency)) } : item;
  };
  return { ...order, line_items: items.map((item) => show(item as JsonObject)) };
}

/** Answers to POST and GET differ in two fields; an event is like GET plus a refund's reason. */
export function transactionView(
  view: ViewContext,
  transaction: Transaction,
  answerTo: 'POST' | 'GET' | 'event' = 'GET',
): JsonObject {
  const { rules } = view;
  const { profile } = view.unit;
  const { shows } = KINDS[transaction.kind];
  const details = answerTo === 'POST' || !echoesDetails(view.unit) ? undefined : transaction.paymentMethodDetails;
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

const VOIDABLE: readonly TransactionKind[] = ['charge', 'credit', 'capture'];
/** States of a payment with a pending transaction: a credit leaves it as it was. */
const WHILE_PENDING: readonly PaymentStatus[] = ['Pending', 'Initialized'];

/** Whether it pends, and a void may end it. */
export function isVoidable({ kind, result }: Transaction): boolean {
  return VOIDABLE.includes(kind) && result.status === 'Pending';
}

/** Whether the unit's provider can still void a pending transaction, and no void is pending yet. */
export function pendingCanBeVoided(
  { profile }: BusinessUnit,
  { status }: Payment,
  transactions: readonly Transaction[],
): boolean {
  if (profile.pending_void === 'refused' || !WHILE_PENDING.includes(status)) return false;
  const pends = transactions.filter(({ result }) => result.status === 'Pending');
  return pends.some(isVoidable) && !pends.some(({ kind }) => kind === 'void');
}

/** Returns the pending transactions that a void which has just succeeded ends. */
export function endedBy(
  { profile }: BusinessUnit,
  { kind, result }: Transaction,
  transactions: readonly Transaction[],
): readonly Transaction[] {
  if (kind !== 'void' || result.status !== 'Succeed' || profile.pending_void !== 'allowed') return [];
  return transactions.filter(isVoidable);
}

/** Whether what a pending void was to end has succeeded since: that money has moved, and no void takes it back. */
export function isTooLate(
  { kind, paymentStatusBefore, created }: Transaction,
  { profile }: BusinessUnit,
  transactions: readonly Transaction[],
): boolean {
  const wasPending = WHILE_PENDING.includes(paymentStatusBefore);
  if (kind !== 'void' || !wasPending || profile.pending_void !== 'allowed') return false;
  const voidable = transactions.filter((one) => VOIDABLE.includes(one.kind));
  const succeededSince = ({ result, settled = 0 }: Transaction): boolean =>
    result.status === 'Succeed' && settled >= created;
  return !voidable.some(({ result }) => result.status === 'Pending') && voidable.some(succeededSince);
}

/** Result of a voided pending transaction. No category exists for it, so it has the mock's default. */
export const VOIDED: TransactionResult = { ...failure('provider_error'), description: 'Voided while it was pending.' };

/** Whether part of the hold was captured, the rest is still held, and the unit's provider accepts a void of it. */
export function restCanBeVoided(
  { profile }: BusinessUnit,
  { status }: Payment,
  transactions: readonly Transaction[],
): boolean {
  if (profile.partial_capture_void === 'refused' || status !== 'Captured') return false;
  const sum = (kind: Transaction['kind']): number =>
    transactions
      .filter((one) => one.kind === kind && one.result.status === 'Succeed')
      .reduce((total, { amount }) => total + amount, 0);
  return sum('void') === 0 && sum('capture') < sum('authorization');
}
