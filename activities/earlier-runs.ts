import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { EarlierResult } from '../src/contract/activities.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import type { ActionRecord, PaymentActionsResult, PaymentCreator } from '../src/contract/payment-actions.js';
import { IN_CLEAR } from '../src/contract/sealed.js';
import type { PaymentRecord } from '../src/contract/transaction.js';
import { isUndecodable } from '../src/contract/undecodable.js';
import { madeByFlow } from '../src/domain/made-by-flow.js';
import type { ActivityDeps } from './deps.js';

/**
 * Run id of another run under this flow's workflow id (money rule 1).
 * @throws ApplicationFailure `InvalidInput` for a start in clear where such are refused, but for a run that a reset has
 * made: the one before it may have moved money, and "nothing was sent" would be false
 */
export async function findEarlierRun(deps: ActivityDeps, start?: { inClear: boolean }): Promise<string | undefined> {
  if (start?.inClear === true && deps.refusesClear === true && !(await isReset(deps))) {
    throw ApplicationFailure.nonRetryable(`Nothing was sent: the input ${IN_CLEAR}`, FAILURE_TYPES.invalidInput);
  }
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return undefined;
  return await deps.engine.earlierRun(workflowExecution.workflowId, workflowExecution.runId);
}

async function isReset({ engine }: ActivityDeps): Promise<boolean> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return false;
  return await engine.madeByReset(workflowExecution.workflowId, workflowExecution.runId);
}

/** The payment that an earlier run of this flow created, read from that run's history. */
export async function findEarlierPayment(deps: ActivityDeps, key?: string): Promise<PaymentRecord | undefined> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return undefined;
  return await deps.engine.earlierPayment(workflowExecution.workflowId, workflowExecution.runId, key);
}

/**
 * What the run before a reset has told: the run that the reset has made, and those in which it continues, must tell the same,
 * whatever was done since. Without a reset no run before has told anything.
 * @throws Error (retried) until a worker that has the key for it takes over
 */
export async function findEarlierResult({ engine }: ActivityDeps): Promise<EarlierResult | undefined> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return undefined;
  const { workflowId, runId } = workflowExecution;
  const { result } = await engine.latestResult(workflowId, runId);
  requireReadable(result, 'What the run before a reset has told');
  return typeof result === 'object' && result !== null ? (result as EarlierResult) : undefined;
}

/**
 * What was done to the payment in an earlier run: a repeated command is answered from there.
 * @throws Error (retried) until a worker that has the key for it takes over
 */
export async function findEarlierActions({ engine }: ActivityDeps): Promise<PaymentActionsResult | undefined> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return undefined;
  const { workflowId, runId } = workflowExecution;
  const { result, ofLatestRun } = await engine.latestResult(workflowId, runId);
  requireReadable(result, 'The result');
  const earlier = result as PaymentActionsResult | undefined;
  if (ofLatestRun) return earlier;
  return { status: 'idle', paymentId: '', actions: [], ...earlier, incomplete: true };
}

/** The flow that made the payment, and what it did on command. Throws like {@link findEarlierActions}. */
export async function findCreator({ engine }: ActivityDeps, workflowId: string): Promise<PaymentCreator> {
  if (await engine.isOpen(workflowId)) return { open: true, actions: [] };
  const { result, workflowType, ofLatestRun } = await engine.latestResult(workflowId);
  requireReadable(result, 'The result');
  const made = madeByFlow(workflowType, result);
  const actions = (result as { actions?: ActionRecord[] } | undefined)?.actions ?? [];
  return { open: false, actions, ...(made !== undefined && { made }), ...(!ofLatestRun && { lost: true }) };
}

/** True of a task of this run, or of the one named, and as well when nothing is known of it. */
export async function taskWasLost({ engine }: ActivityDeps, runId?: string): Promise<boolean> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return true;
  const { workflowId } = workflowExecution;
  return await engine.taskWasLost(workflowId, runId === undefined ? workflowExecution.runId : runId);
}

/** A worker that lacks the key leaves the answer to one that has it. */
function requireReadable(result: unknown, what: string): void {
  if (!isUndecodable(result)) return;
  throw new Error(`${what} can't be decoded by this worker (${result.holdfastUndecodable}); give it the missing key`);
}
