import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { invalidRequest, paymentConflict } from '../api-error.js';
import { emitPaymentEvent } from '../events.js';
import { findKey, rememberKey, storedAnswer } from '../idempotency.js';
import type { Payment, PaymentContent } from '../records.js';
import { keyUse, parseBody, paymentOfPath, type Answer, type Call, type Route } from '../route.js';
import { amountSchema, perVersion, type VersionRules } from '../versions.js';
import { EXPANDABLE, paymentView } from '../views.js';

export const paymentRoutes: readonly Route[] = [
  { method: 'POST', path: '/payments', credentials: 'private', handle: createPayment },
  { method: 'GET', path: '/payments/:payment_id', credentials: 'private', handle: getPayment },
  { method: 'PUT', path: '/payments/:payment_id', credentials: 'private', handle: updatePayment },
];

const expandSchema = z.array(z.enum(EXPANDABLE));
const currencies = new Set(Intl.supportedValuesOf('currency'));

const contentSchema = perVersion((rules: VersionRules): z.ZodType<PaymentContent> => {
  const object = z.looseObject({});
  const lineItem = z.looseObject({ unit_price: z.number().optional(), quantity: z.number().optional() });
  return z.object({
    amount: amountSchema(rules),
    currency: z.string().refine((code) => currencies.has(code), 'is no ISO 4217 currency code'),
    customer_id: z.uuid().optional(),
    additional_details: z.record(z.string(), z.string()).optional(),
    statement_soft_descriptor: z.string().optional(),
    order: z.looseObject({ line_items: z.array(lineItem).optional() }).optional(),
    shipping_address: object.optional(),
    billing_address: object.optional(),
    addendums: object.optional(),
  });
});

/** Under one key this is an upsert: same id, but times and content are those of the latest request. */
function createPayment(call: Call): Answer {
  const content = parseBody(call, contentSchema(call.rules));
  const { sandbox } = call;
  const remembered = findKey(sandbox, keyUse(call));
  if (remembered !== undefined && remembered.resource !== 'payment') {
    return { status: remembered.status, text: storedAnswer(sandbox, remembered) };
  }
  const before = remembered && sandbox.store.payments.get(remembered.resourceId);
  // Once money may have moved, a late repetition must not change what it moved for.
  const locked = before !== undefined && before.transactionIds.length > 0;
  const payment = locked ? before : { ...(before ?? newPayment(call)), ...freshTimes(call), content };
  if (!locked) {
    sandbox.store.payments.put(payment);
    const { unit, requestId } = call;
    emitPaymentEvent(sandbox, before === undefined ? 'create' : 'update', { unit, payment, requestId });
  }
  const text = JSON.stringify(paymentView(call, payment));
  rememberKey(sandbox, keyUse(call), { resource: 'payment', resourceId: payment.id, status: 201 }, text);
  return { status: 201, text };
}

function getPayment(call: Call): Answer {
  const payment = paymentOfPath(call);
  const asked = [call.query['expand'] ?? []].flat();
  const expand = expandSchema.safeParse(asked);
  if (!expand.success) throw invalidRequest(`expand takes ${EXPANDABLE.join(', ')}`);
  return { status: 200, body: paymentView(call, payment, expand.data) };
}

function updatePayment(call: Call): Answer {
  const content = parseBody(call, contentSchema(call.rules));
  const before = paymentOfPath(call);
  if (before.transactionIds.length > 0) throw paymentConflict();
  const payment = { ...before, modified: call.sandbox.clock.now(), content };
  call.sandbox.store.payments.put(payment);
  emitPaymentEvent(call.sandbox, 'update', { unit: call.unit, payment, requestId: call.requestId });
  return { status: 200, body: paymentView(call, payment) };
}

function newPayment(call: Call): Omit<Payment, 'content' | 'created' | 'modified'> {
  return {
    id: randomUUID(),
    appId: call.unit.appId,
    env: call.env,
    status: 'Initialized',
    externalId: randomUUID(),
    transactionIds: [],
  };
}

function freshTimes(call: Call): Pick<Payment, 'created' | 'modified'> {
  const now = call.sandbox.clock.now();
  return { created: now, modified: now };
}
