import { z } from 'zod';
import { freeText } from './card-data.js';
import { amountSchema, currencySchema, instantSchema, uuidSchema } from './fields.js';
import type { FinalStepOutcome, Unknown } from './outcome.js';
import { type InputOf, SharedSchema } from './shared-schema.js';
import { calendarDateSchema, dunningSchema, intervalSchema, localTimeSchema, MISSED_PERIODS } from './subscription.js';

const personSchema = freeText(200, z.string().trim());
const periodSchema = z.int().min(1).max(99_999);

/** Fields of every command. A repeated `commandId` acts once. */
const commandFields = {
  commandId: z.string().min(1).max(200).optional(),
  who: personSchema.optional(),
  why: personSchema.optional(),
};

/** Argument of update `pause`: no bill is sent until `resume`. A charge in progress continues to its end. */
export const pauseSchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    /** What happens to a past-due period: `hold` retries it after `resume`, `drop` gives it up unpaid. */
    openPeriod: z.enum(['hold', 'drop']).default('hold'),
    /** Instant with its zone, such as 2027-06-01T08:00:00Z: it resumes by itself then. Default: by command only. */
    until: instantSchema.zod.optional(),
  }),
);
export type Pause = InputOf<typeof pauseSchema>;

/** Argument of update `resume`. */
export const resumeSchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    /**
     * What happens to periods that came due during the pause. By default, only a period of the last 24 hours is billed,
     * plus periods left over from an earlier `billAll`.
     */
    missedPeriods: z.enum(MISSED_PERIODS).optional(),
  }),
);
export type Resume = InputOf<typeof resumeSchema>;

/** Argument of update `changeCard`: applies from the next attempt on. If past due, that attempt is made at once. */
export const changeCardSchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    token: uuidSchema.zod,
    /** Consent id of the new card, if the unit's providers expect one. The old card's id is never sent with it. */
    consentTransactionId: z.string().min(1).max(255).optional(),
  }),
);
export type ChangeCard = InputOf<typeof changeCardSchema>;

/** Argument of update `changePlan`: applies from the first period that is not due yet. The currency never changes. */
export const changePlanSchema = new SharedSchema(
  z
    .strictObject({
      ...commandFields,
      amount: amountSchema.zod.optional(),
      interval: intervalSchema.zod.optional(),
      billAt: localTimeSchema.zod.optional(),
    })
    .refine((plan) => plan.amount !== undefined || plan.interval !== undefined || plan.billAt !== undefined, {
      error: 'changes nothing: give an amount, an interval or a billAt',
    }),
);
export type ChangePlan = InputOf<typeof changePlanSchema>;

/**
 * Argument of update `changeTerms`: what is neither card nor plan. It holds from now on, for the open bill as well; what
 * is not given stays. A `dunning` replaces all of the one before: its fields that are not given have their defaults.
 */
export const changeTermsSchema = new SharedSchema(
  z
    .strictObject({
      ...commandFields,
      dunning: dunningSchema.zod.optional(),
      missedPeriods: z.enum(MISSED_PERIODS).optional(),
      statementSoftDescriptor: z.string().min(1).max(255).optional(),
      /** Ends after this many periods, in place of any earlier end. */
      periods: periodSchema.optional(),
      /** No period begins on this day or later, in place of any earlier end. */
      endsOn: calendarDateSchema.zod.optional(),
    })
    .refine(({ periods, endsOn }) => periods === undefined || endsOn === undefined, {
      error: 'endsOn: give either periods or endsOn, not both',
    })
    .refine(
      ({ commandId: _id, who: _who, why: _why, ...terms }) => Object.values(terms).some((term) => term !== undefined),
      {
        error: 'changes nothing: give dunning, missedPeriods, statementSoftDescriptor, periods or endsOn',
      },
    ),
);
export type ChangeTerms = InputOf<typeof changeTermsSchema>;

/** Argument of update `cancel` of a subscription. */
export const cancelSubscriptionSchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    /**
     * `now` gives up an unpaid period; `periodEnd` stops billing when the current period ends; `undo` takes such a
     * `periodEnd` back, as long as it has not ended.
     */
    when: z.enum(['now', 'periodEnd', 'undo']),
  }),
);
export type CancelSubscription = InputOf<typeof cancelSubscriptionSchema>;

