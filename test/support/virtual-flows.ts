import { randomUUID } from 'node:crypto';
import { WorkflowUpdateStage } from '@temporalio/client';
import type { AskableType, FlowOutcomes } from '../../src/client/ask-flow.js';
import { type FlowRequest, makeRequest, startAttributes, startMemo } from '../../src/client/start-options.js';
import type { AuthorizeInput, AuthorizeOutcome } from '../../src/contract/authorize.js';
import { FLOWS } from '../../src/contract/flows.js';
import type { FlowStatus, TransactionEvent } from '../../src/contract/messages.js';
import {
  paymentActionsWorkflowId,
  PAYMENTS_TASK_QUEUE,
  SIGNAL_NAMES,
  WORKFLOW_TYPES,
} from '../../src/contract/names.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import type { PaymentActionsInput, PaymentActionsResult } from '../../src/contract/payment-actions.js';
import type { FaultInput } from '../../sandbox/control.js';
import { authorizeInput } from './payments.js';
import { until } from './until.js';
import type { VirtualTime } from './virtual-time.js';

type Final<Answer> = Extract<Answer, { evidence: unknown }>;

/** A flow of any type under way in skipped time. */
export interface VirtualFlow<Result> {
  readonly reference: string;
  readonly workflowId: string;
  /** Epoch ms on the engine's clock. */
  readonly startedAt: number;
  /** Lets time pass until the flow has ended. */
  outcome(): Promise<Result>;
  /** Where it stands now. No time passes. */
  status(): Promise<FlowStatus>;
  cancel(): Promise<void>;
  /** Sends a command. It has been accepted once this answers; its own answer may need time to pass. */
  command(name: CommandName, request?: object): Promise<Commanded>;
  /** The same for a command that is answered at once. No time passes. */
  ask(name: CommandName, request?: object): Promise<FinalStepOutcome>;
  /** What the webhook handler makes of a signed event about this flow's payment. */
  event(event: Pick<TransactionEvent, 'eventType'> & Partial<TransactionEvent>): Promise<void>;
}

type CommandName = 'capture' | 'void' | 'refund' | 'reauthorize' | 'decideReview';

/** A command on its way. */
interface Commanded {
  answer: Promise<FinalStepOutcome>;
}

/** The flows that a business service starts, as its client starts them. */
export const SPECS = {
  authorize: (input: object) => makeRequest(FLOWS.authorizeAndCapture, FLOWS.authorizeAndCapture.schema.parse(input)),
  charge: (input: object) => makeRequest(FLOWS.charge, FLOWS.charge.schema.parse(input)),
  credit: (input: object) => makeRequest(FLOWS.credit, FLOWS.credit.schema.parse(input)),
  storeCard: (input: object) => makeRequest(FLOWS.storeCard, FLOWS.storeCard.schema.parse(input)),
  analyseRisk: (input: object) => makeRequest(FLOWS.analyseRisk, FLOWS.analyseRisk.schema.parse(input)),
};

export async function begin<Type extends AskableType>(
  time: VirtualTime,
  { type, workflowId, input, fingerprint, subject }: FlowRequest<Type>,
): Promise<VirtualFlow<Final<FlowOutcomes[Type]>>> {
  const startedAt = await time.now();
  await time.client.workflow.start(type, {
    taskQueue: PAYMENTS_TASK_QUEUE,
    workflowId,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    args: [input],
    memo: startMemo(fingerprint),
    typedSearchAttributes: startAttributes(subject),
  });
  return flowOf<Final<FlowOutcomes[Type]>>(time, { workflowId, reference: subject.reference, startedAt });
}

/** The one flow of a payment whose own has ended; opened again where it has closed. */
export async function beginActions(
  time: VirtualTime,
  input: PaymentActionsInput,
): Promise<VirtualFlow<PaymentActionsResult>> {
  const workflowId = paymentActionsWorkflowId(input.paymentId);
  const startedAt = await time.now();
  const { firstExecutionRunId } = await time.client.workflow.start(WORKFLOW_TYPES.paymentActions, {
    taskQueue: PAYMENTS_TASK_QUEUE,
    workflowId,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    args: [input],
  });
  return flowOf<PaymentActionsResult>(time, {
    workflowId,
    reference: input.paymentId,
    startedAt,
    runId: firstExecutionRunId,
  });
}

interface Started {
  workflowId: string;
  reference: string;
  startedAt: number;
  runId?: string;
}

function flowOf<Result>(time: VirtualTime, started: Started): VirtualFlow<Result> {
  const { workflowId, reference, startedAt, runId } = started;
  const handle = time.client.workflow.getHandle(workflowId, runId);
  const status = (): Promise<FlowStatus> => time.holdfast.status({ workflowId });
  const command = async (name: CommandName, request: object = {}): Promise<Commanded> => {
    const update = await handle.startUpdate<FinalStepOutcome, [object]>(name, {
      args: [request],
      waitForStage: WorkflowUpdateStage.ACCEPTED,
    });
    const answer = update.result();
    // Awaited by the test once time has passed; a refusal that comes before that is no unhandled one.
    answer.catch(() => undefined);
    return { answer };
  };
  return {
    reference,
    workflowId,
    startedAt,
    outcome: async () => (await handle.result()) as Result,
    status,
    cancel: async () => void (await handle.cancel()),
    command,
    ask: async (name, request) => await (await command(name, request)).answer,
    async event(event) {
      const { paymentId = '', currency, businessUnit } = await status();
      const whole: TransactionEvent = {
        hash: randomUUID(),
        created: String(startedAt),
        businessUnit,
        paymentId,
        currency,
        trusted: true,
        ...event,
      };
      await handle.signal(SIGNAL_NAMES.transactionEvent, whole);
    },
  };
}

/** A hold of 60.00 USD, with faults for its reference planted before it starts. */
export async function beginHold(
  time: VirtualTime,
  overrides: Partial<AuthorizeInput> = {},
  { card, faults = [] }: { card?: string; faults?: readonly FaultInput[] } = {},
): Promise<VirtualFlow<Final<AuthorizeOutcome>>> {
  // Brings the clock of the sandbox up to date, so that the token is a fresh one.
  await time.input();
  const input = await authorizeInput(time, card, overrides);
  for (const fault of faults) await time.sandbox.addFault({ ...fault, reconciliation_id: input.reference });
  return await begin(time, SPECS.authorize(input));
}

/** The same once the money is held: commands are taken. */
export async function beginHeld(...how: Parameters<typeof beginHold>): ReturnType<typeof beginHold> {
  const hold = await beginHold(...how);
  await until(
    () => hold.status(),
    ({ status }) => status === 'authorized',
  );
  return hold;
}

/** A card payment of 60.00 USD that goes into review at the risk provider, for `begin`. */
export async function reviewedInput(time: VirtualTime, overrides: object = {}) {
  await time.input();
  const input = await authorizeInput(time, undefined, { billingAddress: { email: 'manual-review-hub@email.com' } });
  return { ...input, ...overrides };
}

/** What the ledger says moved on one payment, oldest first: kind, status, amount and currency of each transaction. */
export async function ledgerRows(time: VirtualTime, paymentId: string | undefined): Promise<string[]> {
  const ledger = await time.sandbox.ledger();
  return ledger
    .filter(({ payment_id }) => payment_id === paymentId)
    .map(({ kind, status, amount, currency }) => `${kind} ${status} ${amount} ${currency}`);
}
