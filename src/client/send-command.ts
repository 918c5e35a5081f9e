import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  WithStartWorkflowOperation,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
  WorkflowUpdateStage,
} from '@temporalio/client';
import { isCurrency } from '../contract/currencies.js';
import { uuidSchema } from '../contract/fields.js';
import { type FlowStatus, OPERATION_OF_COMMAND } from '../contract/messages.js';
import {
  paymentActionsWorkflowId,
  paymentWorkflowId,
  QUERY_NAMES,
  referenceOfWorkflowId,
  WORKFLOW_TYPES,
} from '../contract/names.js';
import { ALREADY_ENDED } from '../contract/refusals.js';
import type { FinalStepOutcome, Pending, Unknown } from '../contract/outcome.js';
import type { PaymentActionsInput } from '../contract/payment-actions.js';
import { findFlowOfPayment } from './earlier-runs.js';
import { actionsStart, latestRunOf } from './start-actions.js';
import { keyword } from './start-options.js';
import { type Deadlines, DESCRIBE_MS, type Within } from './deadlines.js';
import { ofWorker } from './ended-flow.js';
import { doneBefore, reauthorizedBefore } from './done-before.js';
import { GIVE_AGAIN, HoldfastError, naming, isClosingRun, isLostUpdate, translate } from './errors.js';
import { isOpen } from './is-open.js';
import { requireAsMade, requireAsOpened } from './named-payment.js';
import { LIST_LAG_MS, speakingRun } from './speaking-run.js';
import { isForAMoment, mayBeOld, runOf, updateIdOf } from './update-ids.js';
import { stillWithoutPayment, stoppedWithoutPayment, untaken } from './untaken.js';

/**
 * The payment that a command is for: the reference of the flow that created it, or the payment id. Business unit and
 * currency are needed only for a foreign payment; given for another one, they must be its own.
 */
export type PaymentRef = string | { payment: string; businessUnit?: string; currency?: string };

/**
 * `pending` and `unknown`: not settled within `waitFor`; repeat the call with this `commandId`, even if it had none. Without
 * `amount` it is over all that is left, and that is not known yet.
 */
export type CommandAnswer =
  FinalStepOutcome | ((Omit<Pending, 'amount'> | Omit<Unknown, 'amount'>) & { amount?: number; commandId: string });
type Answer = FinalStepOutcome | Pending | Unknown;

export interface Sent {
  name: 'capture' | 'void' | 'refund' | 'reauthorize';
  request: { commandId?: string | undefined; reference?: string | undefined; amount?: number | undefined };
  /** Epoch ms. */
  until: number;
}

/** ms that a call may exceed the caller's wait, for the reads before and after the command. */
const MARGIN_MS = 10_000;
/** Time limit in ms for a worker to accept the command; the wait for its answer is the caller's. */
const ACCEPT_MS = 30_000;
/** One try at the flow that created the payment, one after it has ended, one for a flow that ends in between. */
const LEAST_TRIES = 3;
const TRY_AGAIN_MS = 100;

/** Sends the command to the flow that created the payment or, once that has ended, to `paymentActions`. */
export async function sendCommand(
  client: Client,
  calls: Deadlines,
  ref: PaymentRef,
  sent: Sent,
): Promise<CommandAnswer> {
  const deadlines = calls.endingAt(sent.until + MARGIN_MS);
  const commandId = sent.request.commandId ?? sent.request.reference ?? randomUUID();
  try {
    const answer = await sendNamed(client, deadlines, ref, { ...sent, request: { ...sent.request, commandId } });
    if (!isUnsettled(answer)) return answer;
    const { amount, ...rest } = answer;
    // Before its payment is read, the flow has no sum for what names none.
    return { ...rest, ...(amount > 0 && { amount }), commandId };
  } catch (error) {
    const name = nameOf(ref);
    const failure = translate(error, name, GIVE_AGAIN);
    if (failure === 'ended') throw new HoldfastError('StateConflict', `The flow of "${name}" has ended`);
    throw sent.request.commandId === undefined && sent.request.reference === undefined
      ? naming(failure, commandId)
      : failure;
  }
}

function isUnsettled(answer: Answer): answer is Pending | Unknown {
  return answer.status === 'pending' || answer.status === 'unknown';
}

function nameOf(ref: PaymentRef): string {
  return typeof ref === 'string' ? ref : ref.payment;
}

