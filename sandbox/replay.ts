import { tokenView } from './card-views.js';
import { customerView } from './cards.js';
import { storedAnswer } from './idempotency.js';
import { paymentView, transactionView } from './payment-view.js';
import type { JsonObject, RememberedKey } from './records.js';
import type { Answer, Call } from './route.js';

/**
 * Returns the stored answer of an idempotency key, unchanged. A request of another API version gets the present state
 * of the same resource in its own version instead, since its amounts have another unit. So does a key whose answer was
 * a failure that may have moved money, once what came of it is known: unless the unit replays such answers.
 */
export function replayed(call: Call, remembered: RememberedKey): Answer {
  const { status } = remembered;
  const { replay_network_errors: replaysErrors } = call.unit.profile;
  const isKnownNow = call.sandbox.store.transactions.get(remembered.resourceId)?.answersAnew === true;
  const isOfVersion = (remembered.version ?? call.rules.version) === call.rules.version;
  const same = isOfVersion && (!isKnownNow || replaysErrors);
  const body = same ? undefined : presentView(call, remembered);
  return body === undefined ? { status, text: storedAnswer(call.sandbox, remembered) } : { status, body };
}

function presentView(call: Call, { resource, resourceId }: RememberedKey): JsonObject | undefined {
  const { payments, tokens, customers, transactions } = call.sandbox.store;
  const view = <T>(value: T | undefined, show: (value: T) => JsonObject) =>
    value === undefined ? undefined : show(value);
  switch (resource) {
    case 'payment':
      return view(payments.get(resourceId), (payment) => paymentView(call, payment));
    case 'token':
      return view(tokens.get(resourceId), (token) => tokenView(call, token));
    case 'customer':
      return view(customers.get(resourceId), (customer) => customerView(call, customer));
    default:
      return view(transactions.get(resourceId), (transaction) => transactionView(call, transaction, 'POST'));
  }
}
