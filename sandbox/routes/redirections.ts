import { notFound } from '../api-error.js';
import type { Transaction } from '../records.js';
import { paymentOfPath, uuidParam, type Answer, type Call, type Route } from '../route.js';
import { redirectionView } from '../transaction-view.js';

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
