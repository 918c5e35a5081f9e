import type { PaymentCall } from '../src/contract/activity-calls.js';
import type { PaymentRecord } from '../src/contract/transaction.js';
import type { ActivityDeps } from './deps.js';
import { providerFor } from './deps.js';
import { readCall, readOptions } from './read-call.js';
import { readPaymentRecord } from './records.js';

/** `GET /payments/{payment_id}` */
export async function getPayment(deps: ActivityDeps, call: PaymentCall): Promise<PaymentRecord> {
  const provider = providerFor(deps, call.businessUnit);
  const unit = deps.units?.get(call.businessUnit);
  const record = await readCall(async () =>
    readPaymentRecord(await provider.getPayment(call.paymentId, readOptions())),
  );
  return {
    ...record,
    ...(call.afterReset === true && { afterReset: true as const }),
    ...(unit?.madeUnder !== undefined && { madeUnder: unit.madeUnder }),
    ...(unit?.voidAfterPartialCapture === true && { voidAfterPartialCapture: true as const }),
  };
}