async function sendNamed(
  client: Client,
  deadlines: Within,
  ref: PaymentRef,
  named: Sent & { request: { commandId: string } },
): Promise<Answer> {
  const name = nameOf(ref);
  let staysOpen = false;
  // A flow that ends meanwhile drops the command without an error, so send it to the flow that took over.
  for (let tries = 0; tries < LEAST_TRIES || Date.now() < named.until; tries += 1) {
    if (tries > 0) await sleep(TRY_AGAIN_MS);
    const { open, run, actions, made } = await findTarget(client, deadlines, ref);
    if (open === undefined && actions === undefined) throw stillWithoutPayment(name);
    if (actions !== undefined && named.name === 'reauthorize')
      return await reauthorizedBefore(deadlines, made, { reference: name, request: named.request });
    const done = actions === undefined ? undefined : await doneBefore(deadlines, made, named);
    if (done !== undefined) return done;
    const answer = await (actions === undefined
      ? sendTo(client, deadlines, { workflowId: open ?? '', run }, named, undefined)
      : sendTo(client, deadlines, { workflowId: paymentActionsWorkflowId(actions.paymentId) }, named, actions));
    staysOpen = answer === 'endedButOpen';
    if (answer === 'ended' || answer === 'endedButOpen') continue;
    // A run that continues as new answers early; sending again joins the command in the next run.
    if (!isUnsettled(answer) || Date.now() + TRY_AGAIN_MS >= named.until) return answer;
  }
  throw untaken(name, staysOpen);
}

interface Target {
  /** Workflow id of the flow that created the payment, while it is open. */
  open?: string;
  /** Its present run. */
  run?: string;
  actions?: PaymentActionsInput;
  /** The run of that flow which has made the payment. */
  made?: WorkflowHandle;
}

async function findTarget(client: Client, deadlines: Within, ref: PaymentRef): Promise<Target> {
  const workflowId = typeof ref === 'string' ? paymentWorkflowId(ref) : await creatorOf(client, deadlines, ref);
  if (workflowId === undefined) return { actions: unknownPayment(ref as Exclude<PaymentRef, string>) };
  const flow = await deadlines.within(Date.now() + DESCRIBE_MS, async () => {
    const made = await speakingRun(client, await client.workflow.getHandle(workflowId).describe());
    if (typeof ref !== 'string') await requireAsMade(client, { ...ref, paymentId: ref.payment }, made);
    return made;
  });
  if (isOpen(flow.status)) return { open: workflowId, run: flow.runId };
  const actions = actionsOf(flow, workflowId);
  // Its first task may have charged a payment that it never had the time to name.
  if (actions === undefined && isStopped(flow.status)) throw stoppedWithoutPayment(nameOf(ref));
  return actions === undefined ? {} : { actions, made: client.workflow.getHandle(workflowId, flow.runId) };
}

/**
 * Finds the creating flow by its search attribute. Visibility may lag: with a currency, `paymentActions` looks for the
 * flow itself; without one, this function waits for it because nothing can be done without the flow.
 */
async function creatorOf(
  client: Client,
  deadlines: Within,
  { payment, currency }: Exclude<PaymentRef, string>,
): Promise<string | undefined> {
  const id = uuidSchema.safeParse(payment);
  if (!id.success) throw new HoldfastError('InvalidInput', `payment: "${payment}" is not a payment id`);
  const until = Date.now() + (currency === undefined ? LIST_LAG_MS : 0);
  // The service shows ids in small letters, and takes them in capitals as well.
  const ids = new Set([id.data, id.data.toLowerCase()]);
  for (;;) {
    for (const either of ids) {
      const found = await deadlines.within(Date.now() + DESCRIBE_MS, () =>
        findFlowOfPayment(client, either, /^payment-/),
      );
      if (found !== undefined) return found;
    }
    if (Date.now() >= until) return undefined;
    await sleep(TRY_AGAIN_MS);
  }
}

function unknownPayment({ payment, businessUnit, currency }: Exclude<PaymentRef, string>): PaymentActionsInput {
  if (currency === undefined || !isCurrency(currency)) {
    throw new HoldfastError(
      'FlowNotFound',
      `No flow has made payment "${payment}"; for a foreign one give its currency and businessUnit as well`,
    );
  }
  return { paymentId: payment.toLowerCase(), currency, ...(businessUnit !== undefined && { businessUnit }) };
}

