import { setCurrentDetails } from '@temporalio/workflow';
import type { DunningState } from '../../src/contract/billing-activities.js';
import type { FlowStatus } from '../../src/contract/messages.js';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { PaymentStatus, WaitingFor } from '../../src/contract/statuses.js';
import type {
  BilledPeriod,
  SubscriptionAnswer,
  SubscriptionEnded,
  SubscriptionOutcome,
  SubscriptionView,
} from '../../src/contract/subscription-commands.js';
import { dunningPolicyOf } from '../../src/domain/dunning.js';
import { showMoney } from '../../src/domain/money.js';
import { attributesOf, change, publish } from '../kit/visibility.js';
import { isLeftUnbilled, notAfterCancel, whatComes } from './after-cancel.js';
import { doubtfulOf, referenceOf } from './bills.js';
import { amountOf, type Billing, type OpenPeriod } from './state.js';

interface Shown {
  status: PaymentStatus;
  waitingFor: WaitingFor;
  /** Epoch ms; null when nothing is awaited. */
  dueAt?: number | null;
  needsOperator?: string | null | undefined;
}

/** Sets what a person and the search attributes see of the subscription. */
export function show(flow: Billing, { status, waitingFor, dueAt = null, needsOperator = null }: Shown): void {
  change(flow, { status, waitingFor, dueAt, needsOperator });
  publish(visible(flow), flow.dueAt === undefined ? {} : { dueAt: flow.dueAt });
  refresh(flow);
}

/** Search attributes of the next run where it begins to wait for its period; undefined where it has the present ones. */
export function shownByNextRun(flow: Billing) {
  const { upcoming, next, open, paused } = flow;
  // Where several are due at once, `upcoming` is the first that is not.
  if (open !== undefined || paused !== undefined || upcoming?.period !== next || upcoming.dueAt <= Date.now())
    return undefined;
  const waiting = { status: 'active', waitingFor: 'period', needsOperator: undefined } as const;
  return attributesOf({ ...visible(flow), ...waiting }, { dueAt: upcoming.dueAt });
}

/** What only a person can decide, most often about the open bill. */
export function doubtOf({ open, paused }: Billing): string | undefined {
  if (paused?.doubt !== undefined) return paused.doubt.why;
  if (open?.step.do === 'retry') return faultyFor(open.state);
  if (open === undefined || !(open.step.do === 'block' || open.step.do === 'wait')) return undefined;
  if (open.step.do === 'wait' && open.step.for === 'card') return undefined;
  return open.doubt ?? 'the bill can not be tried as it is';
}

/** About three days of tries. */
const UNTIL_OPERATOR = 6;

/** Retries continue, but a fault that has lasted so long will not end by itself. */
function faultyFor({ faults }: DunningState): string | undefined {
  return faults > UNTIL_OPERATOR ? `${faults} tries in a row have reached no issuer; look at the provider` : undefined;
}

/** Updates the sentence in Temporal UI after something in it has changed. */
export function refresh(flow: Billing): void {
  setCurrentDetails(explainSubscription(flow));
}

function visible(flow: Billing) {
  const { status, waitingFor, needsOperator, input } = flow;
  const { businessUnit, currency } = input;
  return { status, waitingFor, needsOperator, amount: presentAmount(flow) ?? 0, businessUnit, currency };
}

/** The amount of the first period that is not due yet; undefined if it is not supplied yet. */
function presentAmount(flow: Billing): number | undefined {
  return amountOf(flow, presentPeriod(flow));
}

function presentPeriod({ upcoming, next }: Billing): number {
  return upcoming?.period ?? next;
}

function viewOf(flow: Billing): SubscriptionView {
  const { upcoming, open, card, amounts, skipped = [], counts, billedThrough } = flow;
  const amount = presentAmount(flow);
  const later = amounts.filter(({ fromPeriod }) => fromPeriod > presentPeriod(flow));
  const skips = skipped.filter((period) => period >= flow.next);
  const last = flow.billed.at(-1);
  return {
    ...(upcoming !== undefined &&
      goesOnBilling(flow) && {
        nextBill: { period: upcoming.period, date: upcoming.date, dueAt: iso(upcoming.dueAt) },
      }),
    ...endOf(flow),
    ...(open !== undefined && open.step.do !== 'nothing' && { open: openBill(flow, open) }),
    card: { token: card.token, ...(card.last4Digits !== undefined && { last4Digits: card.last4Digits }) },
    ...(amount !== undefined && { amount }),
    ...(later.length > 0 && { amounts: later }),
    ...(skips.length > 0 && { skips }),
    cancelAtPeriodEnd: flow.cancelAtPeriodEnd === true,
    ...(flow.disputed !== undefined && { disputedPayments: flow.disputed }),
    ...(billedThrough > 0 && { billedThrough }),
    billedPeriods: counts.billed,
    unpaidPeriods: counts.unpaid,
    missedPeriods: counts.missed,
    ...(counts.skipped !== undefined && { skippedPeriods: counts.skipped }),
    ...(last !== undefined && { lastBilled: withoutDays(last) }),
  };
}

