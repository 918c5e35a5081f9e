import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import type { TransactionRecord } from '../../src/contract/transaction.js';
import type { FlowState } from '../flow/state.js';
import { ignore, noteRequestId } from '../flow/state.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import { READS } from './kinds.js';
import { heedFailedRead, credentialsWork } from './operator.js';
import { noteRefusal } from './refused-read.js';

/** Undefined when the service could not be read: that is no news, and the next poll comes. */
export async function readTransaction(flow: FlowState, transactionId: string): Promise<TransactionRecord | undefined> {
  const read = await lookUpTransaction(flow, transactionId);
  return 'record' in read ? read.record : undefined;
}

/** The same; `notFound` when the service was read, and answered that it has no such transaction. */
export async function lookUpTransaction(
  flow: FlowState,
  transactionId: string,
): Promise<{ record: TransactionRecord } | { notFound: boolean }> {
  const { paymentId, businessUnit, madeUnder, currency, kind } = flow;
  if (paymentId === undefined) return { notFound: false };
  let record: TransactionRecord;
  try {
    record = await READS[kind].get({ businessUnit, madeUnder, paymentId, transactionId, currency });
  } catch (error) {
    ignore(flow, 'readFailed');
    heedFailedRead(flow, error);
    noteRefusal(flow.refusedGets, kind, error);
    return { notFound: saysNotFound(error) };
  }
  delete flow.refusedGets[kind];
  credentialsWork(flow);
  noteRequestId(flow, decodedOrRetry(record).requestId);
  return { record };
}

/** The service was read, and has answered with "not found". */
function saysNotFound(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.type === FAILURE_TYPES.notFound;
}
