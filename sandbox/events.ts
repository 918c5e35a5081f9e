import { randomUUID } from 'node:crypto';
import type { Sandbox } from './context.js';
import { matchesGlob } from './faults.js';
import type { BusinessUnit, Payment, Transaction } from './records.js';
import type { WebhookEndpoint } from './webhook-records.js';
import { KINDS } from './transaction-kinds.js';
import { webhookBody } from './webhook-body.js';

/** A change of a payment or transaction, of which events tell. */
interface Transition {
  eventType: string;
  unit: BusinessUnit;
  payment: Payment;
  /** undefined for events of the payment itself. */
  transaction?: Transaction;
  /** Id of the request that caused it, perhaps long ago. */
  requestId: string;
}

/** Within a store transaction: emits one event to each endpoint that subscribes to it. */
export function emitTransactionEvent(
  sandbox: Sandbox,
  action: 'create' | 'update',
  transition: { unit: BusinessUnit; payment: Payment; transaction: Transaction },
): void {
  const { transaction } = transition;
  const eventType = `payment.${KINDS[transaction.kind].eventResource}.${action}`;
  emit(sandbox, { ...transition, eventType, requestId: transaction.requestId });
}

export function emitPaymentEvent(
  sandbox: Sandbox,
  action: 'create' | 'update',
  transition: { unit: BusinessUnit; payment: Payment; requestId: string },
): void {
  emit(sandbox, { ...transition, eventType: `payment.payment.${action}` });
}

/** Returns the reconciliation ids of a payment's transactions, and the reference that its creator named. */
export function reconciliationIdsOf(sandbox: Sandbox, payment: Payment): string[] {
  const ids = sandbox.store.transactionsOf(payment).flatMap((row) => row.reconciliationId ?? []);
  return [...ids, ...referenceOf(payment.content.additional_details)];
}

/** The reference in `additional_details.holdfast_workflow_id`: a fault can match it before the first transaction. */
export function referenceOf(details: unknown): string[] {
  const workflowId = (details as Record<string, unknown> | undefined)?.['holdfast_workflow_id'];
  return typeof workflowId === 'string' && workflowId.startsWith('payment-')
    ? [workflowId.slice('payment-'.length)]
    : [];
}

function emit(sandbox: Sandbox, transition: Transition): void {
  for (const endpoint of sandbox.store.endpoints.values()) {
    if (wants(endpoint, transition)) address(sandbox, endpoint, transition);
  }
}

function wants(endpoint: WebhookEndpoint, { eventType, payment }: Transition): boolean {
  return (
    endpoint.env === payment.env &&
    endpoint.appIds.includes(payment.appId) &&
    endpoint.events.some((pattern) => matchesGlob(pattern, eventType))
  );
}

function address(sandbox: Sandbox, endpoint: WebhookEndpoint, transition: Transition): void {
  const { unit, payment, transaction, eventType, requestId } = transition;
  const now = sandbox.clock.now();
  const known = transaction?.reconciliationId;
  const reconciliationIds = () => (known === undefined ? reconciliationIdsOf(sandbox, payment) : [known]);
  const planted = sandbox.faults.forEvent({ path: eventType, reconciliationIds });
  const created = new Date(now).toISOString();
  const eventId = `${payment.id}-${created}-${randomUUID()}`;
  const body = webhookBody(sandbox, endpoint, { ...transition, eventId, created });
  const reconciliationId = known ?? reconciliationIdsOf(sandbox, payment)[0];
  sandbox.deliveries.enqueue(
    {
      id: randomUUID(),
      endpointId: endpoint.id,
      url: endpoint.url,
      version: endpoint.version,
      appId: unit.appId,
      env: payment.env,
      eventType,
      eventId,
      paymentId: payment.id,
      ...(transaction === undefined ? {} : { transactionId: transaction.id }),
      ...(reconciliationId === undefined ? {} : { reconciliationId }),
      requestId,
      created: now,
      status: planted.lost ? 'lost' : 'pending',
      attempts: 0,
      repeats: planted.repeats,
      nextAt: now + sandbox.settings.eventDelayMs + planted.delayMs,
    },
    body,
  );
}