function withoutDays({ from: _from, to: _to, ...bill }: Billing['billed'][number]): BilledPeriod {
  return bill;
}

function endOf(flow: Billing): { endsAt?: string } {
  const at = foreseenEnd(flow);
  return at === undefined || flow.ended !== undefined ? {} : { endsAt: iso(at) };
}

function foreseenEnd({ endsAt, cancelAtPeriodEnd, cancelFrom, upcoming }: Billing): number | undefined {
  const isToCome = upcoming !== undefined && upcoming.dueAt > Date.now();
  return cancelFrom?.dueAt ?? endsAt ?? (cancelAtPeriodEnd === true && isToCome ? upcoming.dueAt : undefined);
}

function goesOnBilling({ paused, cancelAtPeriodEnd, ended }: Billing): boolean {
  return paused === undefined && cancelAtPeriodEnd !== true && ended === undefined;
}

function openBill(flow: Billing, open: OpenPeriod) {
  const { period, date, amount, amountAwaited, attempts, state, confirmedRisks } = open;
  return {
    period,
    date,
    ...(amountAwaited === undefined && { amount }),
    attempts,
    declines: state.declines,
    maxAttempts: dunningPolicyOf(flow.input.dunning, flow.plan.interval).maxAttempts,
    ...(state.firstDeclinedAt !== undefined && { pastDueSince: iso(state.firstDeclinedAt) }),
    ...whatComes(flow, open),
    ...(confirmedRisks !== undefined && { confirmedRisks }),
  };
}

/** The answer to a command: the end, or the present state. */
export function presentAnswer(flow: Billing): SubscriptionAnswer {
  if (flow.ended !== undefined) return flow.ended;
  const { reference, currency } = flow.input;
  return { ...viewOf(flow), reference, currency, status: statusOfOpen(flow) };
}

export function presentSubscription(flow: Billing): SubscriptionOutcome {
  if (flow.ended !== undefined) return flow.ended;
  const { reference, currency } = flow.input;
  if (flow.opened) return { ...viewOf(flow), reference, currency, status: statusOfOpen(flow) };
  const amount = presentAmount(flow) ?? 0;
  return { status: 'unknown', waitingFor: flow.waitingFor, reference, amount, currency };
}

/** Not `flow.status`, which is updated only after a command has been answered. */
function statusOfOpen({ paused, open, attempting }: Billing): 'active' | 'billing' | 'pastDue' | 'paused' {
  if (paused !== undefined) return 'paused';
  if (open === undefined || open.step.do === 'nothing') return 'active';
  if (open.amountAwaited !== undefined) return 'pastDue';
  return attempting || open.step.do === 'attempt' ? 'billing' : 'pastDue';
}

export function endedOutcome(flow: Billing, status: SubscriptionEnded['status'], reason: string): SubscriptionEnded {
  const { reference, currency } = flow.input;
  const { nextBill: _next, endsAt: _ends, ...view } = viewOf(flow);
  return { ...view, reference, currency, status, endedAt: iso(Date.now()), reason };
}

export function subscriptionStatus(flow: Billing): FlowStatus {
  const { reference, currency, businessUnit, metadata } = flow.input;
  return {
    reference,
    workflowId: flow.workflowId,
    type: WORKFLOW_TYPES.subscription,
    status: flow.status,
    waitingFor: flow.waitingFor,
    since: iso(flow.since),
    ...(flow.dueAt !== undefined && { dueAt: iso(flow.dueAt) }),
    needsOperator: flow.needsOperator !== undefined,
    ...(flow.needsOperator !== undefined && { operatorReason: flow.needsOperator }),
    amount: presentAmount(flow) ?? 0,
    currency,
    businessUnit,
    ...(metadata !== undefined && { metadata }),
    cancelRequested: flow.isCancelled(),
    ignored: { ...flow.ignored },
    subscription: viewOf(flow),
  };
}

function iso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** One or two sentences for a person: where it stands, since when, what comes next and with which card. */
export function explainSubscription(flow: Billing): string {
  const { input } = flow;
  const amount = presentAmount(flow);
  const what =
    amount === undefined
      ? `Metered subscription in ${input.currency}`
      : `Subscription of ${showMoney(amount, input.currency)}`;
  const parts = [`${what}, ${input.reference}: ${sentence(flow)}.`];
  if (flow.needsOperator !== undefined) parts.push(`Needs an operator: ${flow.needsOperator}.`);
  if (flow.cancelAtPeriodEnd === true && flow.ended === undefined) parts.push('It ends with the present period.');
  if (flow.disputed !== undefined) parts.push(`Disputed payments: ${flow.disputed.join(', ')}.`);
  return parts.join(' ');
}

