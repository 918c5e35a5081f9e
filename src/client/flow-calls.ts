import { createHash } from 'node:crypto';
import type { Client, WorkflowHandle, WorkflowStartOptions } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { paymentWorkflowId, resolveWorkflowId } from '../contract/names.js';
import type { Deadlines } from './deadlines.js';
import { decoded } from './decoded.js';
import { missing } from './ended-flow.js';
import { HoldfastError } from './errors.js';
import { translate } from './translate-error.js';

/** Queries and commands wait for a workflow task that may be held up by two slow local tries. */
const COMMAND_MS = 30_000;

/** A payment flow by its merchant reference; a `resolvePending` flow by its transaction; any other by its id. */
export type FlowRef = string | { transactionId: string } | { workflowId: string };

/** Calls to one flow, each within its time and with its failures as {@link HoldfastError}. */
export class FlowCalls {
  readonly #client: Client;
  readonly #deadlines: Deadlines;

  constructor(client: Client, deadlines: Deadlines) {
    this.#client = client;
    this.#deadlines = deadlines;
  }

  /** A flow that has ended is joined as well: its result stays. False when there was one that refuses a second. */
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
    return await this.guarded(flow, () => this.handle(flow).query<Answer>(name));
  }

  /**
   * The server keeps the answer to an update id, also once the flow has ended, and gives it whatever is asked the
   * second time: so the id says what is asked, and only the same again gets the same.
   */
  async update<Answer>(
    flow: FlowRef,
    name: string,
    request: { commandId?: string | undefined },
    freshId?: string,
  ): Promise<Answer> {
    const { commandId } = request;
    const asked = createHash('sha256').update(JSON.stringify(request)).digest('hex').slice(0, 16);
    const updateId = freshId ?? (commandId === undefined ? undefined : `${commandId}:${asked}`);
    return await this.guarded(flow, () =>
      this.handle(flow).executeUpdate<Answer, [object]>(name, {
        args: [request],
        ...(updateId !== undefined && { updateId }),
      }),
    );
  }

  /**
   * Whether there is such a flow, open or ended.
   * @throws HoldfastError `EngineUnavailable` where Temporal does not say
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

  /** Of a flow that has ended; undefined while it is open, or where it has none. */
  async resultOf(flow: FlowRef): Promise<unknown> {
    return await this.#deadlines.within(Date.now() + COMMAND_MS, async () => {
      const { status } = await this.handle(flow).describe();
      return status.name === 'COMPLETED' ? decoded<unknown>(await this.handle(flow).result()) : undefined;
    });
  }

  handle(flow: FlowRef): WorkflowHandle {
    return this.#client.workflow.getHandle(workflowIdOf(flow));
  }

  async guarded<Answer>(flow: FlowRef, call: () => Promise<Answer>): Promise<Answer> {
    const name = typeof flow === 'string' ? flow : workflowIdOf(flow);
    try {
      return decoded(await this.#deadlines.within(Date.now() + COMMAND_MS, call));
    } catch (error) {
      const failure = translate(error, name);
      const cause =
        failure !== 'ended' && failure.type === 'FlowNotFound'
          ? await missing(this.#client, workflowIdOf(flow), name, failure)
          : failure;
      if (cause !== 'ended') throw cause;
      throw new HoldfastError('StateConflict', `The flow of "${name}" has ended; nothing can change it any more`);
    }
  }
}

function workflowIdOf(flow: FlowRef): string {
  if (typeof flow === 'string') return paymentWorkflowId(flow);
  return 'workflowId' in flow ? flow.workflowId : resolveWorkflowId(flow.transactionId);
}
