import { randomUUID } from 'node:crypto';
import { invalidRequest, paymentConflict, notFound } from '../api-error.js';
import { emitPaymentEvent } from '../events.js';
import { findKey, rememberKey } from '../idempotency.js';
import { asReadsShow } from '../lagging-reads.js';
import { modifiedAfter } from '../view-context.js';
import { paymentContent, paymentSchema, ALTERNATIVE_SOURCES } from '../payment-method.js';
import { EXPANDABLE, paymentView, type Expandable, redirectionView, MOCK_PROVIDER_ID } from '../payment-view.js';
import type { Payment, Transaction } from '../records.js';
import { replayed } from '../replay.js';
import { keyUse, paymentOfPath, type Answer, type Call, type Route, uuidParam } from '../route.js';
import { jsonText } from '../wire-fields.js';

const PAYMENT = { path: '/payments/:payment_id', credentials: 'private', success: 200 } as const;

export const paymentRoutes: readonly Route[] = [
  {
    operation: 'createPayment',
    method: 'POST',
    path: '/payments',
    credentials: 'private',
    request: paymentSchema,
    success: 201,
    handle: createPayment,
  },
  { ...PAYMENT, operation: 'getPayment', method: 'GET', query: { expand: EXPANDABLE }, handle: getPayment },
  {
    ...PAYMENT,
    operation: 'updatePayment',
    method: 'PUT',
    unnamed: 405,
    request: paymentSchema,
    handle: updatePayment,
  },
];

/**
 * Under a used key, either repeats the first answer whatever the body, or updates the payment: same id, but times and
 * content of the latest request.
 */
function createPayment(call: Call): Answer {
  const content = paymentContent(call);
  const { sandbox } = call;
  const remembered = findKey(sandbox, keyUse(call));
  if (remembered !== undefined && (remembered.resource !== 'payment' || !repeatUpdates(call))) {
    return replayed(call, remembered);
  }
  const before = remembered && sandbox.store.payments.get(remembered.resourceId);
  // Once money may have moved, a late retry must not change the payment.
  const locked = before !== undefined && before.transactionIds.length > 0;
  const payment = locked ? before : { ...(before ?? newPayment(call)), ...freshTimes(call), content };
  if (!locked) {
    sandbox.store.payments.put(payment);
    const { unit, requestId } = call;
    emitPaymentEvent(sandbox, before === undefined ? 'create' : 'update', { unit, payment, requestId });
  }
  const text = jsonText(paymentView(call, payment));
  rememberKey(
    sandbox,
    keyUse(call),
    { resource: 'payment', resourceId: payment.id, status: 201, version: call.rules.version },
    text,
  );
  return { status: 201, text };
}

function getPayment(call: Call): Answer {
  const payment = paymentOfPath(call);
  const asked = [call.query['expand'] ?? []].flat();
  if (!asked.every(isExpandable)) throw invalidRequest(`expand: must be one of ${EXPANDABLE.join(', ')}`);
  const shown = asReadsShow(call, payment);
  return { status: 200, body: paymentView(call, shown.payment, asked, shown.transactions) };
}

function updatePayment(call: Call): Answer {
  const content = paymentContent(call);
  const before = paymentOfPath(call);
  if (before.transactionIds.length > 0) throw paymentConflict();
  const payment = { ...before, modified: modifiedAfter(before, call.sandbox), content };
  call.sandbox.store.payments.put(payment);
  emitPaymentEvent(call.sandbox, 'update', { unit: call.unit, payment, requestId: call.requestId });
  return { status: 200, body: paymentView(call, payment) };
}

function repeatUpdates({ unit, rules }: Call): boolean {
  const { repeated_payment: asked } = unit.profile;
  return asked === 'by_version' ? rules.repeatUpdatesPayment : asked === 'updates';
}

function isExpandable(name: unknown): name is Expandable {
  return EXPANDABLE.some((one) => one === name);
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

const PATH = '/payments/:payment_id/redirections';

export const redirectionRoutes: readonly Route[] = [
  {
    operation: 'listRedirections',
    unnamed: 404,
    method: 'GET',
    path: PATH,
    credentials: 'private',
    success: 200,
    handle: (call) => ({ status: 200, body: redirected(call).map((one) => redirectionView(call, one)) }),
  },
  {
    operation: 'getRedirection',
    unnamed: 404,
    method: 'GET',
    path: `${PATH}/:redirection_id`,
    credentials: 'private',
    success: 200,
    handle: get,
  },
];

function get(call: Call): Answer {
  const transactions = redirected(call);
  const id = uuidParam(call, 'redirection_id');
  const found = transactions.find(({ redirection }) => redirection?.id === id);
  if (found === undefined) throw notFound('redirections resource does not exits');
  return { status: 200, body: redirectionView(call, found) };
}

function redirected(call: Call): Transaction[] {
  return call.sandbox.store.transactionsOf(paymentOfPath(call)).filter(({ redirection }) => redirection !== undefined);
}

export const supportedMethodRoutes: readonly Route[] = [
  {
    operation: 'listSupportedPaymentMethods',
    unnamed: 404,
    method: 'GET',
    path: '/supported-payment-methods',
    credentials: 'private',
    success: 200,
    handle: list,
  },
];

/** One entry for each provider configuration; a unit of the sandbox has one configuration. */
function list({ unit }: Call): Answer {
  const methods = ['credit_card', ...ALTERNATIVE_SOURCES].map((source) => ({
    display_name: source.replaceAll('_', ' '),
    vendor: source === 'credit_card' ? 'VISA' : `mock_${source}`,
    source_type: source,
    status: 'available',
    country: 'USA',
    amounts: [],
  }));
  const configuration = {
    configuration_id: unit.providerConfigurationId,
    configuration_name: 'MockProcessor',
    provider_id: MOCK_PROVIDER_ID,
    provider_name: 'MockProcessor',
    supported_payment_methods: methods,
    result: { status: 'Succeed' },
  };
  return { status: 200, body: [configuration] };
}
