import { idempotencyKey } from '../../src/contract/idempotency.js';
import type { ActionRecord } from '../../src/contract/payment-actions.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import { postUntil } from '../../src/domain/schedules.js';
import { resumable } from '../flow/continue.js';
import { nextMessageEver, nextMessageOrRun, refusesWordOfAnother } from '../flow/inbox.js';
import { type FlowState, type MoneyCommand, type SettleCommand } from '../flow/state.js';
import { toldAgainst } from '../flow/told.js';
import { ignore } from '../kit/run.js';
import { enter } from '../flow/explain.js';
import { publish } from '../kit/visibility.js';
import { othersOf, ownIds, type ReadFacts, reconciliationIdOf, type Creator } from './earlier-actions.js';
import { whyDisputed } from './follow-dispute.js';
import type { MoneyOperation } from './money-step.js';

/** How a command is sent. Made once: what the service lists later may include what the command itself sent. */
export interface Plan {
  sequence: string;
  own: string[];
  noted: string[];
  /** Without an amount the service uses the whole. */
  sum: { amount?: number };
  /** Transactions that a signed event had called `Succeed` by then, and that were counted. */
  told: string[];
}

interface Checked {
  amount: number;
  /** The amount that the command named, if any. */
  asked: number | undefined;
  sequence: string;
  facts: ReadFacts;
  actions: readonly ActionRecord[];
}

export function planOf(flow: FlowState, { name, request }: MoneyCommand, checked: Checked): Plan {
  const { amount, asked, sequence, facts, actions } = checked;
  const own = ownIds(actions, name);
  // Without an amount the service uses the whole; from the second operation of a kind on it requires an amount.
  const isFirst = own.length === 0 && facts[`${name}s`].length === 0;
  const sum = asked === undefined && amount === facts.amount && isFirst ? {} : { amount };
  const key = idempotencyKey(flow.workflowId, name, sequence);
  const noted = othersOf(facts[`${name}s`], own, key, reconciliationIdOf(name, request, sequence));
  return { sequence, own, noted, sum, told: toldAgainst(flow, name) };
}

export function operationOf(flow: FlowState, command: MoneyCommand, plan: Plan): MoneyOperation {
  const { name, request } = command;
  const { sequence, own, noted, sum, told } = plan;
  const reconciliationId = reconciliationIdOf(name, request, sequence);
  const common = {
    paymentId: flow.paymentId ?? '',
    operation: name,
    sequence,
    knownTransactionIds: own,
    notedTransactionIds: noted,
    postUntil: postUntil(flow.stepStartedAt, false),
    // What is left to move was counted without it, or the payment was no disputed one when the command was checked.
    unwanted: () =>
      toldAgainst(flow, name).some((transactionId) => !told.includes(transactionId)) ||
      whyDisputed(flow, command) !== undefined,
    whyUnwanted: () => whyDisputed(flow, command),
  };
  switch (name) {
    case 'void':
      return { ...common, post: (activities, call) => activities.createVoid(call) };
    case 'capture':
      return {
        ...common,
        reconciliationId,
        post: (activities, call) =>
          activities.createCapture({ ...call, reconciliationId, knownTransactionIds: own, capture: sum }),
      };
    default: {
      const { captureId, reason } = request as { captureId?: string; reason?: string };
      const refund = { ...sum, ...(captureId !== undefined && { captureId }), ...(reason !== undefined && { reason }) };
      return {
        ...common,
        reconciliationId,
        post: (activities, call) =>
          activities.createRefund({ ...call, reconciliationId, knownTransactionIds: own, refund }),
      };
    }
  }
}

interface Whose {
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
  return await resumable(flow, 'whose', begin, () => untilOperatorTells(flow, perhaps, ids));
}

async function untilOperatorTells(flow: FlowState, perhaps: readonly TransactionRecord[], ids: string): Promise<Whose> {
  for (;;) {
    if (flow.lookBeside !== undefined) await flow.lookBeside();
    const { disputeSeen } = flow;
    const message =
      disputeSeen === undefined
        ? await nextMessageEver(flow)
        : await nextMessageOrRun(flow, Math.max(1, disputeSeen.nextAt - Date.now()), 'Until the dispute is read again');
    if (message === undefined) continue;
    if (message.kind === 'event') ignore(flow, 'onlyAnOperatorCanTell');
    if (message.kind !== 'settle' || refusesWordOfAnother(flow, message.command)) continue;
    const { status, transactionId = perhaps.length === 1 ? perhaps[0]?.transactionId : undefined } =
      message.command.request;
    if (status !== 'succeeded') return { decision: message.command };
    const made = perhaps.find((record) => record.transactionId === transactionId);
    if (made !== undefined) return { decision: message.command, made };
    message.command.answer = { refusal: `name the transaction that the command has made: one of ${ids}` };
  }
}
