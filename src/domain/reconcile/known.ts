import { resolveWorkflowId, WORKFLOW_TYPES } from '../../contract/names.js';
import { type ActionsSoFar, KEPT_ACTIONS } from '../../contract/payment-actions.js';
import type { FlowFacts } from '../../contract/reconcile.js';
import type { Accounted, Match, Row } from './match.js';

/** Those of the transactions that an open flow knows of, by its workflow id. */
export type KnownToOpen = ReadonlyMap<string, ReadonlySet<string>>;

/** Those that no claim accounts for and that a flow knows of all the same. */
export function knownRows({ rows, flowsOf }: Match, knownToOpen: KnownToOpen): Set<Row> {
  return new Set(rows.filter((row) => isKnown(row, flowsOf(row), knownToOpen)));
}

/** A flow knows of the transaction, and not as one that has failed. */
function isKnown(row: Row, flows: readonly Accounted[], knownToOpen: KnownToOpen): boolean {
  return flows.some(({ flow, account }) => {
    const id = row.transactionId;
    if (id !== undefined && account.failed.has(id)) return false;
    if (flow.type === WORKFLOW_TYPES.paymentActions && mayHaveForgotten(flow)) return true;
    if (flow.state === 'open') {
      // What an open flow of commands has done is all in its claims. Another one can't be asked without an id.
      if (id === undefined) return flow.type !== WORKFLOW_TYPES.paymentActions;
      if (account.named.has(id) || flow.workflowId === resolveWorkflowId(id)) return true;
      if (flow.type === WORKFLOW_TYPES.paymentActions && hasNothingUnderWay(flow)) return false;
      return knownToOpen.get(flow.workflowId)?.has(id) === true;
    }
    return id !== undefined && account.named.has(id);
  });
}

/**
 * All that it was asked for is answered, or waits for another person: what such a flow of commands has only read was moved
 * by somebody else.
 */
function hasNothingUnderWay({ status, waitingFor }: FlowFacts): boolean {
  return status === 'idle' || waitingFor === 'approval';
}

/** A result keeps the latest commands only; a run that is open has all that came to itself. */
function mayHaveForgotten({ state, result, openResult }: FlowFacts): boolean {
  const { actions = [], mayLackEarlier } = (result ?? openResult ?? {}) as Partial<ActionsSoFar>;
  return state === 'open' ? mayLackEarlier === true : actions.length >= KEPT_ACTIONS;
}
