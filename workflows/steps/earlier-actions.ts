import { ActivityFailure } from '@temporalio/workflow';
import { canonical } from '../../src/contract/canonical.js';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import { idempotencyKey } from '../../src/contract/idempotency-key.js';
import { referenceOfWorkflowId } from '../../src/contract/names.js';
import type { ActionRecord, MadeTransactions } from '../../src/contract/payment-actions.js';
import type { TransactionRecord } from '../../src/contract/transaction.js';
import { findOurs } from '../../src/domain/ownership.js';
import type { PaymentFacts } from '../../src/domain/payment-sums.js';
import { hasFailed } from '../../src/domain/transitions.js';
import { describeReuse } from '../flow/refuse.js';
import type { FlowState, MoneyCommand, Refusal } from '../flow/state.js';
import { engineLookup, read } from '../policies.js';
import { decodedOrRetry } from './decoded-or-retry.js';

/** The flow that made the payment, as far as it is known. */
export interface Creator {
  /** Undefined for a payment made elsewhere, and before the service has been asked. */
  workflowId: string | undefined;
  actions: ActionRecord[];
  /** What its result vouches for; absent for a payment made elsewhere. */
  made?: MadeTransactions | undefined;
  /** A run of this flow has ended without leaving what it did. */
  incomplete?: boolean;
  /** What it did on command is not all known. */
  lost?: boolean;
  /** Transactions of which a person has said that no command asked for now has made them. */
  disowned: string[];
}

/** All of a payment as one look at the service, and what is remembered of it, show it. */
export type ReadFacts = PaymentFacts & { holdfastWorkflowId?: string };

type Answer = NonNullable<MoneyCommand['answer']>;

/** While it is open, also again after a reset, the flow that made the payment alone may act on it. */
export async function creatorsWord(creator: Creator, workflowId: string | undefined): Promise<Answer | undefined> {
  if (workflowId === undefined) return undefined;
  const { open, actions, made, lost = false } = decodedOrRetry(await engineLookup.findCreator(workflowId));
  if (open) return { refusal: `the flow that made the payment is still open; send the command to "${workflowId}"` };
  creator.workflowId = workflowId;
  creator.actions = actions;
  creator.made = made;
  creator.lost = lost;
  return undefined;
}

/** A repeated command, to this run, an earlier one or the creating flow, is answered with what the first one did. */
export function alreadyDone(
  flow: FlowState,
  creator: Creator,
  { commandId, name, request }: MoneyCommand,
): Answer | undefined {
  const earlier = actionsOf(flow, creator).find((action) => action.commandId === commandId);
  if (earlier === undefined) return undefined;
  if (earlier.action === name && earlier.request === canonical(request)) {
    const { refusal, outcome } = earlier;
    return refusal === undefined ? { outcome } : { refusal };
  }
  return {
    refusal: describeReuse(commandId, earlier.action),
    type: FAILURE_TYPES.referenceConflict,
  };
}

/**
 * What an earlier run did for this very command, and its reset or termination has made us forget. It is followed
 * instead of sent: the service may have forgotten the key, and the sums already count it.
 */
export function madeBefore(
  flow: FlowState,
  { name, request }: MoneyCommand,
  sequence: string,
  facts: ReadFacts,
  actions: readonly ActionRecord[],
): TransactionRecord | undefined {
  const key = idempotencyKey(flow.workflowId, name, sequence);
  const reconciliationId = name === 'void' ? undefined : reconciliationIdOf(name, request, sequence);
  const known = new Set(actions.map(({ outcome }) => outcome.transactionId));
  const unknown = facts[`${name}s`].filter(({ transactionId }) => !known.has(transactionId));
  const named = unknown.filter(({ holdfastKey, reconciliationId: theirs }) =>
    holdfastKey === undefined ? theirs !== undefined && theirs === reconciliationId : holdfastKey === key,
  );
  return findOurs(named, { key, reconciliationId }).found;
}

