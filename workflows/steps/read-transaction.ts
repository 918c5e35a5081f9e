import type { TransactionRecord } from '../../src/contract/transaction.js';
import type { FlowState } from '../flow/state.js';
import { ignore, noteRequestId } from '../flow/state.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import { READS } from './kinds.js';
import { askOperatorIfRejected, credentialsWork } from './operator.js';

/** Undefined when the service could not be read: that is no news, and the next poll comes. */
export async function readTransaction(flow: FlowState, transactionId: string): Promise<TransactionRecord | undefined> {
  const { paymentId, businessUnit, currency, kind } = flow;
  if (paymentId === undefined) return undefined;
  let record: TransactionRecord;
  try {
    record = await READS[kind].get({ businessUnit, paymentId, transactionId, currency });
  } catch (error) {
    ignore(flow, 'readFailed');
    askOperatorIfRejected(flow, error);
    return undefined;
  }
  credentialsWork(flow);
  noteRequestId(flow, decodedOrRetry(record).requestId);
  return record;
}
