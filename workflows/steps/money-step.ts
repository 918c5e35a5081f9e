import { ApplicationFailure } from '@temporalio/workflow';
import { messageOf } from '../../src/contract/message-of.js';
import type { CreateTransactionCall } from '../../src/contract/activity-calls.js';
import { idempotencyKey, type KeyedOperation } from '../../src/contract/idempotency.js';
import { WIRE_DETAILS } from '../../src/contract/names.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import { findOurs, isForeign, isNameless } from '../../src/domain/ownership.js';
import { CLOCKS_DIFFER_MS } from '../../src/domain/sent-before.js';
import { kept, resumable } from '../flow/continue.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { notExecuted } from '../flow/outcomes.js';
import { stopIfCancelled, taskWasLost } from '../flow/earlier-runs.js';
import { decidesAfterReset } from '../kit/start-guard.js';
import { noteRestore } from '../flow/restored.js';
import type { FlowState, StepKind } from '../flow/state.js';
import { ignore } from '../kit/run.js';
import { enter } from '../flow/explain.js';
import { publish } from '../kit/visibility.js';
import type { PostActivities } from '../policies.js';
import { attempt, type Attempted, type Found, type Step } from './attempt.js';
import { noteListAnswer, noteListRefusal } from './failures.js';
import { answerToRepost, markUnanswered } from './open-tries.js';
import { handleFailedRead, credentialsWork } from './operator.js';
import { readUntilKnown, type Resolved } from './prove.js';
import { READS, readTransaction } from './read.js';
import { settle, type Voids } from './settle.js';

/** One money operation: what it is, until when it may be sent, and how it is sent. */
export interface MoneyOperation {
  paymentId: string;
  operation: KeyedOperation;
  /** Counts from 1 within the flow, one more for each further intent; or made of a command's id. */
  sequence: number | string;
  /** undefined for a void, which has none on the wire. */
  reconciliationId?: string;
  /** Transactions of this kind that are known to belong to other intents. */
  knownTransactionIds?: string[];
  /** Transactions of this kind that were listed before the first POST. */
  notedTransactionIds?: string[];
  postUntil: number;
  /** Money rule 7: only for the first tries in the start path. */
  tryLocally?: boolean;
  lostTaskMayHaveSent?: boolean;
  unwanted?: () => boolean;
  whyUnwanted?: () => string | undefined;
  /** Others act on the payment as well, and nothing was listed before the first POST. */
  besideOthers?: true;
  post(activities: PostActivities, call: CreateTransactionCall): Promise<TransactionRecord>;
}

/** A money operation can always be found by reads, since transactions are listed under their payment. */
export type MoneyStep = Step<TransactionRecord> &
  Required<Pick<Step<TransactionRecord>, 'find'>> & {
    /** Set if a command may void it while it is pending. */
    voids?: Voids;
    /** An operator finds it at the service by this id. */
    reconciliationId?: string;
  };

export function moneyStep(flow: FlowState, operation: MoneyOperation): MoneyStep {
  const { paymentId, reconciliationId, knownTransactionIds, notedTransactionIds } = operation;
  const key = idempotencyKey(flow.workflowId, operation.operation, operation.sequence);
  flow.otherTransactionIds = [...(knownTransactionIds ?? []), ...(notedTransactionIds ?? [])];
  return {
    operation: operation.operation,
    sequence: operation.sequence,
    movesMoney: true,
    postUntil: operation.postUntil,
    tryLocally: operation.tryLocally ?? false,
    lostTaskMayHaveSent: operation.lostTaskMayHaveSent ?? false,
    ...(operation.unwanted !== undefined && { unwanted: operation.unwanted }),
    ...(operation.whyUnwanted !== undefined && { whyUnwanted: operation.whyUnwanted }),
    ...(operation.besideOthers === true && { mayBeOfOthers: isNameless }),
    post: (activities, call) =>
      operation.post(activities, {
        ...call,
        paymentId,
        currency: flow.currency,
        ...(reconciliationId !== undefined && { reconciliationId }),
        ...(knownTransactionIds !== undefined && { knownTransactionIds }),
        ...(notedTransactionIds !== undefined && { notedTransactionIds }),
        additionalDetails: { [WIRE_DETAILS.key]: key },
      }),
    find: () => findTransaction(flow, operation, key),
    ...(reconciliationId !== undefined && { reconciliationId }),
  };
}