/** Argument of update `billNow`. It names its period, so that a repeated or late command can't bill another one. */
export const billNowSchema = new SharedSchema(
  z
    .strictObject({
      ...commandFields,
      period: periodSchema,
      /**
       * Confirms billing although an earlier payment of the period failed unconfirmed, so may have taken the money.
       * Requires `who` and `why`, which are kept with the bill.
       */
      confirmRisk: z.literal(true).optional(),
    })
    .superRefine(({ confirmRisk, who, why }, context) => {
      if (confirmRisk !== true) return;
      for (const [name, value] of Object.entries({ who, why })) {
        if (value !== undefined) continue;
        const message = 'is needed with confirmRisk: the period may be billed twice';
        context.addIssue({ code: 'custom', path: [name], message, input: value });
      }
    }),
);
export type BillNow = InputOf<typeof billNowSchema>;

/** Argument of update `refundPeriod`. */
export const refundPeriodSchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    /** Defaults to the period billed last. */
    period: periodSchema.optional(),
    /** Minor units. Defaults to what is left of the period's amount. */
    amount: amountSchema.zod.optional(),
    /** Currency of the amount; refused if the subscription bills in another one. */
    currency: currencySchema.zod.optional(),
  }),
);
export type RefundPeriod = InputOf<typeof refundPeriodSchema>;

/** An operator billed a period although an earlier payment of it may have taken the money. */
export interface ConfirmedRisk {
  /** Reference of the payment whose failure was never confirmed. */
  payment: string;
  who: string;
  why: string;
  /** ISO 8601 UTC. */
  at: string;
}

/** Minor units; times are ISO 8601 UTC. */
export interface BilledPeriod {
  period: number;
  /** Reference of the payment, by which its flow and ledger entries are found. */
  paymentReference: string;
  paymentId?: string;
  amount: number;
  billedAt: string;
  confirmedRisks?: ConfirmedRisk[];
}

/** A bill that is due and unpaid. */
export interface OpenBill {
  period: number;
  /** Calendar day in the subscription's time zone. */
  date: string;
  amount: number;
  /** Number of payment attempts so far. */
  attempts: number;
  /** Number of declined attempts, and how many are allowed. */
  declines: number;
  maxAttempts: number;
  /** Time of the first decline. */
  pastDueSince?: string;
  nextTryAt?: string;
  /** The bill is given up then, unless someone acts first. */
  giveUpAt?: string;
  confirmedRisks?: ConfirmedRisk[];
}

/** State of a subscription: answer to its commands, and part of query `status`. */
export interface SubscriptionView {
  /** The first bill that is not due yet; undefined while nothing will be billed, such as in a pause. */
  nextBill?: { period: number; date: string; dueAt: string };
  /** Set if nothing more is billed: when the last paid period ends. */
  endsAt?: string;
  open?: OpenBill;
  /** The card for the next attempt. */
  card: { token: string; last4Digits?: string };
  /** Amount from the first period that is not due yet. */
  amount: number;
  /** True if the subscription is cancelled at the end of the current period. */
  cancelAtPeriodEnd: boolean;
  /** Number of the last period that was billed before and elsewhere; undefined if there is none. */
  billedThrough?: number;
  billedPeriods: number;
  unpaidPeriods: number;
  missedPeriods: number;
  lastBilled?: BilledPeriod;
}

export interface SubscriptionBase extends SubscriptionView {
  reference: string;
  currency: string;
}

export interface SubscriptionGoesOn extends SubscriptionBase {
  status: 'active' | 'billing' | 'pastDue' | 'paused';
}
export interface SubscriptionEnded extends SubscriptionBase {
  /** `completed`: all periods billed, the last paid one over. `givenUp`: a bill was not paid and the policy cancels. */
  status: 'completed' | 'cancelled' | 'givenUp';
  endedAt: string;
  reason: string;
}

export type SubscriptionOutcome = SubscriptionGoesOn | SubscriptionEnded | Unknown;

/** Answer to a command. */
export interface SubscriptionAnswer extends SubscriptionBase {
  status: SubscriptionGoesOn['status'] | SubscriptionEnded['status'];
  /** `changePlan` only: the first period under the new plan. */
  appliesFrom?: { period: number; date: string };
  /** `billNow` and `refundPeriod` only: state of the payment or refund. `confirmed: false`: money may have moved. */
  result?:
    FinalStepOutcome | { status: string; reference?: string; currency?: string; confirmed?: false; brakedBy?: string };
}
