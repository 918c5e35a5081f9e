import type { Outbox } from '../kit/outbox.js';
import type { Run } from '../kit/run.js';
import type { MissedPeriods, ParsedSubscriptionInput } from '../../src/contract/subscription.js';
import type { FailureType } from '../../src/contract/names.js';
import type {
  BilledPeriod,
  ConfirmedRisk,
  SubscriptionAnswer,
  SubscriptionEnded,
  BillNow,
  CancelSubscription,
  ChangeCard,
  ChangePlan,
  ChangeTerms,
  Pause,
  RefundPeriod,
  Resume,
  SetAmount,
  SkipPeriod,
} from '../../src/contract/subscription-commands.js';
import type { AmountFrom } from '../../src/contract/subscription-amounts.js';
import type { Bill, BillingSchedule, ServicePeriod } from '../../src/contract/subscription-bills.js';
import type { SettleManually } from '../../src/contract/messages.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import type {
  AttemptResult,
  BillingPlan,
  DunningState,
  DunningStep,
  Period,
} from '../../src/contract/billing-activities.js';
import type { CardCap } from '../../src/contract/declines.js';
import { amountOf as amountAt } from '../../src/domain/bill-amounts.js';
import type { DeclinedTry } from '../../src/domain/card-tries.js';

/** A bill that is due and not paid. Times are epoch ms. */
export interface OpenPeriod {
  period: number;
  date: string;
  /** 0 as long as it is awaited. */
  amount: number;
  /** Epoch ms since which `setAmount` is awaited: before it no payment is started. */
  amountAwaited?: number;
  /** It came after the end that a cancel was told, or less than a day before: the bill is tried after that end. */
  amountIsLate?: true;
  /** Payments started so far; each has its own reference. */
  attempts: number;
  /** Epoch ms: when it is due, if it was opened before. */
  dueAt?: number;
  /** When the next period begins: two are never tried at the same time. */
  endsAt: number;
  state: DunningState;
  step: DunningStep;
  /** Token of the card of the last payment: the present one may be another. */
  triedWith?: string;
  /** Id of the command that has given the present card while it was open. */
  cardBy?: string;
  /** After a reset, epoch ms: when the payment that is joined next was to be made. */
  joinedFor?: number;
  /** How the last payment ended. */
  last?: { status: AttemptResult['status']; reference: string; confirmed?: false; brakedBy?: string };
  /** Payments of which the service has not said that they failed, by number: a reset of such a flow may show that it took the money. */
  unsure?: number[];
  /** Number of the payment in doubt, if it is not the last one. */
  doubtful?: number;
  confirmedRisks?: ConfirmedRisk[];
  /** What a person has to decide, in one sentence. */
  doubt?: string;
  /** Epoch ms since which nothing can be tried, because it is not known how the last payment ended. */
  doubtSince?: number;
  /** A pause was to give it up, but ended before that could be done. */
  drop?: true;
  /** An earlier run has started its last payment. */
  joined?: true;
  /** After a reset: payments before that one were made too, and Temporal has forgotten them. */
  forgotten?: true;
  /** It has moved to another build for its next payment: not once more, whatever a ramp does meanwhile. */
  moved?: true;
}

/**
 * How an attempt ended. `lost`: its flow was terminated, or another one has used its reference, and it is unknown whether
 * money moved. `joined`: an earlier run has started it, maybe with another card and amount; `token`: of that card, unless
 * the answer was recorded before it was read. `number`: of an earlier payment, followed again in place of the next one.
 */
export type Attempted =
  | { outcome: FinalStepOutcome; joined?: true; token?: string; number?: number }
  | { refused: string; number?: number }
  | { lost: string; token?: string; number?: number };

/** Terms that commands have changed. */
type Terms = Pick<ChangeTerms, 'dunning' | 'missedPeriods' | 'statementSoftDescriptor' | 'notices' | 'metadata'>;