interface Executing {
  /** Epoch ms. */
  postUntil: number;
  sent?: Attempted<TransactionRecord>;
  /** Decided once: what it follows from is looked into afterwards, and a later run must come to the same wait. */
  unsent?: { proof?: string };
}

/**
 * Sends the operation, and follows it until its outcome is known.
 * @throws the believed refusal of the service: nothing was executed
 */
export async function execute(flow: FlowState, step: MoneyStep, isFirst = false): Promise<FinalStepOutcome> {
  const begin = (): Executing => ({ postUntil: step.postUntil });
  return await resumable(flow, 'execute', begin, async (notes) => {
    // Use the `postUntil` saved at the start: a void of the pending operation changes the state it is computed from,
    // and the next run must not send for longer.
    const asBegun = { ...step, postUntil: notes.postUntil };
    const sent = await kept(notes, 'sent', () => attempt(flow, asBegun));
    noteRestore(flow, sent.answer ?? {});
    if (sent.answer === undefined) {
      const { braked, lastFailure } = sent;
      const { proof } = await kept(notes, 'unsent', () => unsentBy(flow, braked, isFirst));
      if (proof === undefined) return await resolveUnknown(flow, lastFailure, step);
      return notExecuted(flow, { knownBy: 'reply', reason: lastFailure, proof, braked });
    }
    const repost = async () => answerToRepost(await attempt(flow, { ...asBegun, once: true }));
    const first = markUnanswered({ record: sent.answer, knownBy: sent.knownBy });
    return await settle(flow, first, repost, step.voids);
  });
}

/**
 * Executes the first money operation of a flow. If the flow was cancelled but something may have been sent, it only
 * reads.
 * @param readOnlyReason why nothing may be sent
 * @throws CancelledFailure if nothing was sent before the cancel
 */
export async function executeFirst(
  flow: FlowState,
  step: MoneyStep,
  readOnlyReason?: string,
): Promise<FinalStepOutcome> {
  if (readOnlyReason !== undefined) return await resolveUnknown(flow, readOnlyReason, step);
  const begin = (): { readOnly?: boolean } => ({});
  return await resumable(flow, 'first', begin, async (notes) => {
    const readOnly = await kept(notes, 'readOnly', async () => {
      await stopIfCancelled(flow);
      return flow.isCancelled();
    });
    return readOnly ? await resolveUnknown(flow, CANCELLED, step) : await execute(flow, step, true);
  });
}

/** Why it is proven that nothing was sent, if it is. */
async function unsentBy(flow: FlowState, braked: true | undefined, isFirst: boolean): Promise<{ proof?: string }> {
  if (braked === true && flow.hintedTransactionId === undefined) return { proof: 'nothing of it was ever sent' };
  if (isFirst && (await neverSent(flow))) return { proof: 'no money operation was ever sent' };
  return {};
}

/**
 * True if no POST can have been sent: the window had closed before the first one, for instance after a review of hours.
 * That needs no read as proof, unless a task was lost, a reset made this run, or an event names a transaction.
 */
async function neverSent(flow: FlowState): Promise<boolean> {
  if (flow.moneyPostMayHaveLeft || flow.hintedTransactionId !== undefined) return false;
  return !(await taskWasLost(flow)) && !decidesAfterReset();
}

export const CANCELLED = 'the flow was cancelled; what an earlier task or run of it may have sent was looked for';

/** Nothing may be sent any more: only reads can show the outcome. */
export async function resolveUnknown(flow: FlowState, lastFailure: string, step: MoneyStep): Promise<FinalStepOutcome> {
  const begin = (): { resolved?: Resolved } => ({});
  return await resumable(flow, 'resolve', begin, async (notes) => {
    const resolved = await kept(notes, 'resolved', () => readUntilKnown(flow, lastFailure, step));
    return 'ended' in resolved ? resolved.ended : await settle(flow, markUnanswered(resolved), undefined, step.voids);
  });
}

