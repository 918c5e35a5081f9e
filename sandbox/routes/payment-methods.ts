import { invalidRequest, notFound, resourceConflict } from '../api-error.js';
import { storedMethodView } from '../card-views.js';
import { customerOfPath, MOST_STORED_CARDS, storedCards } from '../customers.js';
import type { Customer, Token } from '../records.js';
import type { Answer, Call, Route } from '../route.js';
import { checkConsent, liveToken } from '../tokens.js';

const ALL = { path: '/customers/:customer_id/payment-methods', credentials: 'private', since: '1.2.0' } as const;
const ONE = { ...ALL, path: `${ALL.path}/:token` } as const;

export const paymentMethodRoutes: readonly Route[] = [
  { ...ONE, operation: 'storePaymentMethod', method: 'POST', success: 201, handle: store },
  { ...ALL, operation: 'listPaymentMethods', method: 'GET', success: 200, handle: list },
  { ...ONE, operation: 'getPaymentMethod', method: 'GET', success: 200, handle: get },
  { ...ONE, operation: 'deletePaymentMethod', method: 'DELETE', success: 204, handle: remove },
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
  const modified = sandbox.clock.now();
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
function remove(call: Call): Answer {
  const customer = customerOfPath(call);
  const { token } = storedCard(call, customer);
  const { store: kept, clock } = call.sandbox;
  kept.tokens.delete(token);
  kept.customers.put({
    ...customer,
    modified: clock.now(),
    tokens: customer.tokens.filter((other) => other !== token),
  });
  return { status: 204, body: undefined };
}

function storedCard(call: Call, customer: Customer): Token {
  const token = storedCards(call, customer).find((one) => one.token === call.params['token']);
  if (token === undefined) throw notFound();
  return token;
}
