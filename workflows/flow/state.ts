import type { ChargeOutcome, FinalChargeOutcome } from '../../src/contract/charge.js';
import type { SettleManually, TransactionEvent } from '../../src/contract/messages.js';
import type { PaymentStatus, WaitingFor } from '../../src/contract/statuses.js';
import type { TransactionKind } from '../../src/contract/transaction.js';

/** What the main loop is told from outside; handlers only ever put letters in, they never act. */
export type Letter =
  { kind: 'event'; event: TransactionEvent } | { kind: 'retryNow' } | { kind: 'settle'; command: SettleCommand };

/** An operator's decision on its way through the main loop. */
export interface SettleCommand {
  readonly commandId: string;
  readonly request: SettleManually;
  answer?: { outcome: ChargeOutcome } | { refusal: string };
}

/** Everything a flow knows about itself; queries, search attributes and `explain` are drawn from it. */
export interface FlowState {
  readonly type: string;
  readonly workflowId: string;
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly businessUnit: string;
  readonly fingerprint: string;
  readonly kind: TransactionKind;
  readonly startedAt: number;
  /** Our client started it: no earlier run can exist under this id. */
  readonly startedByClient: boolean;

  status: PaymentStatus;
  waitingFor: WaitingFor;
  since: number;
  dueAt: number | undefined;
  needsOperator: string | undefined;
  /** `settleManually` is allowed: no POST is under way or backing off. */
  settleable: boolean;
  paymentId: string | undefined;
  transactionId: string | undefined;
  /** Named by an event before a read has shown it. */
  hintedTransactionId: string | undefined;
  /** On a payment that only an event has named so far (see `heed-event.ts`). */
  revealed: TransactionEvent | undefined;
  provider: string | undefined;
  redirectUrl: string | undefined;
  /** By what this run remembers; a task that was lost is not remembered (see `task-was-lost.ts`). */
  moneyPostMayHaveLeft: boolean;
  /** What the engine said, once it was asked. */
  taskLost: boolean | undefined;
  cancelRequested: boolean;
  /** The same, told by the engine itself. */
  isCancelled: () => boolean;
  /**
   * A local try is under way. Handlers give no answer meanwhile: on replay its result arrives together with
   * what came during it, so an answer in between would stand elsewhere in the replayed commands.
   */
  inLocalTry: boolean;
  attempts: number;
  readonly requestIds: string[];
  readonly mailbox: Letter[];
  readonly ignored: Record<string, number>;
  readonly commands: Map<string, SettleCommand>;
  outcome: FinalChargeOutcome | undefined;
  /** Set when the flow fails with a typed failure: open updates fail with it too. */
  failure: Error | undefined;
}

export interface FlowIdentity {
  type: string;
  workflowId: string;
  reference: string;
  amount: number;
  currency: string;
  businessUnit: string;
  fingerprint: string;
  kind: TransactionKind;
  startedAt: number;
  startedByClient: boolean;
}

export function newState(identity: FlowIdentity): FlowState {
  return {
    ...identity,
    status: 'started',
    waitingFor: 'provider',
    since: identity.startedAt,
    dueAt: undefined,
    needsOperator: undefined,
    settleable: false,
    paymentId: undefined,
    transactionId: undefined,
    hintedTransactionId: undefined,
    revealed: undefined,
    provider: undefined,
    redirectUrl: undefined,
    moneyPostMayHaveLeft: false,
    taskLost: undefined,
    cancelRequested: false,
    isCancelled: () => false,
    inLocalTry: false,
    attempts: 0,
    requestIds: [],
    mailbox: [],
    ignored: {},
    commands: new Map(),
    outcome: undefined,
    failure: undefined,
  };
}

/** Messages that change nothing are counted by reason, never dropped in silence. */
export function ignore(state: FlowState, reason: string): void {
  state.ignored[reason] = (state.ignored[reason] ?? 0) + 1;
}

const MAX_REQUEST_IDS = 10;

export function noteRequestId(state: FlowState, requestId: string | undefined): void {
  if (requestId === undefined || state.requestIds.includes(requestId)) return;
  state.requestIds.push(requestId);
  if (state.requestIds.length > MAX_REQUEST_IDS) state.requestIds.shift();
}

/** What `outcome` answers now: the final result, or honestly less. */
export function presentOutcome(state: FlowState): ChargeOutcome {
  if (state.outcome !== undefined) return state.outcome;
  const base = {
    reference: state.reference,
    amount: state.amount,
    currency: state.currency,
    ...(state.paymentId !== undefined && { paymentId: state.paymentId }),
    ...(state.transactionId !== undefined && { transactionId: state.transactionId }),
    waitingFor: state.waitingFor,
  };
  if (state.status !== 'pending') return { ...base, status: 'unknown' };
  return { ...base, status: 'pending', ...(state.redirectUrl !== undefined && { redirectUrl: state.redirectUrl }) };
}