function actionsOf(flow: WorkflowExecutionDescription, workflowId: string): PaymentActionsInput | undefined {
  const attributes = flow.typedSearchAttributes;
  const paymentId = attributes.get(keyword('PaymentId'));
  const currency = attributes.get(keyword('Currency'));
  const businessUnit = attributes.get(keyword('BusinessUnit'));
  if (paymentId === undefined || currency === undefined) return undefined;
  const paymentReference = referenceOfWorkflowId(workflowId);
  return {
    paymentId,
    currency,
    ...(paymentReference !== undefined && { paymentReference }),
    ...(businessUnit !== undefined && { businessUnit }),
  };
}

/**
 * `ended`: the flow had closed before it accepted the command; `endedButOpen`: it has ended, and stays open until that is handed
 * over to whoever tells the merchant. With `start` a missing flow is started.
 */
async function sendTo(
  client: Client,
  deadlines: Within,
  { workflowId, run }: { workflowId: string; run?: string | undefined },
  { name, request, until }: Sent,
  start: PaymentActionsInput | undefined,
): Promise<Answer | 'ended' | 'endedButOpen'> {
  const options = { args: [request] as [object], waitForStage: WorkflowUpdateStage.ACCEPTED } as const;
  try {
    const look = async () =>
      start === undefined
        ? undefined
        : await deadlines.within(Date.now() + DESCRIBE_MS, () => latestRunOf(client, workflowId));
    const latest = await look();
    if (start !== undefined && start.paymentReference === undefined && latest?.isOpen === true)
      requireAsOpened(start, latest.attributes);
    const updateId = updateIdOf(name, request, run ?? (latest && runOf(latest)));
    const send = async (id: string, before: typeof latest): Promise<Answer> => {
      const handle = await deadlines.within(Date.now() + ACCEPT_MS, () =>
        start === undefined
          ? client.workflow.getHandle(workflowId).startUpdate<Answer, [object]>(name, { ...options, updateId: id })
          : client.workflow.startUpdateWithStart<(input: object) => Promise<unknown>, Answer, [object]>(name, {
              ...options,
              updateId: id,
              startWorkflowOperation: new WithStartWorkflowOperation<(input: object) => Promise<unknown>>(
                WORKFLOW_TYPES.paymentActions,
                { ...actionsStart(start, before?.runId), workflowIdConflictPolicy: 'USE_EXISTING' },
              ),
            }),
      );
      return ofWorker(await deadlines.within(Math.max(until, Date.now() + 1), () => handle.result()));
    };
    const asked = Date.now();
    return await send(updateId, latest).catch(async (error: unknown) => {
      if (!mayBeOld(asked) || !isForAMoment(error)) throw error;
      // A run that this has opened may have refused it and closed since: the next one takes over from that.
      return await send(randomUUID(), await look());
    });
  } catch (error) {
    if (isLostUpdate(error) || isClosingRun(error)) return 'ended';
    const failure = translate(error, workflowId, GIVE_AGAIN);
    if (failure === 'ended' || failure.type === 'FlowNotFound') return 'ended';
    if (start === undefined && failure.message.includes(ALREADY_ENDED)) return 'endedButOpen';
    // The flow has too many waiting updates and did not accept this one; send it again while there is time.
    if (failure.type === 'RateLimited' && Date.now() + TRY_AGAIN_MS < until) return 'ended';
    if (!failure.askAgain || Date.now() < until) throw failure;
    return await present(client, deadlines, workflowId, { name, request });
  }
}

/** The state of a command that is not settled in time. For a void, the pending operation may be its authorization. */
async function present(
  client: Client,
  deadlines: Within,
  workflowId: string,
  { name, request }: Omit<Sent, 'until'>,
): Promise<Answer> {
  const status = await deadlines.within(Date.now() + DESCRIBE_MS, () =>
    client.workflow.getHandle(workflowId).query<FlowStatus>(QUERY_NAMES.status),
  );
  const { reference, currency, waitingFor, paymentId, transactionId, operation, queued = [] } = ofWorker(status);
  // It waits behind another command, for an approval, or for the end of the operation that it voids.
  const isOther = operation !== OPERATION_OF_COMMAND[name] || queued.includes(request.commandId ?? '');
  const { amount: asked = status.amount } = request;
  return {
    status: status.status === 'pending' && !isOther ? 'pending' : 'unknown',
    reference,
    amount: isOther ? asked : (status.operationAmount ?? status.amount),
    currency,
    waitingFor,
    ...(paymentId !== undefined && { paymentId }),
    ...(transactionId !== undefined && !isOther && { transactionId }),
  };
}

/** Nobody follows its money any more. */
function isStopped({ name }: { name: string }): boolean {
  return name === 'TERMINATED' || name === 'TIMED_OUT';
}
