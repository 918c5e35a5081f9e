import type { Sandbox } from './context.js';
import { matchesGlob } from './faults.js';
import { paymentView, transactionView } from './payment-view.js';
import type { BusinessUnit, JsonObject, Payment, Transaction } from './records.js';
import { KINDS } from './transaction-kinds.js';
import { VERSIONS } from './versions.js';
import type { WebhookEndpoint } from './webhook-records.js';

export interface EventContent {
  eventType: string;
  eventId: string;
  /** ISO 8601. */
  created: string;
  unit: BusinessUnit;
  payment: Payment;
  /** undefined for events of the payment itself. */
  transaction?: Transaction;
}

/** Returns the body of an event for one endpoint. */
export function webhookBody(sandbox: Sandbox, endpoint: WebhookEndpoint, event: EventContent): string {
  const { eventType, eventId, created, unit, payment, transaction } = event;
  const { version } = endpoint;
  if (version === '1.0.0' || version === '1.0.1') return JSON.stringify(pointer(sandbox, version, event));
  const view = { sandbox, unit, rules: VERSIONS[version] };
  const data = transaction === undefined ? paymentView(view, payment) : transactionView(view, transaction, 'event');
  return JSON.stringify({
    id: eventId,
    created,
    account_id: unit.accountId,
    app_id: unit.appId,
    payment_id: payment.id,
    data: withoutFields(data, fieldsToDrop(endpoint, eventType)),
  });
}

/** Older versions name the changed resource and its URL, but not its present state. */
function pointer({ baseUrl }: Sandbox, version: '1.0.0' | '1.0.1', event: EventContent): JsonObject {
  const { unit, payment, transaction } = event;
  const place = transaction === undefined ? '' : `/${KINDS[transaction.kind].plural}/${transaction.id}`;
  const byInterface = unit.profile.reading === 'interface';
  const orderId = payment.content.order?.['id'];
  return {
    event_type: event.eventType,
    created: event.created,
    account_id: unit.accountId,
    'app-id': unit.appId,
    resource: {
      id: payment.id,
      ...(transaction !== undefined && (version === '1.0.1' || byInterface) && { action_id: transaction.id }),
      href: `${baseUrl}/payments/${payment.id}${place}`,
      ...(typeof orderId === 'string' && { order_id: orderId }),
    },
  };
}

function fieldsToDrop(endpoint: WebhookEndpoint, eventType: string): string[] {
  return Object.entries(endpoint.filters)
    .filter(([pattern]) => matchesGlob(pattern, eventType))
    .flatMap(([, fields]) => fields);
}

function withoutFields(data: JsonObject, dottedPaths: readonly string[]): JsonObject {
  if (dottedPaths.length === 0) return data;
  const copy = structuredClone(data);
  for (const path of dottedPaths) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    let parent: unknown = copy;
    for (const name of names) parent = ownValue(parent, name);
    if (typeof parent === 'object' && parent !== null) delete (parent as JsonObject)[last];
  }
  return copy;
}

function ownValue(parent: unknown, name: string): unknown {
  const has = typeof parent === 'object' && parent !== null && Object.hasOwn(parent, name);
  return has ? (parent as JsonObject)[name] : undefined;
}
