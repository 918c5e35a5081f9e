import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { EarlierResult, SiblingThatSent } from '../src/contract/activities.js';
import type { DeliverEventCall } from '../src/contract/activity-calls.js';
import type { EnginePort } from '../src/contract/engine-port.js';
import { FAILURE_TYPES, paymentActionsWorkflowId, WIRE_DETAILS } from '../src/contract/names.js';
import type { TransactionEvent } from '../src/contract/messages.js';
import type { EventDelivery } from '../src/contract/parked-event.js';
import { IN_CLEAR, isUndecodable } from '../src/contract/payload-marks.js';
import type {
  ActionRecord,
  ActionsBefore,
  PaymentActionsResult,
  PaymentCreator,
} from '../src/contract/payment-actions.js';
import type { PaymentRecord, SentBefore } from '../src/contract/records.js';
import { classifyLateEvent, ownerFrom, routeEvent, type RoutePorts } from '../src/domain/event-routes.js';
import { madeByFlow } from '../src/domain/ownership.js';
import { markTold } from '../src/domain/told-otherwise.js';
import { ProviderError } from '../src/provider/index.js';
import { mayBeLost, paymentOfStatement } from './after-restore.js';
import { type ActivityDeps, bytesOf, MOST_BYTES_TOGETHER, providerFor, readOptions } from './read-call.js';
import { refuseIfTaken } from './reference-book.js';

/**
 * Returns the run id of another run under this flow's workflow id (money rule 1).
 * @throws ApplicationFailure `InvalidInput` for an unencrypted start where those are refused, unless there is another
 *   run, or a reset has made this one: the run before may have moved money, so "nothing was sent" would be false
 */
export async function findEarlierRun(deps: ActivityDeps, start?: { inClear: boolean }): Promise<string | undefined> {
  const { workflowExecution } = activityInfo();
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  const earlier = workflowExecution && (await deps.engine.earlierRun(workflowId, runId));
  if (earlier === undefined && start?.inClear === true && deps.refusesClear === true && !(await isReset(deps)))
    throw ApplicationFailure.nonRetryable(`Nothing was sent: the input ${IN_CLEAR}`, FAILURE_TYPES.invalidInput);
  return earlier;
}

async function isReset({ engine }: ActivityDeps): Promise<boolean> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return false;
  return await engine.madeByReset(workflowExecution.workflowId, workflowExecution.runId);
}

/**
 * Returns the payment that an earlier run of this flow created, read from that run's history, or from the statement of
 * the time that a restore has lost.
 * @param key of a later payment of the flow; undefined for the first
 * @throws ApplicationFailure `ReferenceConflict` if there is none, and another flow has used the reference
 */
export async function findEarlierPayment(deps: ActivityDeps, key?: string): Promise<PaymentRecord | undefined> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return undefined;
  const earlier = await deps.engine.earlierPayment(workflowExecution.workflowId, workflowExecution.runId, key);
  const made = earlier ?? paymentOfStatement(deps, key);
  if (made !== undefined && !('ambiguous' in made)) return made;
  if (key === undefined) await refuseIfTaken(deps);
  return undefined;
}

/** Returns when the runs before a reset first sent each call of their holds. */
export async function findSentBefore({ engine }: ActivityDeps): Promise<SentBefore> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return { firstSent: {}, commands: {}, cancelled: false, isKept: false };
  return await engine.sentBefore(workflowExecution.workflowId, workflowExecution.runId);
}

/** Returns the run, made by another reset of this flow, that has sent money. */
export async function findSiblingThatSent({ engine }: ActivityDeps): Promise<SiblingThatSent> {
  const { workflowId, runId: asked } = activityInfo().workflowExecution ?? {};
  if (workflowId === undefined || asked === undefined) throw new Error('no workflow asks');
  const sibling = await engine.siblingThatSent(workflowId, asked);
  return { asked, ...(sibling !== undefined && { sibling }) };
}

/**
 * Returns the result of the run before a reset. The reset run, and the runs it continues as, must return the same
 * result whatever was done since. Without a reset there is no earlier result.
 * @throws Error (retried) until a worker with the result's codec key executes it
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
 * Returns what an earlier run did to the payment: repeated commands get their answers from it.
 * @throws Error (retried) until a worker with the result's codec key executes it
 */
export async function findActionsBefore(deps: ActivityDeps, creator?: string): Promise<ActionsBefore> {
  const { workflowExecution } = activityInfo();
  const result = workflowExecution && (await earlierResult(deps, workflowExecution));
  const before: ActionsBefore = result === undefined ? {} : { result };
  if (creator === undefined) return before;
  // Alone it is asked for again, and waits alone for whatever it lacks.
  const found = await findCreator(deps, creator).catch(() => undefined);
  const both = { ...before, ...(found !== undefined && { creator: found }) };
  return bytesOf(both) > MOST_BYTES_TOGETHER ? before : both;
}