function sentence(flow: Billing): string {
  const { ended, failure, open, paused, upcoming } = flow;
  if (ended !== undefined) return `${ended.status}: ${ended.reason}`;
  if (failure !== undefined) return `refused, nothing was billed: ${failure.message}`;
  if (paused !== undefined) {
    const until = paused.until === undefined ? '' : ` until ${at(flow, paused.until)}`;
    const underWay =
      paused.until !== undefined && flow.attempting && open !== undefined
        ? ` and its payment ${referenceOf(flow, open)}, under way, has ended`
        : '';
    return `paused since ${at(flow, paused.since)}${until}${underWay}; \`resume\` lets it go on`;
  }
  if (open !== undefined) return openSentence(flow, open);
  if (upcoming === undefined && flow.endsAt === undefined) return 'its calendar is being asked';
  const { billed } = flow.counts;
  const soFar = `${billed} ${billed === 1 ? 'period' : 'periods'} billed`;
  const endsAt = foreseenEnd(flow);
  if (upcoming === undefined || endsAt !== undefined) {
    return `${soFar}; nothing more is billed${endsAt === undefined ? '' : `, and it ends on ${at(flow, endsAt)}`}`;
  }
  const day = at(flow, upcoming.dueAt);
  if (flow.skipped?.includes(upcoming.period) === true)
    return `${soFar}; period ${upcoming.period}, ${day}, is skipped`;
  const amount = amountOf(flow, upcoming.period);
  const lacks = amount === undefined ? ', once `setAmount` has supplied its amount' : '';
  return amount === 0
    ? `${soFar}; period ${upcoming.period}, ${day}, costs nothing`
    : `${soFar}; period ${upcoming.period} is billed on ${day} with ${card(flow)}${lacks}`;
}

function openSentence(flow: Billing, open: OpenPeriod): string {
  const { period, state, step, amount, amountAwaited } = open;
  if (amountAwaited !== undefined)
    return `period ${period} has been due since ${at(flow, amountAwaited)} and has no amount; \`setAmount\` supplies it`;
  const money = showMoney(amount, flow.input.currency);
  const since = state.firstDeclinedAt === undefined ? undefined : `past due since ${at(flow, state.firstDeclinedAt)}`;
  const bill = `period ${period}, ${money}`;
  if (flow.attempting) {
    return `${bill}: payment ${referenceOf(flow, open)} is under way with ${card(flow)}`;
  }
  const { maxAttempts } = dunningPolicyOf(flow.input.dunning, flow.plan.interval);
  switch (step.do) {
    case 'retry': {
      const day = at(flow, notAfterCancel(flow, open, step.at));
      const isLeft = isLeftUnbilled(flow, open, step.at);
      const nextTry = isLeft
        ? `left unbilled by the cancel; only \`billNow\` or another card pays it until ${day}`
        : `next try ${day} with ${card(flow)}`;
      if (step.after === 'brake')
        return `${bill}: not tried, and nothing is counted (${open.last?.brakedBy ?? 'its business unit is braked'}); ${nextTry}`;
      if (open.attempts === 0)
        return `${bill}: not tried, since its card was declined as often as its limits allow; ${nextTry}`;
      const why = step.after === 'fault' ? 'the last try reached no issuer' : (since ?? 'declined');
      return `${bill}: ${why}; ${nextTry}${isLeft ? '' : `; attempt ${state.declines + 1} of ${maxAttempts}`}`;
    }
    case 'wait': {
      const whom = step.for === 'card' ? 'another card' : 'a person';
      return `${bill}: ${since ?? 'not paid'}; ${whom} is needed until ${at(flow, notAfterCancel(flow, open, step.giveUpAt))}, ${card(flow)} is not tried again`;
    }
    case 'block':
      return `${bill}: nobody knows whether payment ${doubtfulOf(flow, open)} has moved money; nothing is tried before that is known`;
    default:
      return bill;
  }
}

function card({ card: { last4Digits } }: Billing): string {
  return last4Digits === undefined ? 'its card' : `card **** ${last4Digits}`;
}

function at(flow: Billing, epochMs: number): string {
  return localTime(epochMs, flow.plan.timeZone);
}

const FORMAT = { day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const;

/**
 * "6 March 2027 at 10:00 Europe/Rome". For people only: no code may decide by it, because another version of Node may
 * have other rules for the zone.
 */
function localTime(epochMs: number, timeZone: string): string {
  try {
    return `${new Intl.DateTimeFormat('en-GB', { ...FORMAT, timeZone }).format(epochMs)} ${timeZone}`;
  } catch {
    return new Date(epochMs).toISOString();
  }
}
