import type { TransactionRecord } from '../../src/contract/transaction.js';
import { nextMessageEver } from '../flow/inbox.js';
import { resumable } from '../flow/resumable.js';
import { type FlowState, ignore, type MoneyCommand, type SettleCommand } from '../flow/state.js';
import { enter, publish } from '../flow/visibility.js';
import type { Creator } from './earlier-actions.js';

export interface Whose {
  decision: SettleCommand;
  /** The transaction that the command has created; undefined if it has created none of them. */
  made?: TransactionRecord;
}

/**
 * Waits for an operator. Nothing is sent for the command: one of these transactions may be its own, and a second one
 * would move the money twice. No read can tell them apart.
 */
export async function untilToldWhose(
  flow: FlowState,
  creator: Creator,
  { commandId, name }: MoneyCommand,
  perhaps: readonly TransactionRecord[],
): Promise<Whose> {
  const ids = perhaps.map(({ transactionId }) => transactionId).join(', ');
  const why =
    `command "${commandId}" was not sent: ${name} ${ids} was made by ${creator.workflowId ?? 'another flow'}, whose record of ` +
    'it is lost, and may be this very command; settle it as succeeded (naming the transaction) or as notExecuted';
  const begin = (): object => {
    enter(flow, { status: 'unknown', waitingFor: 'operator', needsOperator: why, dueAt: null });
    flow.settleable = true;
    publish(flow);
    return {};
  };
  return await resumable(flow, 'whose', begin, () => untilTold(flow, perhaps, ids));
}

async function untilTold(flow: FlowState, perhaps: readonly TransactionRecord[], ids: string): Promise<Whose> {
  for (;;) {
    const message = await nextMessageEver(flow);
    if (message.kind === 'event') ignore(flow, 'onlyAnOperatorCanTell');
    if (message.kind !== 'settle') continue;
    const { status, transactionId = perhaps.length === 1 ? perhaps[0]?.transactionId : undefined } =
      message.command.request;
    if (status !== 'succeeded') return { decision: message.command };
    const made = perhaps.find((record) => record.transactionId === transactionId);
    if (made !== undefined) return { decision: message.command, made };
    message.command.answer = { refusal: `name the transaction that the command has made: one of ${ids}` };
  }
}
