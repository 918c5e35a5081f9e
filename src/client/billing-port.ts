import {
  CancelledFailure,
  type Client,
  type WorkflowExecutionDescription,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { EnginePort, FlowReading, RefundOfPayment, RefundReading } from '../contract/engine-port.js';
import type { Outcome } from '../contract/messages.js';
import { FAILURE_TYPES, referenceOfWorkflowId } from '../contract/names.js';
import { isSealed, isUndecodable, NOT_FOR_THIS_FLOW } from '../contract/payload-marks.js';
import type { RefundState } from '../contract/subscription-result.js';
import { Deadlines } from './deadlines.js';
import { eventsOf } from './earlier-runs.js';
import { contextOf, decode } from './ended-flow.js';
import { HoldfastError } from './errors.js';
import { type CommandAnswer, type PaymentRef, sendCommand } from './send-command.js';
import { isOpen } from './is-open.js';
import { keyword } from './start-options.js';

/** Shorter than the activity's time limit, so that the activity receives the answer. */
const REFUND_WAIT_MS = 20_000;

/**
 * Errors after which the same command may still refund: Temporal may have accepted it without answering, an undecodable
 * answer may be a success, and what was not taken, or could not be looked at, is to be given again.
 */
const NO_REFUSAL: ReadonlySet<string> = new Set([
  'EngineUnavailable',
  'UnexpectedResponse',
  FAILURE_TYPES.rateLimited,
  FAILURE_TYPES.providerUnavailable,
]);

/** The Temporal calls of a subscription, over an ordinary client. */
export function createBillingPort(client: Client): Pick<EnginePort, 'readFlow' | 'refund'> {
  const deadlines = new Deadlines(client);
  return {
    async readFlow(workflowId) {
      const run = await describedRun(client, workflowId);
      if (run === undefined) return await absent(client, workflowId);
      if (isOpen(run.status)) return { state: 'open' };
      const reading = await readEnd(client, run);
      if (reading.state !== 'lost' && (reading.state !== 'ended' || isUndecodable(reading.outcome))) return reading;
      const token = await tokenOf(client, run);
      return { ...reading, ...(token !== undefined && { token }) };
    },

    refund: (call) => refundOfBill(client, deadlines, call),
  };
}

/** See `EnginePort.refund`. */
export async function refundOfBill(
  client: Client,
  deadlines: Deadlines,
  { payment, paymentId, currency, businessUnit, amount, ...asked }: RefundOfPayment,
): Promise<RefundReading> {
  const request = { ...asked, ...(amount !== undefined && { amount }) };
  const ask = (ref: PaymentRef) =>
    sendCommand(client, deadlines, ref, { name: 'refund', request, until: Date.now() + REFUND_WAIT_MS });
  try {
    const answer = await ask(payment).catch((error: unknown) => {
      // The history of the flow has expired, but the service still has the payment.
      if (paymentId === undefined || !isNotFound(error)) throw error;
      return ask({ payment: paymentId, currency, businessUnit });
    });
    return stateOf(answer);
  } catch (error) {
    if (error instanceof HoldfastError && !error.askAgain && !NO_REFUSAL.has(error.type))
      return { refused: error.message };
    throw error;
  }
}

/** A failure that nobody has confirmed must not be read as one that moved nothing. */
function stateOf(answer: CommandAnswer): RefundState {
  const { status, amount, transactionId } = answer;
  return {
    status,
    ...(amount !== undefined && { amount }),
    ...(transactionId !== undefined && { transactionId }),
    ...(answer.status === 'declined' && { category: answer.category, ...(!answer.confirmed && { confirmed: false }) }),
    ...(answer.status === 'notExecuted' && { reason: answer.reason, ...(answer.braked && { braked: true }) }),
  };
}

async function describedRun(client: Client, workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** Payments of a bill are made one after the other: a later one shows that this one was. */
async function absent(client: Client, workflowId: string): Promise<FlowReading> {
  const [, bill, number] = /^(payment-[\w-]+\.\d+\.)(\d+)$/.exec(workflowId) ?? [];
  if (bill === undefined) return { state: 'absent' };
  const next = Number(number) + 1;
  // Lists lag: the one that follows may have been made just now.
  if ((await describedRun(client, `${bill}${next}`)) !== undefined) return { state: 'absent', later: next };
  let later = Number.POSITIVE_INFINITY;
  for await (const run of client.workflow.list({ query: `WorkflowId STARTS_WITH "${bill}"` })) {
    // A visibility store may compare without case, and so list the payments of another subscription.
    const other = run.workflowId.startsWith(bill) ? Number(run.workflowId.slice(bill.length)) : Number.NaN;
    if (other > Number(number)) later = Math.min(later, other);
  }
  return { state: 'absent', ...(later < Number.POSITIVE_INFINITY && { later }) };
}

async function readEnd(
  client: Client,
  { workflowId, typedSearchAttributes }: WorkflowExecutionDescription,
): Promise<FlowReading> {
  const paymentId = typedSearchAttributes.get(keyword('PaymentId'));
  try {
    const outcome: unknown = await client.workflow.getHandle(workflowId).result();
    // Its id is no secret: whoever has access to Temporal can run a workflow of their own under it.
    if (isUndecodable(outcome)) return { state: 'ended', outcome: outcome as never };
    if (!isSealed(outcome))
      return { state: 'lost', why: `its result ${NOT_FOR_THIS_FLOW}, and no worker has written it` };
    const { reference } = outcome as Outcome;
    if (reference === referenceOfWorkflowId(workflowId)) return { state: 'ended', outcome: outcome as Outcome };
    return { state: 'lost', why: `its result is that of "${reference}"` };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { state: 'absent' };
    const reading = endedWithout(error);
    return reading.state === 'lost' && paymentId !== undefined ? { ...reading, paymentId } : reading;
  }
}

/** Of the card in a payment's input, unless that is in clear: whoever has access to Temporal can have written it. */
async function tokenOf(
  client: Client,
  { workflowId, runId }: Pick<WorkflowExecutionDescription, 'workflowId' | 'runId'>,
): Promise<string | undefined> {
  for await (const event of eventsOf(client, workflowId, runId)) {
    const payload = event.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
    const context = contextOf(client, workflowId);
    const input = await decode(payload, client.options.loadedDataConverter, { what: 'its input', context });
    const { token } = (input as { paymentMethod?: { token?: unknown } } | undefined)?.paymentMethod ?? {};
    return isSealed(input) && typeof token === 'string' ? token : undefined;
  }
  return undefined;
}

function isNotFound(error: unknown): boolean {
  return error instanceof HoldfastError && error.type === 'FlowNotFound';
}

function endedWithout(error: unknown): FlowReading {
  const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
  if (cause instanceof ApplicationFailure)
    // Another flow has used the reference of this attempt, and may have charged.
    return { state: cause.type === FAILURE_TYPES.referenceConflict ? 'lost' : 'refused', why: cause.message };
  if (cause instanceof CancelledFailure) return { state: 'refused', why: 'cancelled before anything was sent' };
  if (error instanceof WorkflowFailedError) return { state: 'lost', why: cause?.message ?? error.message };
  throw error;
}
