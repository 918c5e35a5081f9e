import type { TransactionRecord } from '../../src/contract/transaction.js';
import { isUndecodable } from '../../src/contract/undecodable.js';
import type { FlowState } from '../flow/state.js';
import { ignore, noteRequestId } from '../flow/state.js';
import { read } from '../policies.js';

/** Undefined when the service could not be read: that is no news, and the next poll comes. */
export async function readTransaction(flow: FlowState, transactionId: string): Promise<TransactionRecord | undefined> {
  const { paymentId, businessUnit, currency } = flow;
  if (paymentId === undefined) return undefined;
  try {
    const record = await read.getCharge({ businessUnit, paymentId, transactionId, currency });
    if (isUndecodable(record)) return undefined;
    noteRequestId(flow, record.requestId);
    return record;
  } catch {
    ignore(flow, 'readFailed');
    return undefined;
  }
}
