import type { TransactionRecord } from '../../src/contract/records.js';
import { showMoney } from '../../src/domain/money.js';
import type { FlowState, SettleCommand } from '../flow/state.js';

/** The sum of a transaction in the flow's currency that is not the one asked for. */
export function otherSumOf(
  flow: FlowState,
  { amount, currency = flow.currency }: TransactionRecord,
): number | undefined {
  return currency === flow.currency && amount !== flow.stepAmount ? amount : undefined;
}

/** An absent amount or currency is no mismatch. */
export function mismatchOf(flow: FlowState, record: TransactionRecord): string | undefined {
  const { amount = flow.stepAmount, currency = flow.currency } = record;
  if (amount === flow.stepAmount && currency === flow.currency) return undefined;
  return (
    `AmountMismatch: transaction ${record.transactionId} is over ${amount} minor units of ${currency}, ` +
    `not ${showMoney(flow.stepAmount, flow.currency)}` +
    (otherSumOf(flow, record) !== undefined ? '; settleManually `succeeded` takes the amount that has moved' : '')
  );
}

/**
 * Why the sum that an operator states is refused, or that none is: what was asked for would be recorded, and more sent or given back
 * beside what has moved.
 * @param shown what the transaction is over, where that is not what was asked for
 */
export function refusalOfSum(
  { stepAmount, currency }: FlowState,
  { request: { status, amount } }: SettleCommand,
  shown: number | undefined,
): string | undefined {
  if (status !== 'succeeded') return undefined;
  const asked = showMoney(stepAmount, currency);
  if (shown === undefined)
    return amount === undefined || amount === stepAmount
      ? undefined
      : `amount: the service shows the ${asked} asked for`;
  const both = `the service shows ${showMoney(shown, currency)}, and ${asked} were asked for`;
  if (amount === undefined) return `amount: say what has moved: ${both}`;
  return amount > Math.max(shown, stepAmount)
    ? `amount: ${amount} minor units are more than either: ${both}`
    : undefined;
}
