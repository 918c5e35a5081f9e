import type { ListTransactionsCall } from '../src/contract/activities.js';
import type { TransactionRecord } from '../src/contract/transaction.js';
import type { ActivityDeps } from './deps.js';
import { providerFor } from './deps.js';
import { readCall, readOptions } from './read-call.js';
import { transactionRecord } from './records.js';

/** `GET /payments/{payment_id}/charges` */
export async function listCharges(deps: ActivityDeps, call: ListTransactionsCall): Promise<TransactionRecord[]> {
  const provider = providerFor(deps, call.businessUnit);
  return await readCall(async () => {
    const answer = await provider.listCharges(call.paymentId, readOptions(call.currency));
    return answer.data.map((transaction) => transactionRecord(transaction, answer.requestId));
  });
}
