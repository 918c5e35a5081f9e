import { z } from 'zod';
import { invalidRequest, notFound, resourceConflict } from '../api-error.js';
import { storedMethodView } from '../card-views.js';
import { customerOfPath, customerView, newCustomerId, MOST_STORED_CARDS, storedCards } from '../cards.js';
import { findKey, rememberKey } from '../idempotency.js';
import { modifiedAfter } from '../view-context.js';
import { detailsSchema } from '../payment-method.js';
import type { Customer, Token } from '../records.js';
import { replayed } from '../replay.js';
import { keyUse, parseBody, type Answer, type Call, type Route } from '../route.js';
import { checkConsent, liveToken } from '../tokens.js';
import { perVersion, type VersionRules } from '../versions.js';
import { addressSchema, jsonText } from '../wire-fields.js';

const fields = (rules: VersionRules) => ({
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  email: z.email('must be an e-mail address').optional(),
  additional_details: detailsSchema.optional(),
  shipping_address: addressSchema(rules).optional(),
});
const referenceSchema = z.string().min(1).max(255);
const newCustomerSchema = perVersion((rules) => z.object({ customer_reference: referenceSchema, ...fields(rules) }));
/** The reference never changes: a reference in an update is ignored. */
const customerSchema = perVersion((rules) =>
  z.object({ customer_reference: z.unknown().optional(), ...fields(rules) }),
);

const ALL = { path: '/customers', credentials: 'private' } as const;
const ONE = { path: '/customers/:customer_id', credentials: 'private' } as const;

export const customerRoutes: readonly Route[] = [
  { ...ALL, operation: 'createCustomer', method: 'POST', request: newCustomerSchema, success: 201, handle: create },
  {
    ...ALL,
    operation: 'getCustomerByReference',
    method: 'GET',
    query: { customer_reference: undefined },
    success: 200,
    handle: getByReference,
  },
  {
    ...ONE,
    operation: 'getCustomer',
    method: 'GET',
    success: 200,
    handle: (call) => ({ status: 200, body: customerView(call, customerOfPath(call)) }),
  },
  {
    ...ONE,
    operation: 'updateCustomer',
    method: 'PUT',
    unnamed: 405,
    request: customerSchema,
    success: 200,
    handle: update,
  },
  { ...ONE, operation: 'deleteCustomer', method: 'DELETE', unnamed: 405, success: 204, handle: remove },
];

function create(call: Call): Answer {
  const { customer_reference: reference, ...content } = parseBody(call, newCustomerSchema(call.rules));
  const { sandbox, env } = call;
  const remembered = findKey(sandbox, keyUse(call));
  if (remembered !== undefined) return replayed(call, remembered);
  const { appId } = call.unit;
  const taken = sandbox.store.customerByReference({ appId, env, reference });
  if (taken !== undefined && !taken.deleted) {
    throw resourceConflict(`customer_reference already used by customer ${taken.id}`);
  }
  const now = sandbox.clock.now();
  const customer: Customer = {
    id: newCustomerId(call.unit),
    appId,
    env,
    created: now,
    modified: now,
    reference,
    deleted: false,
    content,
    tokens: [],
  };
  sandbox.store.customers.put(customer);
  const text = jsonText(customerView(call, customer));
  rememberKey(
    sandbox,
    keyUse(call),
    { resource: 'customer', resourceId: customer.id, status: 201, version: call.rules.version },
    text,
  );
  return { status: 201, text };
}

/** Answers a list of one, an empty list if the reference's customer was deleted, or a 404 if it was never used. */
function getByReference(call: Call): Answer {
  const reference = call.query['customer_reference'];
  if (typeof reference !== 'string' || reference === '') {
    throw invalidRequest('customer_reference: must be given once, in the query');
  }
  const customer = call.sandbox.store.customerByReference({ appId: call.unit.appId, env: call.env, reference });
  if (customer === undefined) throw notFound();
  return { status: 200, body: customer.deleted ? [] : [customerView(call, customer)] };
}

function update(call: Call): Answer {
  const { customer_reference: _ignored, ...content } = parseBody(call, customerSchema(call.rules));
  const before = customerOfPath(call);
  const customer = { ...before, content, modified: modifiedAfter(before, call.sandbox) };
  call.sandbox.store.customers.put(customer);
  return { status: 200, body: customerView(call, customer) };
}

/** Deletes the customer with its stored cards; only the reference stays. */
function remove(call: Call): Answer {
  const customer = customerOfPath(call);
  const { store } = call.sandbox;
  for (const token of customer.tokens) store.tokens.delete(token);
  store.customers.put({ ...customer, deleted: true, content: {}, tokens: [] });
  return { status: 204, body: undefined };
}

const CARDS = { path: '/customers/:customer_id/payment-methods', credentials: 'private', since: '1.2.0' } as const;
const CARD = { ...CARDS, path: `${CARDS.path}/:token` } as const;

export const paymentMethodRoutes: readonly Route[] = [
  { ...CARD, operation: 'storePaymentMethod', method: 'POST', success: 201, handle: store },
  { ...CARDS, operation: 'listPaymentMethods', method: 'GET', unnamed: 404, success: 200, handle: list },
  { ...CARD, operation: 'getPaymentMethod', method: 'GET', unnamed: 405, success: 200, handle: get },
  { ...CARD, operation: 'deletePaymentMethod', method: 'DELETE', success: 204, handle: removeCard },
];

/** The token acts as the key: storing it again answers the same resource, whatever the idempotency key is. */
function store(call: Call): Answer {
  const { sandbox } = call;
  const customer = customerOfPath(call);
  const token = liveToken(sandbox, call.params['token'] ?? '', call.unit.appId, call.env);
  if (token === undefined) throw notFound('Not Found, Payment method token was not found');
  checkConsent(token, call.unit);
  if (token.customerId !== undefined && token.customerId !== customer.id) {
    throw resourceConflict('token: is stored with another customer already');
  }
  if (token.customerId === customer.id) return { status: 201, body: storedMethodView(call, customer, token) };
  if (customer.tokens.length >= MOST_STORED_CARDS) {
    throw invalidRequest(`token: the customer has ${MOST_STORED_CARDS} payment methods already`);
  }
  const stored: Token = { ...token, state: 'assigned', customerId: customer.id };
  sandbox.store.tokens.put(stored);
  const modified = modifiedAfter(customer, sandbox);
  sandbox.store.customers.put({ ...customer, modified, tokens: [...customer.tokens, stored.token] });
  return { status: 201, body: storedMethodView(call, customer, stored) };
}

function list(call: Call): Answer {
  const customer = customerOfPath(call);
  return { status: 200, body: storedCards(call, customer).map((token) => storedMethodView(call, customer, token)) };
}

function get(call: Call): Answer {
  const customer = customerOfPath(call);
  return { status: 200, body: storedMethodView(call, customer, storedCard(call, customer)) };
}

/** Deletes the token, which can't be used any more. */
function removeCard(call: Call): Answer {
  const customer = customerOfPath(call);
  const { token } = storedCard(call, customer);
  const { store: kept } = call.sandbox;
  kept.tokens.delete(token);
  kept.customers.put({
    ...customer,
    modified: modifiedAfter(customer, call.sandbox),
    tokens: customer.tokens.filter((other) => other !== token),
  });
  return { status: 204, body: undefined };
}

function storedCard(call: Call, customer: Customer): Token {
  const token = storedCards(call, customer).find((one) => one.token === call.params['token']);
  if (token === undefined) throw notFound();
  return token;
}
