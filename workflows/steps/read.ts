import type { GetTransactionCall, ListTransactionsCall } from '../../src/contract/activity-calls.js';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import type { TransactionRecord, PaymentRecord } from '../../src/contract/records.js';
import { NEAR_DEADLINE_MS } from '../../src/domain/schedules.js';
import { inResetRun } from '../kit/start-guard.js';
import { noteWanted } from '../kit/outbox.js';
import { noteRestore } from '../flow/restored.js';
import { type FlowState, noteDeclines, noteRequestId, type StepKind } from '../flow/state.js';
import { ignore } from '../kit/run.js';
import { poll, read, urgentRead } from '../policies.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { handleFailedRead, credentialsWork } from './operator.js';
import { noteListAnswer, noteListRefusal, readRefusal, refusedAs, noteRefusal } from './failures.js';

interface Reads {
  get(call: GetTransactionCall): Promise<TransactionRecord>;
  list(call: ListTransactionsCall, by?: typeof read): Promise<TransactionRecord[]>;
}

/** How the transactions of each kind are read. */
export const READS: Readonly<Record<StepKind, Reads>> = {
  charge: { get: (call) => poll.getCharge(call), list: (call, by = read) => by.listCharges(call) },
  authorization: { get: (call) => poll.getAuthorization(call), list: (call, by = read) => by.listAuthorizations(call) },
  capture: { get: (call) => poll.getCapture(call), list: (call, by = read) => by.listCaptures(call) },
  void: { get: (call) => poll.getVoid(call), list: (call, by = read) => by.listVoids(call) },
  refund: { get: (call) => poll.getRefund(call), list: (call, by = read) => by.listRefunds(call) },
  credit: { get: (call) => poll.getCredit(call), list: (call, by = read) => by.listCredits(call) },
  'risk-analysis': { get: (call) => poll.getRiskAnalysis(call), list: (call, by = read) => by.listRiskAnalyses(call) },
};

export async function readPayment(flow: FlowState): Promise<PaymentRecord | undefined> {
  const payment = await readPaymentOrWhyNot(flow);
  return 'refused' in payment ? undefined : payment;
}

export async function readPaymentOrWhyNot(flow: FlowState): Promise<PaymentRecord | { refused: boolean }> {
  const { businessUnit, madeUnder, paymentId = '' } = flow;
  const after = inResetRun() ? { afterReset: true as const } : {};
  const read = await handlingFailure(flow, () =>
    readsOf(flow).getPayment({ businessUnit, madeUnder, paymentId, ...after }),
  );
  if (!('refused' in read)) {
    noteRestore(flow, read);
    noteWanted(flow, read);
    noteDeclines(flow, read);
  }
  return read;
}

/** With less than an hour left the reads before a capture or void go first as well. */
function readsOf({ hold }: FlowState): typeof read {
  return hold !== undefined && hold.terms.captureBy - Date.now() <= NEAR_DEADLINE_MS ? urgentRead : read;
}

export async function listed(flow: FlowState, kind: 'capture' | 'void'): Promise<TransactionRecord[] | undefined> {
  const { businessUnit, madeUnder, paymentId = '', currency } = flow;
  const records = await handlingFailure(
    flow,
    () => READS[kind].list({ businessUnit, madeUnder, paymentId, currency }, readsOf(flow)),
    (error) => void noteListRefusal(flow, kind, error),
  );
  if ('refused' in records) return undefined;
  noteListAnswer(flow, kind);
  return records;
}

async function handlingFailure<Answer extends object>(
  flow: FlowState,
  call: () => Promise<Answer>,
  note?: (error: unknown) => void,
): Promise<Answer | { refused: boolean }> {
  let answer: Answer;
  try {
    answer = await call();
  } catch (error) {
    ignore(flow, 'readFailed');
    note?.(error);
    handleFailedRead(flow, error);
    return { refused: readRefusal(error) !== undefined };
  }
  credentialsWork(flow);
  const { requestId } = decodedOrRetry(answer) as { requestId?: string };
  noteRequestId(flow, requestId);
  return answer;
}

/** Returns undefined if the service could not be read: the next poll reads again. */
export async function readTransaction(flow: FlowState, transactionId: string): Promise<TransactionRecord | undefined> {
  const read = await lookUpTransaction(flow, transactionId);
  return 'record' in read ? read.record : undefined;
}

/** As {@link readTransaction}; `notFound` is true if the service answered that it has no such transaction. */
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
    handleFailedRead(flow, error);
    noteRefusal(flow.refusedGets, kind, error);
    return { notFound: refusedAs(error, FAILURE_TYPES.notFound) !== undefined };
  }
  delete flow.refusedGets[kind];
  credentialsWork(flow);
  noteRequestId(flow, decodedOrRetry(record).requestId);
  return { record };
}
