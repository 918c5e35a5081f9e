import type { Authorized } from '../../src/contract/authorize.js';
import type { CarriedStage } from '../../src/contract/carried.js';
import type {
  CaptureCommand,
  DecideReview,
  ReauthorizeCommand,
  RefundCommand,
  VoidCommand,
} from '../../src/contract/commands.js';
import type { FailureType } from '../../src/contract/failure-types.js';
import type { SettleManually, TransactionEvent } from '../../src/contract/messages.js';
import type { FinalStepOutcome, RiskVerdict, Succeeded } from '../../src/contract/outcome.js';
import type { FinalOutcome, Outcome } from '../../src/contract/outcomes.js';
import type { ActionRecord } from '../../src/contract/payment-actions.js';
import type { PaymentStatus, WaitingFor } from '../../src/contract/statuses.js';
import type { TransactionDetails, TransactionKind } from '../../src/contract/transaction.js';
import type { HoldTerms, Pursuit } from '../../src/domain/hold.js';
import type { RefusedReads } from '../../src/domain/refused-reads.js';

/** What the main loop is told from outside; handlers only put letters in. `seen`: why a person was to look by then. */
export type Letter =
  | { kind: 'event'; event: TransactionEvent }
  | { kind: 'retryNow'; seen?: string }
  | { kind: 'settle'; command: SettleCommand };

/** `type` is the failure that the update fails with; default `StateConflict`. */
export interface Refusal {
  refusal: string;
  type?: FailureType;
}

interface CommandOf<Name extends string, Request> {
  readonly commandId: string;
  readonly name: Name;
  readonly request: Request;
  answer?: { outcome: Outcome } | Refusal;
  /** Of a decision: the operation that it was given for, as `operationOf` names it. */
  decides?: string;
}

/** An event that nobody else hears of. */
export interface Unplaced {
  event: TransactionEvent;
  /** Nobody could say yet whose it is. Epoch ms: first asked `since`, asked again at `nextAt`. */
  asked?: { times: number; since: number; nextAt: number };
}

/** An operator's decision on its way through the main loop. */
export type SettleCommand = CommandOf<'settleManually', SettleManually>;
export type ReviewCommand = CommandOf<'decideReview', DecideReview>;
/** What moves money or lets it go, worked off one at a time by the main loop. */
export type MoneyCommand =
  CommandOf<'capture', CaptureCommand> | CommandOf<'void', VoidCommand> | CommandOf<'refund', RefundCommand>;
export type VoidOf = Extract<MoneyCommand, { name: 'void' }>;

/** The voids of one operation that pends: plain data, also for the run that goes on with the flow. */
export interface PendingVoids {
  /** How the voids of a flow are counted: their keys, and the transactions they have made. */
  readonly count: { sequence: number; ids: string[] };
  /** Those that were sent and have ended, refusals left out. */
  readonly sent: { command: VoidOf; sequence: number | string; outcome: FinalStepOutcome }[];
  /** Sequences of those of which an earlier run may have sent one, although no list shows it yet. */
  readonly notFound: (number | string)[];
}

/** Makes a hold anew; only the flow that holds the money takes it. */
export type RenewCommand = CommandOf<'reauthorize', ReauthorizeCommand>;
export type QueuedCommand = MoneyCommand | ReviewCommand | RenewCommand;
export type Command = SettleCommand | QueuedCommand;
/** What a flow may refuse by what it knows of its money. */
export type RefusableName = (MoneyCommand | RenewCommand)['name'];
export type RefusableRequest = (MoneyCommand | RenewCommand)['request'];

/** One authorization that has succeeded, and how far its end has been pursued. */
export interface Hold {
  readonly authorized: Succeeded;
  /** Epoch ms. */
  readonly authorizedAt: number;
  readonly terms: HoldTerms;
  readonly onDeadline: 'capture' | 'void';
  /** Why it has to be let go, whatever the deadline says. */
  mustVoid: 'cancel' | 'risk declined' | 'consent given' | 'reauthorize' | undefined;
  /** `captureMode` `auto`: not captured yet. */
  captureAtOnce: boolean;
  pursuit: Pick<Pursuit, 'tries' | 'lastTryAt' | 'captureFailed'>;
  /** Intents so far, and the transactions they made, by operation. */
  readonly captures: string[];
  readonly voids: string[];
  sequences: { capture: number; void: number };
  /** A capture whose failure the provider never confirmed: nothing captures again, not even the deadline. */
  unconfirmedCapture: string | undefined;
  /** Captured as the service shows it, or perhaps by a run before a reset, and no list says by what: only a person can tell. */
  unlistedCapture?: boolean;
  /** A run made by a reset has looked at it. */
  seenAfterReset?: true;
  /** A part that was surely captured, while what that has left is being let go. */
  taken?: { transactionId: string; amount: number } | undefined;
  /** Since the hold must have lapsed, without an answer of the service. */
  looks: number;
  /** Epoch ms: when it was last known to be held. */
  seenAt: number;
  /** It became known long after it may have been authorized, and has not been looked at since. */
  isLate: boolean;
  /** Epoch ms: of a hold that outlives its end. */
  nextVoidAt: number;
  /** From 1: which hold of the flow this is, and so the sequence of its authorization. */
  readonly number: number;
  /** How often it may yet be made anew; undefined where its card is not on file. */
  readonly renewals: number | undefined;
  /** How often the deadline may yet do so. */
  readonly renewalsAtDeadline: number;
  /** Who has asked for it. */
  renewal: RenewCommand | undefined;
}

