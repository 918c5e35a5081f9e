import { idempotencyKey } from '../../src/contract/idempotency-key.js';
import type { ActionRecord } from '../../src/contract/payment-actions.js';
import { postUntil } from '../../src/domain/windows.js';
import type { FlowState, MoneyCommand } from '../flow/state.js';
import { othersOf, ownIds, type ReadFacts, reconciliationIdOf } from './earlier-actions.js';
import type { MoneyOperation } from './money-step.js';

/** How a command is sent. Made once: what the service lists later may include what the command itself sent. */
export interface Plan {
  sequence: string;
  own: string[];
  noted: string[];
  /** Without an amount the service uses the whole. */
  sum: { amount?: number };
}

export interface Checked {
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
  return { sequence, own, noted, sum };
}

export function operationOf(flow: FlowState, { name, request }: MoneyCommand, plan: Plan): MoneyOperation {
  const { sequence, own, noted, sum } = plan;
  const reconciliationId = reconciliationIdOf(name, request, sequence);
  const common = {
    paymentId: flow.paymentId ?? '',
    operation: name,
    sequence,
    knownTransactionIds: own,
    notedTransactionIds: noted,
    postUntil: postUntil(flow.stepStartedAt, false),
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
