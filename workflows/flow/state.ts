import type { Authorized } from '../../src/contract/authorize.js';
import type { CarriedFrame } from '../../src/contract/carried.js';
import type {
  CaptureCommand,
  DecideReview,
  ReauthorizeCommand,
  RefundCommand,
  VoidCommand,
  SettleManually,
  TransactionEvent,
  FinalOutcome,
  Outcome,
} from '../../src/contract/messages.js';
import type { DeclineTable } from '../../src/contract/declines.js';
import type { FailureType, WorkflowType } from '../../src/contract/names.js';
import type { FinalStepOutcome, RiskVerdict, Succeeded } from '../../src/contract/outcome.js';
import type { ActionRecord } from '../../src/contract/payment-actions.js';
import type { Run } from '../kit/run.js';
import type { Guarded } from './guarded.js';
import type { TransactionDetails, TransactionKind } from '../../src/contract/records.js';
import type { HoldTerms, Retries } from '../../src/domain/hold.js';
import type { RefusedReads } from '../../src/domain/absence.js';
import type { EarlierRuns } from '../../src/domain/sent-before.js';

/** A message to the main loop; handlers only queue it. `seen`: the reason for the operator at that time. */
export type Message =
  | { kind: 'event'; event: TransactionEvent }
  | { kind: 'retryNow'; seen?: string; isOfDispute?: true }
  | { kind: 'settle'; command: SettleCommand };

/** `type` is the failure type of the refused update; default `StateConflict`. */
export interface Refusal {
  refusal: string;
  type?: FailureType;
}

interface CommandOf<Name extends string, Request> {
  readonly commandId: string;
  readonly name: Name;
  readonly request: Request;
  answer?: { outcome: Outcome } | Refusal;
  /** Epoch ms; undefined: a run of before took it. */
  readonly takenAt?: number;
  /** Of a decision: the operation that it was given for, as named by `operationOf`. */
  decides?: string;
}

/** An event that no other flow gets. */
export interface Unplaced {
  event: TransactionEvent;
  /** Set while the event's flow is not found. Epoch ms: first looked up at `since`, again at `nextAt`. */
  asked?: { times: number; since: number; nextAt: number };
}

/** An operator's decision, to be handled by the main loop. */
export type SettleCommand = CommandOf<'settleManually', SettleManually>;
export type ReviewCommand = CommandOf<'decideReview', DecideReview>;
/** A command that moves or releases money; the main loop executes one at a time. */
export type MoneyCommand =
  CommandOf<'capture', CaptureCommand> | CommandOf<'void', VoidCommand> | CommandOf<'refund', RefundCommand>;
export type VoidOf = Extract<MoneyCommand, { name: 'void' }>;

/** The voids of one pending operation: plain data, also for the run that continues the flow. */
export interface PendingVoids {
  /** Counts the voids of a flow: the sequence of their keys, and the ids of the transactions they made. */
  readonly count: { sequence: number; ids: string[] };
  /** Voids that were sent and have ended, without refused ones. */
  readonly sent: { command: VoidOf; sequence: number | string; outcome: FinalStepOutcome }[];
  /** Sequences of voids that an earlier run may have sent, although no list shows them yet. */
  readonly notFound: (number | string)[];
}

/** Reauthorizes a hold; only the flow that holds the money takes it. */
export type ReauthorizeRequest = CommandOf<'reauthorize', ReauthorizeCommand>;
export type QueuedCommand = MoneyCommand | ReviewCommand | ReauthorizeRequest;
export type Command = SettleCommand | QueuedCommand;
/** Commands that a flow may refuse because of the state of its money. */
export type RefusableName = (MoneyCommand | ReauthorizeRequest)['name'];
export type RefusableRequest = (MoneyCommand | ReauthorizeRequest)['request'];

