import { randomUUID } from 'node:crypto';
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { WithStartWorkflowOperation, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { ChargeInput, ChargeOutcome, FinalChargeOutcome, ParsedChargeInput } from '../contract/charge.js';
import { chargeInputSchema } from '../contract/charge.js';
import { durationMs } from '../contract/duration.js';
import { fingerprint } from '../contract/fingerprint.js';
import type { FlowStatus, OutcomeRequest, RetryNow, SettleManually } from '../contract/messages.js';
import {
  MEMO_KEYS,
  paymentWorkflowId,
  PAYMENTS_TASK_QUEUE,
  QUERY_NAMES,
  resolveWorkflowId,
  UPDATE_NAMES,
  WORKFLOW_TYPES,
} from '../contract/names.js';
import type { ResolvePendingInput } from '../contract/resolve-pending.js';
import { resolvePendingInputSchema } from '../contract/resolve-pending.js';
import { checkInput } from './check-input.js';
import { decoded } from './decoded.js';
import { endsWithin, outcomeOfEndedFlow, stateOf } from './ended-flow.js';
import { HoldfastError } from './errors.js';
import { chargeFingerprint, startAttributes, startMemo, summaryOf } from './start-options.js';
import { engineUnavailable, translate } from './translate-error.js';

type ChargeWorkflow = (input: ParsedChargeInput) => Promise<FinalChargeOutcome>;

const DEFAULT_WAIT_MS = 10_000;
/** How much longer than the flow's own wait the call may take: one slow round trip. */
const GRACE_MS = 2_000;
const LONGEST_WAIT_MS = 86_400_000;
/** Queries and commands wait for a workflow task that may be held up by two slow local tries. */
const COMMAND_MS = 30_000;
/** A flow whose last task is run again usually ends within this. */
const SOON_MS = 1_000;

export interface WaitOptions {
  /** How long to wait for an outcome before the answer is `unknown`: "10 seconds", or ms. */
  waitFor?: string | number;
}

/** A payment flow by its merchant reference, or a `resolvePending` flow by its transaction. */
export type FlowRef = string | { transactionId: string };

/**
 * What a business service uses. Every method throws {@link HoldfastError} and nothing else, and may be
 * called again with the same arguments at any time: the reference makes it the same payment.
 */
export class HoldfastClient {
  readonly #client: Client;
  readonly #underWay = new Set<Promise<unknown>>();

  /** `client` must carry Holdfast's data converter: see `connectHoldfast`. */
  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Takes the money once, or joins the flow that already does under this reference.
   * @throws HoldfastError `InvalidInput` before anything is started; `ReferenceConflict` when the reference
   * belongs to another input; `EngineUnavailable` when Temporal did not answer (the flow may have started)
   */
  async charge(input: ChargeInput, options: WaitOptions = {}): Promise<ChargeOutcome> {
    const parsed = checkInput(chargeInputSchema, input);
    const until = Date.now() + waitOf(options);
    const print = chargeFingerprint(parsed);
    const workflowId = paymentWorkflowId(parsed.reference);
    for (let started = false; ;) {
      try {
        const ask = started ? this.#askOutcome(parsed, print, until) : this.#startAndAsk(parsed, print, until);
        return decoded(await ask);
      } catch (error) {
        const failure = translate(error, parsed.reference);
        if (failure === 'ended') return await outcomeOfEndedFlow(this.#client, workflowId, print, parsed.reference);
        // An event that arrives while the flow ends makes the server run the last task again and drop the
        // update with it. To ask again is safe: the reference makes it the same payment.
        const notFound = failure.type === 'FlowNotFound';
        if (!failure.askAgain && !notFound) throw failure;
        if (Date.now() >= until) return await this.#lastWord(parsed, print, failure);
        // Without a start where it can be: the server makes a second start within a second wait.
        started = !notFound;
        if (await endsWithin(this.#client, workflowId, SOON_MS)) {
          return await outcomeOfEndedFlow(this.#client, workflowId, print, parsed.reference);
        }
      }
    }
  }

  /**
   * The time is over without an answer of the flow, as when the service hangs while the first task runs. If
   * the flow is there, that is an honest `unknown`.
   */
  async #lastWord(input: ParsedChargeInput, print: string, failure: HoldfastError): Promise<ChargeOutcome> {
    const workflowId = paymentWorkflowId(input.reference);
    const state = await stateOf(this.#client, workflowId, print);
    if (state === 'ended') return await outcomeOfEndedFlow(this.#client, workflowId, print, input.reference);
    const { reference, amount, currency } = input;
    if (state === 'running') return { status: 'unknown', waitingFor: 'provider', reference, amount, currency };
    throw failure.type === 'FlowNotFound' ? engineUnavailable(reference, failure.message) : failure;
  }

  async #startAndAsk(input: ParsedChargeInput, print: string, until: number): Promise<ChargeOutcome> {
    const startWorkflowOperation = new WithStartWorkflowOperation<ChargeWorkflow>(WORKFLOW_TYPES.charge, {
      workflowId: paymentWorkflowId(input.reference),
      taskQueue: PAYMENTS_TASK_QUEUE,
      args: [input],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      memo: startMemo(print),
      typedSearchAttributes: startAttributes(input),
      staticSummary: summaryOf('Charge', input),
    });
    return await this.#deadline(until + GRACE_MS, () =>
      this.#client.workflow.executeUpdateWithStart<ChargeWorkflow, ChargeOutcome, [OutcomeRequest]>(
        UPDATE_NAMES.outcome,
        { startWorkflowOperation, ...outcomeRequest(print, until) },
      ),
    );
  }

  async #askOutcome(input: ParsedChargeInput, print: string, until: number): Promise<ChargeOutcome> {
    return await this.#deadline(until + GRACE_MS, () =>
      this.#handle(input.reference).executeUpdate<ChargeOutcome, [OutcomeRequest]>(
        UPDATE_NAMES.outcome,
        outcomeRequest(print, until),
      ),
    );
  }

  /**
   * Follows a transaction that was made elsewhere to its final status, or joins the flow that did. It can't
   * move money.
   * @throws HoldfastError `ReferenceConflict` when that flow expects another sum, currency or business unit
   */
  async resolvePending(input: ResolvePendingInput): Promise<{ workflowId: string }> {
    const parsed = checkInput(resolvePendingInputSchema, input);
    const workflowId = resolveWorkflowId(parsed.transactionId);
    const { amount, currency, businessUnit, transactionId } = parsed;
    const type = WORKFLOW_TYPES.resolvePending;
    const print = fingerprint({ type, reference: transactionId, amount, currency, businessUnit });
    await this.#guarded(transactionId, async () => {
      await this.#startOrJoin(type, {
        workflowId,
        taskQueue: PAYMENTS_TASK_QUEUE,
        args: [parsed],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        memo: startMemo(print),
        typedSearchAttributes: startAttributes(parsed),
        staticSummary: summaryOf('Resolve', { ...parsed, reference: transactionId }),
      });
      const { memo } = await this.#handle({ transactionId }).describe();
      // A raw start has no fingerprint before its first task.
      const theirs = decoded(memo?.[MEMO_KEYS.fingerprint]);
      if (theirs === undefined || theirs === print) return;
      throw new HoldfastError(
        'ReferenceConflict',
        `Transaction "${transactionId}" is already followed with another input: ask for its status`,
      );
    });
    return { workflowId };
  }

  /** A flow that has ended is joined as well: its result stays. */
  async #startOrJoin(type: string, options: WorkflowStartOptions): Promise<void> {
    try {
      await this.#client.workflow.start(type, options);
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  /** Where the flow stands, also after it has ended. */
  async status(flow: FlowRef): Promise<FlowStatus> {
    return await this.#query<FlowStatus>(flow, QUERY_NAMES.status);
  }

  /** One or two sentences for a person: what it waits for, until when, what is safe to do. */
  async explain(flow: FlowRef): Promise<string> {
    return await this.#query<string>(flow, QUERY_NAMES.explain);
  }

  /** States what an operator found out elsewhere; the flow reads once more before it believes it. */
  async settleManually(flow: FlowRef, decision: SettleManually): Promise<ChargeOutcome> {
    return await this.#update<ChargeOutcome>(flow, UPDATE_NAMES.settleManually, decision, decision.commandId);
  }

  /** Makes the flow look at once instead of at its next poll. */
  async retryNow(flow: FlowRef, request: RetryNow = {}): Promise<string> {
    return await this.#update<string>(flow, UPDATE_NAMES.retryNow, request, request.commandId);
  }

  /** Waits for the calls under way, then closes the connection. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    await this.#client.connection.close();
  }

  /** A connection that is closed under a call makes the call's retries fail outside of any promise. */
  async #deadline<Answer>(at: number, call: () => Promise<Answer>): Promise<Answer> {
    const work = this.#client.withDeadline(at, call);
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  async #query<Answer>(flow: FlowRef, name: string): Promise<Answer> {
    return await this.#guarded(flow, () => this.#handle(flow).query<Answer>(name));
  }

  async #update<Answer>(flow: FlowRef, name: string, argument: object, commandId: string | undefined): Promise<Answer> {
    return await this.#guarded(flow, () =>
      this.#handle(flow).executeUpdate<Answer, [object]>(name, {
        args: [argument],
        ...(commandId !== undefined && { updateId: commandId }),
      }),
    );
  }

  #handle(flow: FlowRef) {
    const workflowId = typeof flow === 'string' ? paymentWorkflowId(flow) : resolveWorkflowId(flow.transactionId);
    return this.#client.workflow.getHandle(workflowId);
  }

  async #guarded<Answer>(flow: FlowRef, call: () => Promise<Answer>): Promise<Answer> {
    const name = nameOf(flow);
    try {
      return decoded(await this.#deadline(Date.now() + COMMAND_MS, call));
    } catch (error) {
      const failure = translate(error, name);
      const cause =
        failure !== 'ended' && failure.type === 'FlowNotFound' ? await this.#missing(flow, failure) : failure;
      if (cause !== 'ended') throw cause;
      throw new HoldfastError('StateConflict', `The flow of "${name}" has ended; nothing can change it any more`);
    }
  }

  /** The server drops a command that arrives while the flow ends, and then says "not found" of it, not of the flow. */
  async #missing(flow: FlowRef, failure: HoldfastError): Promise<HoldfastError | 'ended'> {
    const { workflowId } = this.#handle(flow);
    if (await endsWithin(this.#client, workflowId, SOON_MS)) return 'ended';
    const isThere = await this.#handle(flow)
      .describe()
      .then(
        () => true,
        () => false,
      );
    return isThere ? engineUnavailable(nameOf(flow), failure.message) : failure;
  }
}

function nameOf(flow: FlowRef): string {
  return typeof flow === 'string' ? flow : flow.transactionId;
}

function waitOf(options: WaitOptions): number {
  const ms = durationMs(options.waitFor ?? DEFAULT_WAIT_MS);
  if (ms !== undefined && ms <= LONGEST_WAIT_MS) return ms;
  const fault = `waitFor: ${JSON.stringify(options.waitFor)} is not a duration of at most a day, such as "8 seconds"`;
  throw new HoldfastError('InvalidInput', `Nothing was started: ${fault}`, [fault]);
}

function outcomeRequest(fingerprintOfInput: string, until: number): { updateId: string; args: [OutcomeRequest] } {
  const waitFor = Math.max(0, until - Date.now());
  return {
    // Fresh at every call: with a fixed one the server would hand out a stored `pending` for ever.
    updateId: randomUUID(),
    args: [{ type: WORKFLOW_TYPES.charge, fingerprint: fingerprintOfInput, waitFor }],
  };
}
