import type { FinalStepOutcome, Unknown } from './outcome.js';

/** Somebody billed a period although an earlier payment of it may have taken the money. */
export interface ConfirmedRisk {
  /** Reference of the payment that nobody has confirmed as failed. */
  payment: string;
  who: string;
  why: string;
  /** ISO 8601 UTC. */
  at: string;
}

/** Minor units; times are ISO 8601 UTC. */
export interface BilledPeriod {
  period: number;
  /** Reference of the payment: its flow and its ledger entries are found by it. */
  paymentReference: string;
  paymentId?: string;
  amount: number;
  billedAt: string;
  confirmedRisks?: ConfirmedRisk[];
}

/** A bill that is due and has not been paid. */
export interface OpenBill {
  period: number;
  /** By the calendar, in the subscription's time zone. */
  date: string;
  amount: number;
  /** Payments tried so far. */
  attempts: number;
  /** Those that were declined, and how many there may be. */
  declines: number;
  maxAttempts: number;
  /** Since the first decline. */
  pastDueSince?: string;
  nextTryAt?: string;
  /** Unless somebody acts before, the bill is given up. */
  giveUpAt?: string;
  confirmedRisks?: ConfirmedRisk[];
}

/** Where a subscription stands: answer of its commands, and part of query `status`. */
export interface SubscriptionView {
  /** The first one that is not due yet; absent while nothing will be billed, as in a pause. */
  nextBill?: { period: number; date: string; dueAt: string };
  /** Nothing more is billed, and what was paid for lasts until then. */
  endsAt?: string;
  open?: OpenBill;
  /** The one that the next attempt uses. */
  card: { token: string; last4Digits?: string };
  /** From the first period on that is not due yet. */
  amount: number;
  /** What is taken off the calendar at the end of the present period. */
  cancelAtPeriodEnd: boolean;
  billedPeriods: number;
  unpaidPeriods: number;
  missedPeriods: number;
  lastBilled?: BilledPeriod;
  /** Notifications that the merchant's address has not taken: those that wait, and those that were given up. */
  undelivered: number;
}

interface SubscriptionBase extends SubscriptionView {
  reference: string;
  currency: string;
}

export interface SubscriptionGoesOn extends SubscriptionBase {
  status: 'active' | 'billing' | 'pastDue' | 'paused';
}
export interface SubscriptionEnded extends SubscriptionBase {
  /** `completed`: all periods billed, and the last one that was paid is over. `givenUp`: a bill stayed unpaid and the policy cancels. */
  status: 'completed' | 'cancelled' | 'givenUp';
  endedAt: string;
  reason: string;
}

export type SubscriptionOutcome = SubscriptionGoesOn | SubscriptionEnded | Unknown;

/** What a command did. */
export interface SubscriptionAnswer extends SubscriptionBase {
  status: SubscriptionGoesOn['status'] | SubscriptionEnded['status'];
  /** Of `changePlan`: the first period that is billed so. */
  appliesFrom?: { period: number; date: string };
  /** Of `billNow` and `refundPeriod`: how the payment or refund stands. `confirmed: false`: it may have moved money. */
  result?: FinalStepOutcome | { status: string; reference?: string; currency?: string; confirmed?: false };
}