/** One successful authorization, and how far its end has come. */
export interface Hold {
  readonly authorized: Succeeded;
  /** Epoch ms. */
  readonly authorizedAt: number;
  readonly terms: HoldTerms;
  readonly onDeadline: 'capture' | 'void';
  /** Why the hold must be released, whatever the deadline says. */
  mustVoid: 'cancel' | 'risk declined' | 'consent given' | 'reauthorize' | 'pendingDeadline' | undefined;
  /** `captureMode` `auto`: not captured yet, and when (epoch ms) it is tried again after a brake. */
  captureAtOnce: boolean;
  captureAgainAt?: number;
  retries: Pick<Retries, 'tries' | 'lastTryAt' | 'captureFailed'>;
  /** Ids of the captures and voids made so far; `sequences` are the last ones used in keys. */
  readonly captures: string[];
  readonly voids: string[];
  sequences: { capture: number; void: number };
  /** The last sequence of a void before the hold began. */
  readonly voidsBefore: number;
  /** A capture whose failure the provider never confirmed: nothing captures again, not even the deadline. */
  unconfirmedCapture: string | undefined;
  /** The service shows a capture, or an earlier run may have made one, and no list names it: a person must decide. `heldIfNone`: else it is held. */
  unlistedCapture?: boolean | 'heldIfNone';
  /** Epoch ms since when the payment is shown as captured, and no capture is listed that has succeeded. */
  noneListedSince?: number | undefined;
  /** A run made by a reset has read it, and has found it ended. */
  seenAfterReset?: true;
  foundEnded?: true;
  /** Set once such a run has found it, or the hold before it, ended. */
  sentBefore?: EarlierRuns;
  /** The capture that has succeeded. */
  captured?: string;
  /** The capture under way, and the transaction with its reference that an event has called `Succeed`. */
  capturing?: { reconciliationId: string; told?: string } | undefined;
  /** Of the holds before it: their captures, which have failed, and their payments. */
  readonly capturesBefore?: string[];
  readonly paymentsBefore?: string[];
  /** A run of this flow has sent the void that makes room for the next hold. */
  released?: true;
  /** A part that was certainly captured, while the rest of the hold is being released. */
  taken?: { transactionId: string; amount: number } | undefined;
  /** Looks since the hold must have expired; they set the poll delay while the service doesn't answer clearly. */
  looks: number;
  /** Epoch ms: when it was last known to be held, and when a read last showed so. */
  seenAt: number;
  heldAt?: number;
  /** It became known long after it may have been authorized, and has not been read since. */
  isLate: boolean;
  /** The run before a reset has made it, or an earlier flow, for which the reference book takes no other payment. */
  isFound?: true;
  ofEarlierFlow?: true;
  /** Reads of a late hold that were refused. */
  refusedLooks?: RefusedReads | undefined;
  /** Epoch ms: when to void again a hold that is still held after its expiry. */
  nextVoidAt: number;
  /** From 1: the number of the hold in the flow, which is the sequence of its authorization. */
  readonly number: number;
  /** How many reauthorizations are left; undefined if its card is not on file. */
  readonly reauthorizationsLeft: number | undefined;
  /** How many of them the deadline may start. */
  readonly reauthorizationsAtDeadline: number;
  /** The command that asked for the reauthorization. */
  reauthorization: ReauthorizeRequest | undefined;
}

/** How a flow continues from run to run (see `continue.ts`). */
interface Continuing {
  /** The workflow's input, exactly as it came. */
  readonly startedWith: unknown;
  /** From 1. */
  runs: number;
  /** Accepted updates that are not answered yet. */
  waiting: number;
  /** The run continues as new at its next wait. */
  isLong: boolean;
  /** This run has got beyond its first wait. */
  cameForward: boolean;
  /** Epoch ms: the next wait ends by then, because it goes on with one that was interrupted, or ended with its run. */
  waitsUntil: number | undefined;
  /** Epoch ms: the end of the last wait. */
  waitedUntil?: number | undefined;
  /** The calls of the flow's program that are under way, outermost first (see `resumable`). */
  readonly frames: CarriedFrame[];
  /** Frames of the previous run that this run has not reached yet. */
  readonly toResume: CarriedFrame[];
}

/** Everything a flow knows about itself. A field is carried to the next run: plain data, or named in `NOT_CARRIED`. */
export interface FlowState extends Run, Continuing, Guarded {
  readonly type: WorkflowType;
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  /** The payment's unit: a risk-analysed payment is created under the unit's risk unit. */
  businessUnit: string;
  /** Environment and app id of the payment, reported by the worker that created it or read it first. */
  madeUnder?: string | undefined;
  readonly startedAt: number;
  /** Our client started it: no earlier run can exist under this id. */
  readonly startedByClient: boolean;
  /** Its first calls are tried inside its first workflow task (money rule 7; measured: see docs/decisions/0001). */
  readonly localFirst: boolean;
  /** Its charge or authorization is the card's first card-on-file transaction. */
  readonly consents?: boolean;
  /** What its business unit says of declines, as an activity has reported. */
  declines?: DeclineTable;

  /** What the call under way is about: only `storeCard` calls about more than a payment. */
  callsAbout: 'customer' | 'payment' | 'card';
  /** `settleManually` is allowed: no POST is under way or backing off. */
  settleable: boolean;
  /** The decision may name an amount. */
  settlesAmount?: boolean;
  paymentId: string | undefined;

