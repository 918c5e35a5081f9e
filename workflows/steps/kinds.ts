import type { GetTransactionCall, ListTransactionsCall } from '../../src/contract/activity-calls.js';
import type { TransactionRecord } from '../../src/contract/transaction.js';
import type { StepKind } from '../flow/state.js';
import { read } from '../policies.js';

interface Reads {
  get(call: GetTransactionCall): Promise<TransactionRecord>;
  list(call: ListTransactionsCall): Promise<TransactionRecord[]>;
}

/** How the transactions of each kind are read. */
export const READS: Readonly<Record<StepKind, Reads>> = {
  charge: { get: (call) => read.getCharge(call), list: (call) => read.listCharges(call) },
  authorization: { get: (call) => read.getAuthorization(call), list: (call) => read.listAuthorizations(call) },
  capture: { get: (call) => read.getCapture(call), list: (call) => read.listCaptures(call) },
  void: { get: (call) => read.getVoid(call), list: (call) => read.listVoids(call) },
  refund: { get: (call) => read.getRefund(call), list: (call) => read.listRefunds(call) },
  credit: { get: (call) => read.getCredit(call), list: (call) => read.listCredits(call) },
  'risk-analysis': { get: (call) => read.getRiskAnalysis(call), list: (call) => read.listRiskAnalyses(call) },
};
