import type { FinalStepOutcome, Unknown } from './outcome.js';

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
  billedPeriods: number;
  unpaidPeriods: number;
  missedPeriods: number;
  lastBilled?: BilledPeriod;
  /** Notifications that the merchant's address has not accepted: waiting or given up. */
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
  result?: FinalStepOutcome | { status: string; reference?: string; currency?: string; confirmed?: false };
}
