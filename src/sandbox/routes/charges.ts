import { paymentMethodTransactionSchema } from '../payment-method.js';
import { parseBody, type Route } from '../route.js';
import { createTransaction, getTransaction, listTransactions } from '../transactions.js';

const PATH = '/payments/:payment_id/charges';

export const chargeRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: PATH,
    credentials: 'private',
    handle: (call) => createTransaction(call, 'charge', parseBody(call, paymentMethodTransactionSchema(call.rules))),
  },
  { method: 'GET', path: PATH, credentials: 'private', handle: (call) => listTransactions(call, 'charge') },
  {
    method: 'GET',
    path: `${PATH}/:transaction_id`,
    credentials: 'private',
    handle: (call) => getTransaction(call, 'charge'),
  },
];
