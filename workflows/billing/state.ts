import { inResetRun } from '../flow/start-guard.js';
import type { MissedPeriods, ParsedSubscriptionInput } from '../../src/contract/subscription.js';
import type { FailureType } from '../../src/contract/failure-types.js';
import type {
  BilledPeriod,
  ConfirmedRisk,
  SubscriptionAnswer,
  SubscriptionEnded,
} from '../../src/contract/subscription-outcome.js';
import type { SettleManually } from '../../src/contract/messages.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import type {
  BillNow,
  CancelSubscription,
  ChangeCard,
  ChangePlan,
  Pause,
  RefundPeriod,
  Resume,
} from '../../src/contract/subscription-commands.js';
import type { PaymentStatus, WaitingFor } from '../../src/contract/statuses.js';
import type {
  AttemptResult,
  BillingPlan,
  DunningState,
  DunningStep,
  Notice,
  Period,
} from '../../src/contract/billing-activities.js';
import type { DeclinedTry } from '../../src/domain/card-tries.js';
import { declinedTriesAt } from '../../src/domain/card-tries.js';

/** A bill that is due and not paid. Times are epoch ms. */
export interface OpenPeriod {
  period: number;
  date: string;
  amount: number;
  /** Payments started so far: each has a reference of its own. */
  attempts: number;
  /** The next period begins: two are never tried side by side. */
  endsAt: number;
  state: DunningState;
  step: DunningStep;
  /** How the last payment ended. */
  last?: { status: AttemptResult['status']; reference: string; confirmed?: false };
  confirmedRisks?: ConfirmedRisk[];
  /** What has to be decided by a person, in one sentence. */
  doubt?: string;
  /** A pause was to give it up, and was over before that could be done. */
  drop?: true;
}

/** How an attempt ended. `lost`: its flow was terminated, and nobody knows what it has moved. */
export type Attempted = { outcome: FinalStepOutcome } | { refused: string } | { lost: string };

/** `refused`: until when (epoch ms) it lets the others go first, and what the merchant's address has answered. */
export interface KeptNotice extends Notice {
  refused?: { until: number; why: string };
}

interface Answered {
  commandId: string;
  name: SubscriptionCommand['name'];
  /** In one form, whoever wrote it (see `src/contract/canonical.ts`). */
  request: string;
  answer: CommandAnswer;
}
export type Refusal = { refusal: string; type?: FailureType };
export type CommandAnswer = SubscriptionAnswer | Refusal;

interface Given<Name extends string, Request> {
  commandId: string;
  name: Name;
  request: Request;
  answer?: CommandAnswer;
}
export type SubscriptionCommand =
  | Given<'pause', Pause>
  | Given<'resume', Resume>
  | Given<'changeCard', ChangeCard>
  | Given<'changePlan', ChangePlan>
  | Given<'cancel', CancelSubscription>
  | Given<'billNow', BillNow>
  | Given<'refundPeriod', RefundPeriod>
  | Given<'settleManually', SettleManually>;

/** Of what goes from run to run: code that does not know it leaves the subscription to code that does. */
export const CARRIED_VERSION = 1;

/** What goes from run to run: plain data, and small however long the subscription lives. */
export interface Carried {
  v: typeof CARRIED_VERSION;
  plan: BillingPlan;
  amount: number;
  /** What the plan cost for periods before one: those that were due when it was changed, oldest first. */
  earlierAmounts?: { before: number; amount: number }[];
  card: { token: string; consentTransactionId?: string; last4Digits?: string };
  /** The first period that is neither billed, nor missed, nor open. */
  next: number;
  open?: OpenPeriod;
  /** `drop`: the bill that was open is given up as soon as nothing of it is under way. */
  /** Epoch ms; `countedUntil`: up to then `heldMs` has it already, since a payment was under way. */
  paused?: { since: number; drop?: true; countedUntil?: number };
  /** For what came due during a pause, once. */
  resumeWith?: MissedPeriods;
  /** Epoch ms: when that pause ended. */
  resumedAt?: number;
  cancelAtPeriodEnd?: true;
  /** In which the bill before was left. */
  left?: DunningState;
  /** Of the last 30 days. */
  declinedTries?: DeclinedTry[];
  billed: BilledPeriod[];
  counts: { billed: number; unpaid: number; missed: number; notices: number; givenUpNotices: number };
  outbox: KeptNotice[];
  answered: Answered[];
  /** Whose answer is open yet: asked again, such a command means the same payment, whatever was billed since. */
  refunding?: { commandId: string; payment: string; request?: string }[];
  /** Some run was made by a reset: what was answered after the point it went back to is not in `answered`. */
  afterReset?: true;
}