interface Answered {
  commandId: string;
  name: SubscriptionCommand['name'];
  /** In canonical form (see `src/contract/idempotency.ts`). */
  request: string;
  answer: CommandAnswer;
}
export type Refusal = { refusal: string; type?: FailureType };
export type CommandAnswer = SubscriptionAnswer | Refusal;

interface Given<Name extends string, Request> {
  commandId: string;
  name: Name;
  request: Request;
  /** Epoch ms: when it was accepted. It may be begun much later. */
  at?: number;
  /** Accepted while card and customer could not be looked up: it holds as of `at`, before anything is billed. */
  beforeOpened?: true;
  /** A reset has given it again: it may have been refused, or over, before. */
  again?: true;
  answer?: CommandAnswer;
}
export type SubscriptionCommand =
  | Given<'pause', Pause>
  | Given<'resume', Resume>
  | Given<'changeCard', ChangeCard>
  | Given<'changePlan', ChangePlan>
  | Given<'skipPeriod', SkipPeriod>
  | Given<'setAmount', SetAmount>
  | Given<'changeTerms', ChangeTerms>
  | Given<'cancel', CancelSubscription>
  | Given<'billNow', BillNow>
  | Given<'refundPeriod', RefundPeriod>
  | Given<'settleManually', SettleManually>;

/** Version of the carried state: code that doesn't know it leaves the subscription to code that does. */
export const CARRIED_VERSION = 1;
/** With periods to be skipped: code of the first version would bill them. */
export const CARRIED_WITH_SKIPS = 2;
/** With what an earlier `billAll` has left: code of the others would bill the pause after it as well. */
export const CARRIED_WITH_BILL_ALL = 3;

/** The state carried from run to run: plain data, and small however long the subscription lives. */
export interface Carried {
  v: typeof CARRIED_VERSION | typeof CARRIED_WITH_SKIPS | typeof CARRIED_WITH_BILL_ALL;
  plan: BillingPlan;
  /** Of the last periods; 0 if metered. */
  amount: number;
  /** Amounts of periods below `before`, and not below the one before it; oldest first. */
  earlierAmounts?: { before: number; amount: number }[];
  supplied?: { period: number; amount: number }[];
  skipped?: number[];
  /** The last period whose notice was given. */
  noticed?: number;
  card: { token: string; consentTransactionId?: string; last4Digits?: string };
  /** The first period that is neither billed, nor missed, nor open. */
  next: number;
  open?: OpenPeriod;
  /** Beside an open bill: what comes after it, as far as that is known. */
  upcoming?: Period;
  /** `drop`: the bill that was open is given up as soon as no payment of it is under way. */
  /**
   * Epoch ms; `countedUntil`: `heldMs` contains the pause up to then, because a payment was under way; `until`: it
   * resumes by itself then; `doubt`: what a person has to decide before it is resumed, since when, and what of it is about a card.
   */
  paused?: {
    since: number;
    drop?: true;
    countedUntil?: number;
    until?: number;
    doubt?: { since: number; why: string; card?: string };
  };
  /** The policy for what came due during a pause, used once. */
  resumeWith?: MissedPeriods;
  /** Epoch ms: when that pause ended. */
  resumedAt?: number;
  /** See `Resumed.allUntil`. */
  billAllUntil?: number;
  cancelAtPeriodEnd?: true;
  /** The first period that it leaves unbilled, in the plan or after its last one; undefined if that is not known. */
  cancelFrom?: Period;
  /** It came when the plan was over: what is due or open is billed, and nothing else was to come. */
  cancelIsLate?: true;
  /** What commands have changed of the input, besides card and plan. */
  terms?: Terms;
  /** The state in which the previous bill was closed. */
  left?: DunningState;
  /** Of the last 30 days. */
  declinedTries?: DeclinedTry[];
  /** Tokens of the last cards with a hard decline, in lower case. */
  hardDeclined?: string[];
  /** As an activity has reported them; undefined until one has. */
  cardCaps?: CardCap[];
  /** With its days where the plan that they follow from is not kept. */
  billed: (BilledPeriod & Partial<ServicePeriod>)[];
  /** Periods that were closed without a payment. */
  unbilled?: Bill[];
  counts: { billed: number; unpaid: number; missed: number; skipped?: number };
  /** Only if the merchant is told anything. */
  telling?: Outbox;
  answered: Answered[];
  /** Refunds begun by command: a repeated command means the same payment, whatever was billed since. */
  refunding?: { commandId: string; payment: string; request?: string }[];
  /** Its disputed payments, oldest first: each has had its effect. */
  disputed?: string[];
  /** After a reset the service has said which of its last payments are disputed. */
  disputesRead?: true;
  /** Some run was made by a reset: `answered` lacks what was answered after the point of the reset. */
  afterReset?: true;
}