  /** The operation under way: the fields down to `attempts` are reset for each one (see `beginStep`). */
  kind: StepKind;
  /** Minor units. */
  stepAmount: number;
  stepStartedAt: number;
  transactionId: string | undefined;
  /** Transactions of the same kind by other operations: events about them are not news of this one. */
  otherTransactionIds: readonly string[];
  /** Named by an event before a read has shown it. */
  hintedTransactionId: string | undefined;
  /** Signed events that named one and state its end: one counts where reads are never possible, and all at the end of the flow. */
  hints?: TransactionEvent[];
  /** Transactions that an earlier run may have made (see `onlyMatch` of the activities): absence is not proven. */
  ambiguousIds: readonly string[];
  /** By kind: lists that the service refuses because it doesn't offer them (money rule 6). */
  readonly refusedLists: Partial<Record<StepKind, RefusedReads>>;
  /** The same for reads of single transactions. */
  readonly refusedGets: Partial<Record<StepKind, RefusedReads>>;
  /** The consent id of the first answer that named one, in case it can't be read back; others may show their own. */
  consent?: { transactionId: string; id: string };
  /** A signed event that named our payment before anything else did (see `handleEvent`). */
  revealed: TransactionEvent | undefined;
  provider: string | undefined;
  /** The provider's details of it so far. */
  details: TransactionDetails | undefined;
  redirectUrl: string | undefined;
  /** How long a redirected buyer has to come back: until then (epoch ms), and the limit (ms). */
  redirectUntil: number | undefined;
  redirectLimitMs: number;
  /** The service offered no read of the payment before the operation under way (money rule 8). */
  notLooked: boolean;
  /** As far as this run remembers; it doesn't remember a lost task (see `taskWasLost`). */
  moneyPostMayHaveLeft: boolean;
  /** Its input came unencrypted: anybody with access to Temporal may have written it. */
  startedInClear: boolean;
  /** The engine's answer; undefined until asked. */
  taskLost: boolean | undefined;
  /** A read has said that a restore may have lost what the flow did. */
  mayBeLost?: true;
  /** Epoch ms: what was taken from then on was not lost. */
  doubtUntil?: number;
  cancelRequested: boolean;
  attempts: number;
  /** Epoch ms: when a regular activity last had an answer to a POST of this run that took longer than `SLOW_CALL_MS`. */
  slowAnswerAt?: number;
  readonly requestIds: string[];
  readonly inbox: Message[];
  /** What the messages of the present task change, in order of arrival, once all are in (see `arrivals.ts`). */
  readonly arrivals: Readonly<Record<'signal' | 'update', (() => void)[]>>;
  /** Events that settle the operation being voided: there may be no second event about it, and no read. */
  readonly aside: Message[];
  /** Events that no other flow gets, for when no command is under way (see `placeEvents`). */
  readonly unplaced?: Unplaced[];
  readonly commands: Map<string, Command>;
  /** Why the last attempt was not sent, of a flow that waits for `brake`. */
  brakedBy?: string;
  /** Commands that the main loop has not begun, in order of arrival. */
  readonly queue: QueuedCommand[];
  /** Executed commands, for callers that repeat one after the end. */
  readonly actions: ActionRecord[];
  /** Those of the flow that made the payment, as they were last read. */
  creatorsActions?: ActionRecord[];
  /** A `void` is kept: it is not known yet whether money is held (money rule 8). */
  keepsVoid: boolean;
  /** Wakes the operation under way when a `void` comes, once. */
  tellOfVoid: boolean;
  /** Set if the pending operation may be voided by command: what its voids have done so far. */
  voidable: PendingVoids | undefined;
  /** The pending operation while its void is executed: an operator's decision may mean either. */
  beingVoided: { kind: StepKind; transactionId: string | undefined } | undefined;
  /** Why an operator has to look although the flow has ended. */
  lasting: string | undefined;
  /** The main loop is executing a command, or what the deadline requires; `looks`: it reads, and what comes meanwhile waits. */
  busy: boolean | 'looks';
  /** Why a command can't be taken now; `undefined` takes it. */
  refuses: (flow: FlowState, name: RefusableName, request: RefusableRequest) => Refusal | undefined;
  /** Looks into a chargeback that was seen, whatever is under way. */
  lookBeside?: () => Promise<void>;
  /** The present hold, or the last one. */
  hold: Hold | undefined;
  /** Captures that a signed event has called `Succeed`, and those of them that no read of the hold has begun after. */
  toldCaptured?: string[];
  toldSinceRead?: string[];
  /** What `outcome` answers while the money is held. */
  held: Pick<Authorized, 'captureBy' | 'heldUntil'> | undefined;
  risk: RiskVerdict | undefined;
  outcome: FinalOutcome | undefined;
}

/** The resource that events of the operation under way are about. */
export type StepKind = TransactionKind | 'risk-analysis';

const MAX_REQUEST_IDS = 10;

export function noteRequestId(state: FlowState, requestId: string | undefined): void {
  if (requestId === undefined || state.requestIds.includes(requestId)) return;
  state.requestIds.push(requestId);
  if (state.requestIds.length > MAX_REQUEST_IDS) state.requestIds.shift();
}

/** Notes what the payment's business unit says of declines. */
export function noteDeclines(state: FlowState, { declines }: { declines?: DeclineTable }): void {
  if (declines !== undefined) state.declines = declines;
}
