import { z } from 'zod';
import type { BillingPlan } from './billing-activities.js';
import { type InputOf, SharedSchema } from './shared-schema.js';
import type { AmountFrom } from './subscription-amounts.js';
import type { RefundOfPayment } from './engine-port.js';
import type { FailureType } from './names.js';
import {
  changePlanSchema,
  type ConfirmedRisk,
  skipPeriodSchema,
  type SubscriptionAnswer,
  type SubscriptionEnded,
} from './subscription-commands.js';

/** The days that a bill pays for: calendar days in the subscription's time zone. */
export interface ServicePeriod {
  from: string;
  /** The day on which the next period begins. */
  to: string;
}

/** What has become of a period, or of several alike. Minor units; times are ISO 8601 UTC. */
export interface Bill extends Partial<ServicePeriod> {
  period: number;
  /** The last one, where they are several that were missed or billed elsewhere. */
  through?: number;
  /**
   * `paid`: by the payment that it names. `nothing`: its amount is 0. `elsewhere`: billed before the subscription began.
   * `open`: due, and neither paid nor given up. `unknown`: the subscription has ended before anybody knew whether it is
   * paid.
   */
  status: 'paid' | 'nothing' | 'unpaid' | 'unknown' | 'missed' | 'skipped' | 'elsewhere' | 'open';
  amount?: number;
  /** When it was paid or given up, or has passed. */
  at?: string;
  /** Reference of the last payment that was tried. */
  payment?: string;
  paymentId?: string;
  /** Payments that were tried. */
  attempts?: number;
  /** Nobody has confirmed that the last payment failed: it may have moved money. */
  confirmed?: false;
  confirmedRisks?: ConfirmedRisk[];
}

/** Answer of query `bills`. */
export interface SubscriptionBills {
  reference: string;
  currency: string;
  /** Oldest first: the last 400 that were paid, and the last 400 others. */
  bills: Bill[];
  /** Periods that are older, and counted only. */
  olderPeriods: number;
  metadata?: Readonly<Record<string, string>>;
}

/** By what the bills to come are foreseen. Plain data. */
export interface BillingSchedule {
  plan: BillingPlan;
  /** The first period that is neither billed, nor missed, nor open. */
  next: number;
  /** Rising, from period 1 on. Unused if the subscription is metered. */
  amounts: readonly AmountFrom[];
  metered?: true;
  /** Amounts of single periods of a metered subscription. */
  supplied?: readonly { period: number; amount: number }[];
  /** Periods that are not billed. */
  skipped?: readonly number[];
  cancelAtPeriodEnd?: true;
  ended?: true;
}

/** Commands of a subscription that has ended. A request is in canonical form (see `idempotency.ts`). */
export interface GivenBefore {
  ended: SubscriptionEnded;
  /** The last ones with their answers. */
  answered: {
    commandId: string;
    name: string;
    request: string;
    answer: SubscriptionAnswer | { refusal: string; type?: FailureType };
  }[];
  /** Refunds that were begun, by the payment and the command that they are there. */
  refunds: {
    commandId: string;
    request?: string;
    of: Pick<RefundOfPayment, 'payment' | 'paymentId' | 'currency' | 'businessUnit' | 'commandId'>;
  }[];
}

/** What the flow answers to query `bills`. */
export interface BillsAndSchedule extends SubscriptionBills {
  schedule: BillingSchedule;
  /** Once it has ended: what was carried out before is then no command that comes too late. */
  given?: GivenBefore;
}

/** A bill to come. */
export interface FutureBill {
  period: number;
  /** Calendar day in the subscription's time zone. */
  date: string;
  /** ISO 8601 UTC, by the rules for the zone that the asking process knows. */
  dueAt: string;
  /** Minor units; undefined if the subscription is metered and it is not supplied yet. */
  amount?: number;
  /** It is not billed. */
  skipped?: true;
}

export const previewSchema = new SharedSchema(
  z.strictObject({
    /** How many periods. */
    count: z.int().min(1).max(60),
    /** Commands as if they were given now, in this order. */
    change: z
      .strictObject({ changePlan: changePlanSchema.zod.optional(), skipPeriod: skipPeriodSchema.zod.optional() })
      .optional(),
  }),
);
export type PreviewRequest = InputOf<typeof previewSchema>;

export interface Preview {
  /** As it stands, from the first period on that is not due yet. */
  bills: FutureBill[];
  /** As it would be after `change`. */
  changed?: FutureBill[];
}