/**
 * What the flow that made the payment may have done for this very command, and no record of it says. Its key is another one,
 * so that the service would do the same once more.
 * @param amount minor units that the command would move
 */
export function perhapsDone(
  { workflowId, lost = false, disowned }: Creator,
  { name }: MoneyCommand,
  amount: number,
  facts: ReadFacts,
  actions: readonly ActionRecord[],
): TransactionRecord[] {
  if (workflowId === undefined) return [];
  const ids = new Set([...disowned, ...actions.flatMap(({ outcome }) => outcome.transactionId ?? [])]);
  const keys = new Set(actions.map(({ key }) => key));
  const itsReference = referenceOfWorkflowId(workflowId);
  return facts[`${name}s`].filter((record) => {
    const { transactionId, holdfastKey, reconciliationId, amount: moved = facts.amount } = record;
    if (ids.has(transactionId) || (holdfastKey !== undefined && keys.has(holdfastKey))) return false;
    if (hasFailed(record) || (name !== 'void' && moved !== amount)) return false;
    if (holdfastKey !== undefined) return holdfastKey.startsWith(`${workflowId}:`);
    // What says nothing of itself may be anybody's: it counts where that flow is not there to say what it did.
    return reconciliationId === undefined ? lost : reconciliationId === itsReference;
  });
}

export function actionsOf(flow: FlowState, { actions }: Creator): ActionRecord[] {
  return [...actions, ...flow.actions];
}

export function ownIds(actions: readonly ActionRecord[], name: MoneyCommand['name']): string[] {
  return actions.filter(({ action }) => action === name).flatMap(({ outcome }) => outcome.transactionId ?? []);
}

/** What stood there before the first POST of this intent, and is not by it: a run made by a reset may see its own. */
export function othersOf(
  records: readonly TransactionRecord[],
  own: readonly string[],
  key: string,
  reconciliationId: string,
): string[] {
  return records
    .filter((record) => record.holdfastKey !== key && record.reconciliationId !== reconciliationId)
    .map(({ transactionId }) => transactionId)
    .filter((id) => !own.includes(id));
}

export function reconciliationIdOf(name: string, request: MoneyCommand['request'], sequence: string): string {
  return ('reference' in request ? request.reference : undefined) ?? `${name}-${sequence}`;
}

/**
 * Asked before anything is believed of the flow that this run was opened with. Where somebody who opened it by hand has named
 * the flow of another payment, a command would be answered with what was done to that one, or refused for as long as that is open.
 */
export async function madeByAnother(
  flow: FlowState,
  creator: Creator,
  wouldAnswer: boolean,
): Promise<Refusal | undefined> {
  const { businessUnit, madeUnder, paymentId = '' } = flow;
  const { workflowId, made } = creator;
  // Its own result names the payment.
  if (workflowId === undefined || made?.paymentId === paymentId) return undefined;
  if (made === undefined && !wouldAnswer) return undefined;
  try {
    const { holdfastWorkflowId } = decodedOrRetry(await read.getPayment({ businessUnit, madeUnder, paymentId }));
    return ofAnother(flow, creator, holdfastWorkflowId);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return undefined;
  }
}

/** @param maker as the payment itself names it; a service need not say */
export function ofAnother({ paymentId }: FlowState, creator: Creator, maker: string | undefined): Refusal | undefined {
  const { workflowId, made } = creator;
  if (workflowId === undefined) return undefined;
  const again = 'nothing was sent; open the commands to this payment with its own reference';
  if (maker !== undefined && maker !== workflowId)
    return { refusal: `payment ${paymentId} was made by "${maker}", not by "${workflowId}": ${again}` };
  if (maker === undefined && made !== undefined && made.paymentId !== paymentId)
    return { refusal: `"${workflowId}" has made payment ${made.paymentId}, not ${paymentId}: ${again}` };
  return undefined;
}