/**
 * The state carried while nothing is billed yet, because card and customer could not be looked up. It has its own
 * version: code that doesn't know it must not take such a subscription for one that was checked.
 */
export interface Unopened {
  v: typeof UNOPENED;
  /** Epoch ms, of the first run. */
  startedAt: number;
  tries: number;
  afterReset?: true;
  /** Commands that were accepted but not begun: executed before the first bill. None has an answer. */
  commands?: SubscriptionCommand[];
}
export const UNOPENED = 'unopened';

/** One subscription in one run. */
export interface Billing extends Run, Omit<Carried, 'v' | 'telling' | 'amount' | 'earlierAmounts' | 'upcoming'> {
  /** As in {@link BillingSchedule}. */
  amounts: AmountFrom[];
  /** With the terms as they are now. */
  input: ParsedSubscriptionInput;
  readonly businessUnit: string;
  /** Number of the last period that was billed before and elsewhere; 0 if there is none. */
  readonly billedThrough: number;
  upcoming: Period | undefined;
  /** Epoch ms, set once no further period comes: the end of what was paid for. */
  endsAt: number | undefined;
  readonly queue: SubscriptionCommand[];
  readonly commands: Map<string, SubscriptionCommand>;
  /** Epoch ms: when this run began to decide anew, if a reset has made it. */
  resetAt?: number;
  /** Id of the run, made by a reset, in which the calendar was asked last. */
  madeIn?: string;
  /** Set once the start has been checked. */
  opened: boolean;
  ended: SubscriptionEnded | undefined;
  /** As `disputesRead`, in this run, whether all could be read or not. */
  looked?: true;
  /** A period was closed in this run: the next period gets its own run. */
  closedOne: boolean;
  /** A `billNow` to be answered once its attempt is classified. */
  billing: SubscriptionCommand | undefined;
  /** `cancel` commands that end it now; answered with the end, once the result of a payment under way is known. */
  pendingEnd: { commands: SubscriptionCommand[]; cancelled: string } | undefined;
  /** Commands executed in this run. */
  worked: number;
  /** An attempt is under way. */
  attempting: boolean;
  /** It waits for a command or a time, with no call under way: here a long run continues as new. */
  canContinue: boolean;
  /** It is to run on the version that gets new work: it continues as new as soon as nothing is under way. */
  movesOn: boolean;
}

/** Whether it can say where it stands. */
export function isKnown({ ended, failure, upcoming, endsAt, open, paused, closedOne }: Billing): boolean {
  return closedOne || [ended, failure, upcoming, endsAt, open, paused].some((one) => one !== undefined);
}

/** The amount of a period; undefined if it is metered and not supplied yet. */
export function amountOf(flow: Billing, period: number): number | undefined {
  return amountAt(scheduleOf(flow), period);
}

/** By what the bills to come are foreseen. */
export function scheduleOf({
  plan,
  next,
  amounts,
  input,
  supplied,
  skipped,
  cancelAtPeriodEnd,
  ended,
  failure,
}: Billing): BillingSchedule {
  return {
    plan,
    next,
    amounts,
    ...(input.metered === true && { metered: true }),
    ...(supplied !== undefined && { supplied }),
    ...(skipped !== undefined && { skipped }),
    ...(cancelAtPeriodEnd === true && { cancelAtPeriodEnd }),
    ...((ended ?? failure) !== undefined && { ended: true }),
  };
}
