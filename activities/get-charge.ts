import type { GetTransactionCall } from '../src/contract/activities.js';
import type { TransactionRecord } from '../src/contract/transaction.js';
import type { ActivityDeps } from './deps.js';
import { providerFor } from './deps.js';
import { readCall, readOptions } from './read-call.js';
import { transactionRecord } from './records.js';

/** `GET /payments/{payment_id}/charges/{charge_id}` */
export async function getCharge(deps: ActivityDeps, call: GetTransactionCall): Promise<TransactionRecord> {
  const provider = providerFor(deps, call.businessUnit);
  return await readCall(async () => {
    const answer = await provider.getCharge(call.paymentId, call.transactionId, readOptions(call.currency));
    return transactionRecord(answer.data, answer.requestId);
  });
}