/**
 * What goes from run to run while nothing is billed yet, since card and customer could not be looked up. Of a version of its
 * own: code that does not know it must not take such a subscription for one that was found right.
 */
export interface Unopened {
  v: typeof UNOPENED;
  /** Epoch ms, of the first run. */
  startedAt: number;
  tries: number;
  afterReset?: true;
  /** Accepted, and not begun yet: done before the first bill. None has an answer. */
  commands?: SubscriptionCommand[];
}
export const UNOPENED = 'unopened';

/** One subscription in one run. */
export interface Billing extends Carried {
  readonly input: ParsedSubscriptionInput;
  readonly workflowId: string;
  readonly fingerprint: string;
  /** For the search attributes; `amount` above is that of the next period. */
  status: PaymentStatus;
  waitingFor: WaitingFor;
  needsOperator: string | undefined;
  since: number;
  dueAt: number | undefined;
  upcoming: Period | undefined;
  /** Epoch ms, once no further period comes: what was paid for lasts until then. */
  endsAt: number | undefined;
  readonly queue: SubscriptionCommand[];
  readonly commands: Map<string, SubscriptionCommand>;
  isCancelled: () => boolean;
  /** Set once the run has been checked and works. */
  opened: boolean;
  ended: SubscriptionEnded | undefined;
  failure: Error | undefined;
  /** A period was closed in this run: the next one gets a run of its own. */
  closedOne: boolean;
  /** The calendar is being asked inside a task: an answer given now could be lost with it. */
  inLocalCall: boolean;
  /** `billNow` that is answered once its attempt is judged. */
  billing: SubscriptionCommand | undefined;
  /** `cancel` now, which is answered with the end: once it is known what a payment under way has done. */
  pendingEnd: { commands: SubscriptionCommand[]; cancelled: string } | undefined;
  /** Commands done in this run. */
  worked: number;
  /** An attempt is under way. */
  attempting: boolean;
  /** Questions and commands that this run has accepted. */
  updatesTaken: number;
  /** It waits for a command or a time, and no call is under way: there it goes on in the next run once it has become long. */
  canGiveWay: boolean;
  ignored: Record<string, number>;
  /** It goes on in the next run, unopened yet: whoever waits is told so, since a run does not end under a handler. */
  leaving: boolean;
}

/** What a period costs. */
export function amountOf({ amount, earlierAmounts = [] }: Carried, period: number): number {
  return earlierAmounts.find(({ before }) => period < before)?.amount ?? amount;
}

function withEarlierAmounts({ next, earlierAmounts = [] }: Carried): Pick<Carried, 'earlierAmounts'> {
  const left = earlierAmounts.filter(({ before }) => before > next);
  return left.length === 0 ? {} : { earlierAmounts: left };
}

function withDeclinedTries(flow: Carried): Pick<Carried, 'declinedTries'> {
  const declinedTries = declinedTriesAt(flow.declinedTries, Date.now());
  return declinedTries.length === 0 ? {} : { declinedTries };
}

/** More than a year of daily ones, and decades of monthly ones. */
const KEPT_BILLS = 400;
const KEPT_COMMANDS = 100;
/** More is a merchant's address that is gone for good. */
export const KEPT_NOTICES = 50;

export function carriedOf(flow: Billing): Carried {
  const { plan, amount, card, next, open, paused, resumeWith, resumedAt, cancelAtPeriodEnd, left, counts, outbox } =
    flow;
  const afterReset = flow.afterReset === true || inResetRun();
  // A refund given again after a reset may have come before its period was billed anew: that refusal is not for ever.
  const answered = flow.answered.filter(
    ({ name, answer }) => !(afterReset && name === 'refundPeriod' && 'refusal' in answer),
  );
  return {
    v: CARRIED_VERSION,
    plan,
    amount,
    ...withEarlierAmounts(flow),
    card,
    next,
    ...(open !== undefined && { open }),
    ...(paused !== undefined && { paused }),
    ...(resumeWith !== undefined && { resumeWith, ...(resumedAt !== undefined && { resumedAt }) }),
    ...(cancelAtPeriodEnd !== undefined && { cancelAtPeriodEnd }),
    ...(left !== undefined && { left }),
    ...withDeclinedTries(flow),
    billed: flow.billed.slice(-KEPT_BILLS),
    counts,
    outbox: outbox.slice(-KEPT_NOTICES),
    answered: answered.slice(-KEPT_COMMANDS),
    ...(flow.refunding !== undefined && { refunding: flow.refunding.slice(-KEPT_COMMANDS) }),
    ...(afterReset && { afterReset }),
  };
}
