import type { PaymentRecord, TransactionRecord } from '../../src/contract/transaction.js';
import { inResetRun } from '../flow/start-guard.js';
import type { FlowState } from '../flow/state.js';
import { ignore, noteRequestId } from '../flow/state.js';
import { read } from '../policies.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import { READS } from './kinds.js';
import { heedFailedRead, credentialsWork } from './operator.js';
import { noteListAnswer, noteListRefusal, readRefusal } from './refused-read.js';

export async function readPayment(flow: FlowState): Promise<PaymentRecord | undefined> {
  const payment = await readPaymentOrWhyNot(flow);
  return 'refused' in payment ? undefined : payment;
}

export async function readPaymentOrWhyNot(flow: FlowState): Promise<PaymentRecord | { refused: boolean }> {
  const { businessUnit, madeUnder, paymentId = '' } = flow;
  const after = inResetRun() ? { afterReset: true as const } : {};
  return await heeding(flow, () => read.getPayment({ businessUnit, madeUnder, paymentId, ...after }));
}

export async function listed(flow: FlowState, kind: 'capture' | 'void'): Promise<TransactionRecord[] | undefined> {
  const { businessUnit, madeUnder, paymentId = '', currency } = flow;
  const records = await heeding(
    flow,
    () => READS[kind].list({ businessUnit, madeUnder, paymentId, currency }),
    (error) => void noteListRefusal(flow, kind, error),
  );
  if ('refused' in records) return undefined;
  noteListAnswer(flow, kind);
  return records;
}

async function heeding<Answer extends object>(
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
    heedFailedRead(flow, error);
    return { refused: readRefusal(error) !== undefined };
  }
  credentialsWork(flow);
  const { requestId } = decodedOrRetry(answer) as { requestId?: string };
  noteRequestId(flow, requestId);
  return answer;
}
