import type { FlowStatus } from '../../src/contract/messages.js';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import type {
  SubscriptionAnswer,
  SubscriptionEnded,
  SubscriptionOutcome,
  SubscriptionView,
} from '../../src/contract/subscription-outcome.js';
import { dunningPolicyOf } from '../../src/domain/dunning-policy.js';
import type { Billing, OpenPeriod } from './state.js';

export function viewOf(flow: Billing): SubscriptionView {
  const { upcoming, open, card, amount, counts } = flow;
  const last = flow.billed.at(-1);
  return {
    ...(upcoming !== undefined &&
      goesOnBilling(flow) && {
        nextBill: { period: upcoming.period, date: upcoming.date, dueAt: iso(upcoming.dueAt) },
      }),
    ...endOf(flow),
    ...(open !== undefined && open.step.do !== 'nothing' && { open: openBill(flow, open) }),
    card: { token: card.token, ...(card.last4Digits !== undefined && { last4Digits: card.last4Digits }) },
    amount,
    cancelAtPeriodEnd: flow.cancelAtPeriodEnd === true,
    billedPeriods: counts.billed,
    unpaidPeriods: counts.unpaid,
    missedPeriods: counts.missed,
    ...(last !== undefined && { lastBilled: last }),
    undelivered: flow.outbox.length + counts.givenUpNotices,
  };
}

function endOf({ endsAt, cancelAtPeriodEnd, upcoming, ended }: Billing): { endsAt?: string } {
  const at = endsAt ?? (cancelAtPeriodEnd === true ? upcoming?.dueAt : undefined);
  return at === undefined || ended !== undefined ? {} : { endsAt: iso(at) };
}

function goesOnBilling({ paused, cancelAtPeriodEnd, ended }: Billing): boolean {
  return paused === undefined && cancelAtPeriodEnd !== true && ended === undefined;
}

function openBill(flow: Billing, open: OpenPeriod) {
  const { period, date, amount, attempts, state, step, confirmedRisks } = open;
  return {
    period,
    date,
    amount,
    attempts,
    declines: state.declines,
    maxAttempts: dunningPolicyOf(flow.input.dunning, flow.plan.interval).maxAttempts,
    ...(state.firstDeclinedAt !== undefined && { pastDueSince: iso(state.firstDeclinedAt) }),
    ...(step.do === 'retry' && { nextTryAt: iso(step.at) }),
    ...(confirmedRisks !== undefined && { confirmedRisks }),
    ...(step.do === 'wait' && { giveUpAt: iso(step.giveUpAt) }),
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
  return { status: 'unknown', waitingFor: flow.waitingFor, reference, amount: flow.amount, currency };
}

/** Not `flow.status`, which is updated only after a command has been answered. */
function statusOfOpen({ paused, open, attempting }: Billing): 'active' | 'billing' | 'pastDue' | 'paused' {
  if (paused !== undefined) return 'paused';
  if (open === undefined || open.step.do === 'nothing') return 'active';
  return attempting || open.step.do === 'attempt' ? 'billing' : 'pastDue';
}

export function endedOutcome(flow: Billing, status: SubscriptionEnded['status'], reason: string): SubscriptionEnded {
  const { reference, currency } = flow.input;
  const { nextBill: _next, endsAt: _ends, ...view } = viewOf(flow);
  return { ...view, reference, currency, status, endedAt: iso(Date.now()), reason };
}

export function subscriptionStatus(flow: Billing): FlowStatus {
  const { reference, currency, businessUnit } = flow.input;
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
    amount: flow.amount,
    currency,
    businessUnit,
    cancelRequested: flow.isCancelled(),
    ignored: { ...flow.ignored },
    subscription: viewOf(flow),
  };
}

function iso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
