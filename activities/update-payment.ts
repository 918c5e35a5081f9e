import type { UpdatePaymentCall } from '../src/contract/activities.js';
import type { PaymentRecord } from '../src/contract/transaction.js';
import type { ActivityDeps } from './deps.js';
import { providerFor } from './deps.js';
import { readOptions } from './read-call.js';
import { paymentRecord } from './records.js';
import { replacement } from './repeatable.js';

/** `PUT /payments/{payment_id}`: replaces the payment, so doing it twice is doing it once. */
export async function updatePayment(deps: ActivityDeps, call: UpdatePaymentCall): Promise<PaymentRecord> {
  const provider = providerFor(deps, call.businessUnit);
  const request = { ...call.payment, additionalDetails: call.additionalDetails };
  return await replacement(async () =>
    paymentRecord(await provider.updatePayment(call.paymentId, request, readOptions())),
  );
}