async function earlierResult(
  { engine }: ActivityDeps,
  { workflowId, runId }: { workflowId: string; runId: string },
): Promise<PaymentActionsResult | undefined> {
  const { result, ofLatestRun, businessUnit } = await engine.latestResult(workflowId, runId);
  requireReadable(result, 'The result');
  const earlier = result as PaymentActionsResult | undefined;
  const { actions = [] } = earlier ?? {};
  for (const event of await newsOf(engine, workflowId.slice(paymentActionsWorkflowId('').length), actions))
    // Another unit's key has not signed for this one.
    if (businessUnit === undefined || event.businessUnit === businessUnit) markTold(actions, event);
  if (ofLatestRun) return earlier;
  return { status: 'idle', paymentId: '', actions: [], ...earlier, incomplete: true };
}

/** Events that may tell of these commands: what came while no run was open was parked. */
async function newsOf(
  engine: EnginePort,
  paymentId: string,
  actions: readonly ActionRecord[],
): Promise<TransactionEvent[]> {
  if (!actions.some(({ outcome }) => outcome.transactionId !== undefined && outcome.status !== 'succeeded')) return [];
  return (await engine.parkedEvents(paymentId)).filter((event) => event.paymentId === paymentId);
}

/** Returns what the flow that created the payment did on command. Throws like {@link findActionsBefore}. */
export async function findCreator(deps: ActivityDeps, workflowId: string): Promise<PaymentCreator> {
  const { engine } = deps;
  const lookedAt = deps.now();
  if (await engine.isOpen(workflowId)) {
    const handsOver = await engine.handsOver(workflowId);
    return { lookedAt, open: true, actions: [], ...(handsOver && { handsOver }) };
  }
  const { result, workflowType, ofLatestRun } = await engine.latestResult(workflowId);
  requireReadable(result, 'The result');
  const made = madeByFlow(workflowType, result);
  const { actions = [], paymentId } = (result ?? {}) as { actions?: ActionRecord[]; paymentId?: string };
  const told = paymentId === undefined ? [] : await newsOf(engine, paymentId, actions);
  const contradicting = told.filter((event) => {
    return event.trusted && classifyLateEvent(event, { result: { actions } }) === 'contradicts';
  });
  return {
    lookedAt,
    open: false,
    actions,
    ...(contradicting.length > 0 && { told: contradicting }),
    ...(made !== undefined && { made }),
    ...(!ofLatestRun && { lost: true }),
  };
}

/**
 * True if a workflow task of this run, or of run `runId`, was lost, and also if that is unknown: a restore may have lost
 * every task of it.
 */
export async function taskWasLost(
  deps: ActivityDeps,
  runId?: string,
  through?: number,
  heldAt = Number.NEGATIVE_INFINITY,
): Promise<boolean> {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) return true;
  const isSeenSince = deps.restored !== undefined && heldAt >= deps.restored.lost.until;
  if (!isSeenSince && ((await mayBeLost(deps)) || paymentOfStatement(deps) !== undefined)) return true;
  const { workflowId } = workflowExecution;
  return await deps.engine.taskWasLost(workflowId, runId === undefined ? workflowExecution.runId : runId, through);
}

/** Fails (retried) without the codec key, so that a worker that has it answers. */
function requireReadable(result: unknown, what: string): void {
  if (!isUndecodable(result)) return;
  throw new Error(`${what} can't be decoded by this worker (${result.holdfastUndecodable}); give it the missing key`);
}

/**
 * Finds the flow of an event as the webhook handler did on arrival: of a parked event, and of one that the flow which
 * received it doesn't know. The signal's request id is the event's hash, so an event that was delivered after all is
 * not delivered twice.
 * Rejects when the engine does not answer. Returns `unclaimed` when the service does not, to be retried later.
 */
export async function deliverEvent(
  deps: ActivityDeps,
  { event, except, isListed = except !== undefined }: DeliverEventCall,
): Promise<EventDelivery> {
  const { engine } = deps;
  const ports: RoutePorts = {
    deliver: (workflowId, sent) => engine.deliver(workflowId, sent),
    endedFlow: (workflowId) => engine.endedFlow(workflowId),
    flowOfPayment: (paymentId) => engine.flowOfPayment(paymentId),
    async ownerOfPayment({ businessUnit, paymentId }) {
      try {
        const { data } = await providerFor(deps, businessUnit).getPayment(paymentId, readOptions());
        return ownerFrom(data.additionalDetails?.[WIRE_DETAILS.workflowId]);
      } catch (error) {
        // As in the webhook handler, an unsigned event of a payment that the service does not show (yet) is forged. One that was
        // parked for this was signed, whatever its commas.
        if (
          except !== undefined &&
          !event.trusted &&
          error instanceof ProviderError &&
          error.failureType === FAILURE_TYPES.notFound
        )
          return 'foreign';
        throw error;
      }
    },
  };
  return await routeEvent(event, ports, { isListed, ...(except !== undefined && { except }) });
}
