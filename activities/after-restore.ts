import { activityInfo } from '@temporalio/activity';
import type { CreatePaymentCall, KeyedCall } from '../src/contract/activity-calls.js';
import { idempotencyKey } from '../src/contract/idempotency.js';
import { referenceOfWorkflowId } from '../src/contract/names.js';
import type { PaymentRecord } from '../src/contract/records.js';
import { doubtUntil, lostKeysUntil } from '../src/domain/lost-time.js';
import { KEY_WINDOW_MS } from '../src/domain/schedules.js';
import type { ActivityDeps } from './read-call.js';

/**
 * Why what this run sends may have been sent before by a run that it knows nothing of; undefined if that can't be. A
 * reset keeps the original run id. A restore from a backup leaves no trace in the engine: it is told by configuration.
 * Rejects when the engine does not answer.
 */
export async function whySentBefore(deps: ActivityDeps, call: KeyedCall): Promise<'reset' | 'restore' | undefined> {
  if (activityInfo().workflowExecution?.runId !== call.originalRunId) return 'reset';
  return isNamed(deps, call) || (await mayBeLost(deps)) ? 'restore' : undefined;
}

/**
 * True if the flow may have done in the lost time what its history does not tell: it started before the service had
 * forgotten the last key of that time. Flows that start later send under keys that nobody remembers.
 * Rejects when the engine does not answer.
 */
export async function mayBeLost(deps: ActivityDeps): Promise<boolean> {
  const { workflowExecution } = activityInfo();
  if (deps.restored === undefined || workflowExecution === undefined) return false;
  const until = doubtUntil(deps.restored.lost);
  if (deps.now() < until) return true;
  const startedAt = await deps.engine.startedAt(workflowExecution.workflowId, workflowExecution.runId);
  return startedAt === undefined || startedAt < until;
}

/** What a read says of that. */
export async function markOfRestore(deps: ActivityDeps): Promise<Pick<PaymentRecord, 'afterRestore' | 'doubtUntil'>> {
  if (deps.restored === undefined || !(await mayBeLost(deps))) return {};
  return { afterRestore: true, doubtUntil: doubtUntil(deps.restored.lost) };
}

/** True if the service's statement names the payment of the call, or one of this flow's reference. */
function isNamed(deps: ActivityDeps, call: KeyedCall): boolean {
  if ('paymentId' in call) return deps.restored?.statement?.paymentIds.has(String(call.paymentId)) === true;
  return isFlowNamed(deps, activityInfo().workflowExecution?.workflowId ?? '');
}

/** True if the service's statement names a payment of that flow: it has run, though the engine may have forgotten it. */
export function isFlowNamed({ restored }: ActivityDeps, workflowId: string): boolean {
  return restored?.statement?.entries.has(referenceOfWorkflowId(workflowId) ?? '') === true;
}

/**
 * The payment of this flow that the service's statement names: it was made in the lost time. Several are ambiguous,
 * and no guess is made. Only for the first payment of a flow, whose reference names no other.
 * @param key of the payment; undefined for the first
 */
export function paymentOfStatement(
  { restored }: ActivityDeps,
  key?: string,
): PaymentRecord | { ambiguous: string[] } | undefined {
  if (key !== undefined && !isOfFirstPayment(key)) return undefined;
  const { workflowId = '' } = activityInfo().workflowExecution ?? {};
  const entries = restored?.statement?.entries.get(referenceOfWorkflowId(workflowId) ?? '') ?? [];
  const [first] = entries;
  if (first === undefined) return undefined;
  const ids = [...new Set(entries.map(({ paymentId }) => paymentId))];
  if (ids.length > 1) return { ambiguous: ids };
  const { paymentId, amount, currency } = first;
  return { paymentId, amount, currency, status: 'unknown' };
}

/**
 * Until when a payment may be created (epoch ms): under its key it may have been created in the lost time already, and
 * a key that the service has forgotten would make a second one. A flow that begins later than that has no such excuse
 * to wait: what it sends is new as far as anybody can tell. So is the payment of a next hold, but only where the hold
 * before was seen held since: the window of such a key begins when this run first needs it, and not when it was first
 * used.
 * Rejects when the engine does not answer.
 */
export async function createUntil(
  deps: ActivityDeps,
  { key, postUntil, heldAt = Number.NEGATIVE_INFINITY }: CreatePaymentCall,
): Promise<number> {
  const { restored } = deps;
  if (restored === undefined) return postUntil;
  const last = lostKeysUntil(restored.lost);
  const isNew = isOfFirstPayment(key)
    ? postUntil - KEY_WINDOW_MS >= last
    : heldAt >= restored.lost.until || !(await mayBeLost(deps));
  return isNew ? postUntil : Math.min(postUntil, last);
}

function isOfFirstPayment(key: string): boolean {
  return key === idempotencyKey(activityInfo().workflowExecution?.workflowId ?? '', 'createPayment', 1);
}
