import { createHash } from 'node:crypto';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import type { ParsedResolvePendingInput } from '../contract/charge.js';
import { FLOWS } from '../contract/flows.js';
import type { FlowStatus } from '../contract/messages.js';
import { MEMO_KEYS, paymentWorkflowId, QUERY_NAMES, resolveWorkflowId, WORKFLOW_TYPES } from '../contract/names.js';
import { HAS_ENDED } from '../contract/refusals.js';
import type { Deadlines } from './deadlines.js';
import { decoded, missing, ofWorker } from './ended-flow.js';
import { resultBefore } from './end-of-flow.js';
import { HoldfastError, translate } from './errors.js';
import { type FlowRequest, startMemo, makeRequest, startOptions } from './start-options.js';

/** ms. Queries and commands wait for a workflow task, which two slow local activity attempts may delay. */
const COMMAND_MS = 30_000;

/** A payment flow by its reference, a `resolvePending` flow by its transaction id, any other by its workflow id. */
export type FlowRef = string | { transactionId: string } | { workflowId: string };

/** Calls to one flow with a time limit each; failures are {@link HoldfastError}. */
export class FlowCalls {
  readonly #client: Client;
  readonly #deadlines: Deadlines;

  constructor(client: Client, deadlines: Deadlines) {
    this.#client = client;
    this.#deadlines = deadlines;
  }

  /** True when the flow was started; false when one with this id exists, open or ended, and is to be joined. */
  async startOrJoin(type: string, options: WorkflowStartOptions): Promise<boolean> {
    try {
      await this.#client.workflow.start(type, options);
      return true;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return false;
    }
  }

  async query<Answer>(flow: FlowRef, name: string): Promise<Answer> {
    return await this.guarded(flow, async () => ofWorker(await this.handle(flow).query<Answer>(name)));
  }

  /**
   * The server keeps the answer to an update id, even after the flow has ended, and returns it for any later request
   * with that id, whatever its name. The id therefore holds a hash of name and request: only the same one gets the same answer.
   * It also names the run: a reset gives again what later runs were told, and fails where two have accepted the same id.
   */
  async update<Answer>(
    flow: FlowRef,
    name: string,
    request: { commandId?: string | undefined },
    freshId?: string,
  ): Promise<Answer> {
    const { commandId } = request;
    const asked = createHash('sha256')
      .update(JSON.stringify([name, request]))
      .digest('hex')
      .slice(0, 16);
    return await this.guarded(flow, async () => {
      const isNamed = freshId === undefined && commandId !== undefined;
      const run = isNamed ? (await this.handle(flow).describe()).runId : '';
      const updateId = isNamed ? `${commandId}:${asked}:${run}` : freshId;
      const options = { args: [request] as [object], ...(updateId !== undefined && { updateId }) };
      return ofWorker(await this.handle(flow).executeUpdate<Answer, [object]>(name, options));
    });
  }

  /**
   * Whether the flow exists, open or ended.
   * @throws HoldfastError `EngineUnavailable` when Temporal does not answer
   */
  async isKnown(flow: FlowRef): Promise<boolean> {
    try {
      await this.#deadlines.within(Date.now() + COMMAND_MS, () => this.handle(flow).describe());
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      const failure = translate(error, workflowIdOf(flow));
      throw failure === 'ended' ? new HoldfastError('FlowStopped', `${workflowIdOf(flow)} has ended`) : failure;
    }
  }