/** How a flow goes on from run to run (see `continue.ts`). */
interface Continuing {
  /** What the workflow was started with, as it came. */
  readonly startedWith: unknown;
  /** From 1. */
  runs: number;
  /** Accepted by this run, and of these not answered yet. */
  updatesTaken: number;
  waiting: number;
  /** It goes on in the next one as soon as it waits. */
  isLong: boolean;
  /** This run has done more than to wait. */
  cameForward: boolean;
  /** Epoch ms: when the wait ends in which the run before has ended. */
  waitsUntil: number | undefined;
  /** The run ends, and the next one goes on: who waits for an answer is told where it stands. */
  leaving: boolean;
  /** The calls of the flow's program that are under way, outermost first (see `stages.ts`). */
  readonly stages: CarriedStage[];
  /** Those of the run before that this one has not come to yet. */
  readonly toTakeUp: CarriedStage[];
}

/**
 * Everything a flow knows about itself; queries, search attributes and `explain` are drawn from it. A field that is
 * added goes along when the flow continues as new, so it must be plain data, or stand in `NOT_CARRIED`.
 */
export interface FlowState extends Continuing {
  readonly type: string;
  readonly workflowId: string;
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  /** Of the payment: a risk-analysed one is created under the unit's risk unit. */
  businessUnit: string;
  /** Of the payment: environment and app id, told by the worker that made it, or read it first. */
  madeUnder?: string | undefined;
  readonly fingerprint: string;
  readonly startedAt: number;
  /** Our client started it: no earlier run can exist under this id. */
  readonly startedByClient: boolean;
  /** Its charge or authorization is the card's first card-on-file transaction. */
  readonly consents?: boolean;

  status: PaymentStatus;
  waitingFor: WaitingFor;
  /** What a call that is under way is about: only `storeCard` asks for more than a payment. */
  callsAbout: 'customer' | 'payment' | 'card';
  since: number;
  dueAt: number | undefined;
  needsOperator: string | undefined;
  /** `settleManually` is allowed: no POST is under way or backing off. */
  settleable: boolean;
  /** The decision may name an amount. */
  settlesAmount?: boolean;
  paymentId: string | undefined;

  /** The operation under way: what follows down to `attempts` is begun anew for each (see `begin-step.ts`). */
  kind: StepKind;
  /** Minor units. */
  stepAmount: number;
  stepStartedAt: number;
  transactionId: string | undefined;
  /** Of the same kind, made by other intents: no event about one of them is news of this operation. */
  otherTransactionIds: readonly string[];
  /** Named by an event before a read has shown it. */
  hintedTransactionId: string | undefined;
  /** The signed event that named it, where it says how it ended: it counts where no read ever can. */
  hintedBy?: TransactionEvent;
  /** Transactions that an earlier run may have made (see `oursAmong` of the activities); their absence proves nothing. */
  couldBeOurs: readonly string[];
  /** By kind: lists that the service refuses, as one that does not offer them (money rule 6). */
  readonly refusedLists: Partial<Record<StepKind, RefusedReads>>;
  /** The same of single transactions. */
  readonly refusedGets: Partial<Record<StepKind, RefusedReads>>;
  /** Of the first transaction whose answer named a consent, for where it can't be read back. Others may show an id of theirs. */
  consent?: { transactionId: string; id: string };
  /** On a payment that only an event has named so far (see `heed-event.ts`). */
  revealed: TransactionEvent | undefined;
  provider: string | undefined;
  /** What the provider said of it so far. */
  details: TransactionDetails | undefined;
  redirectUrl: string | undefined;
  /** Epoch ms: how long the buyer has who was sent there. */
  redirectUntil: number | undefined;
  /** ms. */
  redirectLimitMs: number;
  /** The service offered no read of the payment before the operation under way (money rule 8). */
  notLooked: boolean;
  /** By what this run remembers; a task that was lost is not remembered (see `task-was-lost.ts`). */
  moneyPostMayHaveLeft: boolean;
  /** Its input came without encryption: anybody may have written it who can reach Temporal. */
  startedInClear: boolean;
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
  /** What settles the operation that is being voided: there may be no second event about it, and no read. */
  readonly aside: Letter[];
  /** Events that nobody else hears of, for when no command is under way (see `place-events.ts`). */
  readonly unplaced?: Unplaced[];
  readonly ignored: Record<string, number>;
  readonly commands: Map<string, Command>;
  /** Commands that the main loop has not begun yet, in the order in which they came. */
  readonly queue: QueuedCommand[];
  /** Commands that have been carried out, for whoever repeats one after the end. */
  readonly actions: ActionRecord[];
  /** A `void` that comes is kept: it is not known yet whether money is held (money rule 8). */
  keepsVoid: boolean;
  /** The operation under way looks at once when a `void` comes; it is told once. */
  tellOfVoid: boolean;
  /** What pends may be voided on command, and this is what has come of it so far. */
  voidable: PendingVoids | undefined;
  /** What pends while its void is carried out: an operator's word may mean the one or the other. */
  beingVoided: { kind: StepKind; transactionId: string | undefined } | undefined;
  /** Why a person is to look although the flow has ended. */
  lasting: string | undefined;
  /** The main loop is at work on a command, or on what the deadline asks for. */
  busy: boolean;
  /** Why a command can't be taken now; `undefined` takes it. */
  refuses: (flow: FlowState, name: RefusableName, request: RefusableRequest) => Refusal | undefined;
  /** The hold that stands, or stood last. */
  hold: Hold | undefined;
  /** What `outcome` answers while the money is held. */
  held: Pick<Authorized, 'captureBy' | 'heldUntil'> | undefined;
  risk: RiskVerdict | undefined;
  outcome: FinalOutcome | undefined;
  /** Set when the flow fails with a typed failure: open updates fail with it too. */
  failure: Error | undefined;
}

/** The resource that events of the operation under way speak of. */
export type StepKind = TransactionKind | 'risk-analysis';

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