/** For a command: a refusal is its answer, and the flow doesn't fail. */
export async function tryExecute(
  flow: FlowState,
  step: MoneyStep,
): Promise<FinalStepOutcome | { refused: ApplicationFailure }> {
  try {
    return await execute(flow, step);
  } catch (error) {
    if (error instanceof ApplicationFailure) return { refused: error };
    throw error;
  }
}

/** True if it was there before anything of the step can have been sent, and echoes nothing that says whose it is. */
function isOlderThanStep({ stepStartedAt, mayBeLost }: FlowState, record: TransactionRecord): boolean {
  const { details: { createdAt = '' } = {} } = record;
  const isOlder = isNameless(record) && Date.parse(createdAt) < stepStartedAt - CLOCKS_DIFFER_MS;
  // The run before a reset, or one that a restore has lost, may have made it.
  return isOlder && mayBeLost !== true && !decidesAfterReset();
}

async function findTransaction(
  flow: FlowState,
  { paymentId, reconciliationId, knownTransactionIds, besideOthers }: MoneyOperation,
  key: string,
): Promise<Found<TransactionRecord>> {
  flow.inLocalTry = false;
  if (flow.hintedTransactionId !== undefined) {
    const hinted = await readTransaction(flow, flow.hintedTransactionId);
    // Others may capture, void and refund the same payment: a transaction that an event names is ours unless its own
    // key or reconciliation id says otherwise.
    const foreign =
      hinted !== undefined && knownTransactionIds !== undefined && isForeign(hinted, { key, reconciliationId });
    if (hinted !== undefined && !foreign) return { found: hinted };
    if (foreign) {
      flow.hintedTransactionId = undefined;
      ignore(flow, 'otherTransaction');
    }
  }
  let records: TransactionRecord[];
  try {
    const { businessUnit, madeUnder, currency, kind } = flow;
    records = await READS[kind].list({ businessUnit, madeUnder, paymentId, currency });
  } catch (error) {
    handleFailedRead(flow, error);
    const refusal = noteListRefusal(flow, flow.kind, error);
    return {
      unreadable: messageOf(error),
      ...(refusal !== undefined && { refusal }),
    };
  }
  noteListAnswer(flow, flow.kind);
  credentialsWork(flow);
  const candidates = decodedOrRetry(records)
    .filter(
      ({ transactionId, holdfastKey }) => holdfastKey === key || !flow.otherTransactionIds.includes(transactionId),
    )
    .filter((record) => besideOthers !== true || !isOlderThanStep(flow, record));
  const search = findOurs(candidates, { key, reconciliationId });
  if (search.found !== undefined) return { found: search.found };
  const perhaps = search.ambiguous ?? flow.ambiguousIds;
  if (perhaps.length === 0) return { found: undefined };
  const why = `${flow.kind}s on payment ${paymentId} that may or may not be ours: ${perhaps.join(', ')}`;
  if (flow.needsOperator !== why) {
    flow.askedUntilRead = why;
    enter(flow, { needsOperator: why });
    publish(flow);
  }
  return { unreadable: why, ambiguous: true };
}

/**
 * Begins the flow's next operation. It forgets the previous operation's transaction, its attempts, and that a POST of
 * it may have been sent, since the new operation has its own key.
 * @param amount minor units; for a void the authorized amount
 */
export function beginStep(flow: FlowState, kind: StepKind, amount: number = flow.amount): void {
  flow.kind = kind;
  flow.stepAmount = amount;
  flow.stepStartedAt = Date.now();
  flow.transactionId = undefined;
  flow.otherTransactionIds = [];
  flow.hintedTransactionId = undefined;
  flow.ambiguousIds = [];
  flow.notLooked = false;
  if (flow.approved !== undefined) flow.approved = undefined;
  flow.moneyPostMayHaveLeft = false;
  flow.details = undefined;
  flow.redirectUrl = undefined;
  flow.redirectUntil = undefined;
  flow.attempts = 0;
  delete flow.brakedBy;
  flow.requestIds.length = 0;
  flow.settleable = false;
  flow.settlesAmount = false;
}