  /** Result of an ended flow; undefined while it is open or if it has no result. */
  async resultOf(flow: FlowRef): Promise<unknown> {
    return await this.#deadlines.within(Date.now() + COMMAND_MS, async () => {
      const { status } = await this.handle(flow).describe();
      return status.name === 'COMPLETED' ? ofWorker<unknown>(await this.handle(flow).result()) : undefined;
    });
  }

  async resultBefore<Result>(workflowId: string, at: number): Promise<Result> {
    return ofWorker(await resultBefore<Result>(this.#client, workflowId, at));
  }

  handle(flow: FlowRef): WorkflowHandle {
    return this.#client.workflow.getHandle(workflowIdOf(flow));
  }

  /** @param again what is safe to do where nothing is known, in a sentence */
  async guarded<Answer>(flow: FlowRef, call: () => Promise<Answer>, again = againOf(flow)): Promise<Answer> {
    const name = typeof flow === 'string' ? flow : workflowIdOf(flow);
    try {
      return decoded(await this.#deadlines.within(Date.now() + COMMAND_MS, call));
    } catch (error) {
      const failure = sayIds(translate(error, name, again), flow);
      const cause =
        failure !== 'ended' && failure.type === 'FlowNotFound'
          ? await missing(this.#client, workflowIdOf(flow), name, failure)
          : failure;
      if (cause !== 'ended') throw cause;
      throw new HoldfastError('StateConflict', `The flow of "${name}" ${HAS_ENDED}; nothing can change it any more`);
    }
  }
}

/** Only a payment's reference is asked for by itself. */
function againOf(flow: FlowRef): string | undefined {
  return typeof flow === 'string' ? undefined : 'What was asked may have been done: call again, with the same input.';
}

/** A reference alone is that of a payment, so that a subscription's is not found. */
function sayIds(failure: HoldfastError | 'ended', flow: FlowRef): HoldfastError | 'ended' {
  if (failure === 'ended' || failure.type !== 'FlowNotFound' || typeof flow !== 'string') return failure;
  return new HoldfastError(
    failure.type,
    `No payment with reference "${flow}" is known; name another flow, such as a subscription, by { workflowId }`,
  );
}

function workflowIdOf(flow: FlowRef): string {
  if (typeof flow === 'string') return paymentWorkflowId(flow);
  return 'workflowId' in flow ? flow.workflowId : resolveWorkflowId(flow.transactionId);
}

/**
 * Runs a flow on the cards on file, or joins the one that was started with the same `commandId`. One that has failed is run
 * again: nothing but asking the service once more shows whether the cause has passed.
 * @throws HoldfastError `ReferenceConflict` when the `commandId` was used for another card; the flow's own failure
 */
export async function runCardFlow<Answer>(
  calls: FlowCalls,
  { type, title, taskQueue, workflowId, fingerprint, subject, input }: FlowRequest<'listCards' | 'removeCard'>,
): Promise<Answer> {
  const until = Date.now() + COMMAND_MS;
  const options = { workflowId, taskQueue, args: [input], memo: startMemo(fingerprint) };
  const start = (workflowIdReusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE_FAILED_ONLY'): Promise<boolean> =>
    calls.startOrJoin(type, {
      ...options,
      workflowIdReusePolicy,
      staticSummary: `${title} ${subject.customerId}`,
    });
  const run = async (): Promise<Answer> => {
    if (!(await start('REJECT_DUPLICATE'))) {
      await requireSame(
        calls.handle({ workflowId }),
        fingerprint,
        `Command "${subject.reference}" was already given for another card of this customer; use a new commandId`,
      );
      await start('ALLOW_DUPLICATE_FAILED_ONLY');
    }
    return await calls.resultBefore<Answer>(workflowId, until);
  };
  const repeat = type === WORKFLOW_TYPES.removeCard ? ', with the same commandId' : '';
  const again = `The payment service, which may not answer, is asked for up to a day: call again${repeat}.`;
  return await calls.guarded({ workflowId }, run, again);
}

/**
 * Starts the flow that follows a foreign transaction, or joins it. One that has failed follows nothing any more, and never
 * sent anything: another one is started.
 * @throws HoldfastError `ReferenceConflict` when that flow expects another payment, kind, amount, currency or business unit
 */
export async function followTransaction(
  calls: FlowCalls,
  parsed: ParsedResolvePendingInput,
): Promise<{ workflowId: string }> {
  const { transactionId, paymentId, kind } = parsed;
  const request = makeRequest(FLOWS.resolvePending, parsed);
  const { type, workflowId, fingerprint } = request;
  await calls.guarded({ transactionId }, async () => {
    const started = await calls.startOrJoin(type, {
      ...startOptions(request),
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
    });
    if (started) return;
    const flow = calls.handle({ transactionId });
    const conflict = `Transaction "${transactionId}" is already followed with another input: ask for its status`;
    await requireSame(flow, fingerprint, conflict);
    const theirs = ofWorker(await flow.query<FlowStatus>(QUERY_NAMES.status));
    if (theirs.paymentId !== paymentId || theirs.operation !== kind)
      throw new HoldfastError('ReferenceConflict', conflict);
  });
  return { workflowId };
}

/** @throws HoldfastError `ReferenceConflict` when the flow was started with another input */
async function requireSame(flow: WorkflowHandle, fingerprint: string, conflict: string): Promise<void> {
  const theirs = decoded((await flow.describe()).memo?.[MEMO_KEYS.fingerprint]);
  // A flow that was started without this client has no fingerprint before its first task.
  if (theirs !== undefined && theirs !== fingerprint) throw new HoldfastError('ReferenceConflict', conflict);
}
