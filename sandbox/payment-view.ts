import { customerView } from './customers.js';
import { toDecimal } from './money.js';
import { restCanBeVoided } from './partial-capture.js';
import { pendingCanBeVoided } from './pending-void.js';
import type { JsonObject, Payment, PaymentStatus } from './records.js';
import { KINDS } from './transaction-kinds.js';
import { redirectionView, transactionView } from './transaction-view.js';
import type { VersionRules } from './versions.js';
import { echoesDetails, withoutUndefined, type ViewContext } from './view-context.js';
import { showAddress, showAmount } from './wire-fields.js';
import { WireNumber } from './wire-number.js';

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

export function paymentView(view: ViewContext, payment: Payment, expand: readonly Expandable[] = []): JsonObject {
  return view.unit.profile.offers === 'all' ? wholePayment(view, payment, expand) : namedFields(view, payment);
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

function wholePayment(view: ViewContext, payment: Payment, expand: readonly Expandable[]): JsonObject {
  const { content } = payment;
  const base = `${view.sandbox.baseUrl}/payments/${payment.id}`;
  const fresh = payment.transactionIds.length === 0;
  const actions = NEXT_ACTIONS[payment.status].filter(([action]) => fresh || action !== 'Update Payment');
  const transactions = view.sandbox.store.transactionsOf(payment);
  const rest =
    restCanBeVoided(view.unit, payment, transactions) || pendingCanBeVoided(view.unit, payment, transactions);
  return withoutUndefined({
    id: payment.id,
    currency: content.currency,
    created: String(payment.created),
    modified: String(payment.modified),
    is_chargedback: false,
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
    related_resources: relatedResources(view, payment, expand),
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
function relatedResources(view: ViewContext, payment: Payment, expand: readonly Expandable[]): JsonObject | undefined {
  const related: Record<string, unknown[]> = {};
  const base = `${view.sandbox.baseUrl}/payments/${payment.id}`;
  const relate = (plural: string, id: string, whole: () => JsonObject | undefined): void => {
    const expanded = expand.includes('all') || expand.some((name) => name === plural);
    (related[plural] ??= []).push(expanded ? whole() : { href: `${base}/${plural}/${id}` });
  };
  for (const transaction of view.sandbox.store.transactionsOf(payment)) {
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
