import { z } from 'zod';
import { amountSchema, currencySchema, instantSchema, notifySchema, uuidSchema, personSchema } from './fields.js';
import { requirePerson } from './disputes.js';
import type { FinalStepOutcome, Unknown } from './outcome.js';
import { MAX_COMMAND_ID } from './idempotency.js';
import { type InputOf, SharedSchema } from './shared-schema.js';
import { metadataSchema } from './metadata.js';
import { type AmountFrom, amountsSchema, billAmountSchema, periodSchema } from './subscription-amounts.js';
import type { SubscriptionResult } from './subscription-result.js';
import {
  calendarDateSchema,
  dunningSchema,
  intervalSchema,
  localTimeSchema,
  MISSED_PERIODS,
  noticesSchema,
} from './subscription.js';

/** Fields of every command. A repeated `commandId` acts once. */
const commandFields = {
  commandId: z.string().min(1).max(MAX_COMMAND_ID).optional(),
  who: personSchema.zod.optional(),
  why: personSchema.zod.optional(),
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

/**
 * Argument of update `changePlan`: applies from the first period that is not due yet, or from a later one. The currency
 * never changes.
 */
export const changePlanSchema = new SharedSchema(
  z
    .strictObject({
      ...commandFields,
      /** In place of every amount from its first period on; 0 bills nothing. */
      amount: billAmountSchema.zod.optional(),
      /** First period with `amount`. Default: the first one that is not due yet. */
      fromPeriod: periodSchema.zod.optional(),
      /** Several amounts to come, in place of every amount from the first of these periods on. */
      amounts: amountsSchema.zod.optional(),
      interval: intervalSchema.zod.optional(),
      billAt: localTimeSchema.zod.optional(),
    })
    .superRefine(({ amount, fromPeriod, amounts, interval, billAt }, context) => {
      const fault = (path: string[], message: string): void =>
        context.addIssue({ code: 'custom', path, message, input: fromPeriod });
      if ([amount, amounts, interval, billAt].every((value) => value === undefined))
        fault([], 'changes nothing: give an amount, amounts, an interval or a billAt');
      if (amount !== undefined && amounts !== undefined) fault(['amounts'], 'give either amount or amounts, not both');
      if (fromPeriod === undefined) return;
      if (amount === undefined) fault(['fromPeriod'], 'says from when an amount holds: give the amount');
      if (interval !== undefined || billAt !== undefined)
        fault(['fromPeriod'], 'is for an amount only: an interval or a billAt holds from the next period on');
    }),
);
export type ChangePlan = InputOf<typeof changePlanSchema>;

/** Argument of update `skipPeriod`: the period, which is not due yet, is not billed. */
export const skipPeriodSchema = new SharedSchema(
  z.strictObject({
    ...commandFields,
    period: periodSchema.zod,
    /** Takes that back, as long as the period is not over. */
    undo: z.literal(true).optional(),
  }),
);
export type SkipPeriod = InputOf<typeof skipPeriodSchema>;

/** Argument of update `setAmount` of a metered subscription: what a period costs. The last one given before it is due counts. */
export const setAmountSchema = new SharedSchema(
  z.strictObject({ ...commandFields, period: periodSchema.zod, amount: billAmountSchema.zod }),
);
export type SetAmount = InputOf<typeof setAmountSchema>;

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
      notices: noticesSchema.zod.optional(),
      /** Who is told, in place of the address before; endpoints of the business unit stay. */
      notify: notifySchema.zod.optional(),
      /** In place of all that was noted before. */
      metadata: metadataSchema.zod.optional(),
      /** Ends after this many periods, in place of any earlier end. */
      periods: periodSchema.zod.optional(),
      /** No period begins on this day or later, in place of any earlier end. */
      endsOn: calendarDateSchema.zod.optional(),
    })
    .refine(({ periods, endsOn }) => periods === undefined || endsOn === undefined, {
      error: 'endsOn: give either periods or endsOn, not both',
    })
    .refine(
      ({ commandId: _id, who: _who, why: _why, ...terms }) => Object.values(terms).some((term) => term !== undefined),
      {
        error:
          'changes nothing: give dunning, missedPeriods, statementSoftDescriptor, notices, notify, metadata, periods or endsOn',
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
      period: periodSchema.zod,
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
  z
    .strictObject({
      ...commandFields,
      /** Defaults to the period billed last. */
      period: periodSchema.zod.optional(),
      /** Minor units. Defaults to what is left of the period's amount. */
      amount: amountSchema.zod.optional(),
      /** Currency of the amount; refused if the subscription bills in another one. */
      currency: currencySchema.zod.optional(),
      /** The second yes that a refund of a disputed payment needs. Requires `who` and `why`. */
      confirmDisputed: z.literal(true).optional(),
    })
    .superRefine(requirePerson),
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
  /** undefined: the subscription is metered, and `setAmount` has not supplied it yet. */
  amount?: number;
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
  /** Of the first period that is not due yet; undefined if it is metered and not supplied yet. */
  amount?: number;
  /** Amounts from later periods on; undefined if there are none. */
  amounts?: AmountFrom[];
  /** Periods that will not be billed; undefined if there are none. */
  skips?: number[];
  /** True if the subscription is cancelled at the end of the current period. */
  cancelAtPeriodEnd: boolean;
  /** Number of the last period that was billed before and elsewhere; undefined if there is none. */
  billedThrough?: number;
  /** Those of which nothing was to be billed included. */
  billedPeriods: number;
  unpaidPeriods: number;
  missedPeriods: number;
  /** undefined if there are none. */
  skippedPeriods?: number;
  lastBilled?: BilledPeriod;
  /** Payments of it that are charged back, oldest first. */
  disputedPayments?: string[];
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
  /** `billNow` and `refundPeriod` only: state of the payment or refund. */
  result?: FinalStepOutcome | SubscriptionResult;
  /** While that is pending or unknown: repeat the call with this id, even if it had none. Without, a refund is a further one. */
  commandId?: string;
}
