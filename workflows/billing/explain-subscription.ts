import { dunningPolicyOf } from '../../src/domain/dunning-policy.js';
import { showMoney } from '../../src/domain/show-money.js';
import type { Billing, OpenPeriod } from './state.js';

/** One or two sentences for a person: where it stands, since when, what comes next and with which card. */
export function explainSubscription(flow: Billing): string {
  const { input, amount } = flow;
  const parts = [`Subscription of ${showMoney(amount, input.currency)}, ${input.reference}: ${sentence(flow)}.`];
  if (flow.needsOperator !== undefined) parts.push(`Needs an operator: ${flow.needsOperator}.`);
  if (flow.cancelAtPeriodEnd === true && flow.ended === undefined) parts.push('It ends with the present period.');
  const waiting = flow.outbox.length;
  if (waiting > 0)
    parts.push(`${waiting} ${waiting === 1 ? 'notification waits' : 'notifications wait'} for the merchant's address.`);
  const refused = flow.outbox.filter((notice) => notice.refused !== undefined);
  const why = refused.at(-1)?.refused?.why;
  if (why !== undefined)
    parts.push(`${refused.length} of them ${refused.length === 1 ? 'was' : 'were'} refused: ${why}.`);
  return parts.join(' ');
}

function sentence(flow: Billing): string {
  const { ended, failure, open, paused, upcoming } = flow;
  if (ended !== undefined) return `${ended.status}: ${ended.reason}`;
  if (failure !== undefined) return `refused, nothing was billed: ${failure.message}`;
  if (paused !== undefined) return `paused since ${at(flow, paused.since)}; \`resume\` lets it go on`;
  if (open !== undefined) return openSentence(flow, open);
  if (upcoming === undefined && flow.endsAt === undefined) return 'its calendar is being asked';
  const { billed } = flow.counts;
  const soFar = `${billed} ${billed === 1 ? 'period' : 'periods'} billed`;
  const endsAt = flow.endsAt ?? (flow.cancelAtPeriodEnd === true ? upcoming?.dueAt : undefined);
  if (upcoming === undefined || endsAt !== undefined) {
    return `${soFar}; nothing more is billed${endsAt === undefined ? '' : `, and it ends on ${at(flow, endsAt)}`}`;
  }
  return `${soFar}; period ${upcoming.period} is billed on ${at(flow, upcoming.dueAt)} with ${card(flow)}`;
}

function openSentence(flow: Billing, { period, state, step, attempts, amount }: OpenPeriod): string {
  const money = showMoney(amount, flow.input.currency);
  const since = state.firstDeclinedAt === undefined ? undefined : `past due since ${at(flow, state.firstDeclinedAt)}`;
  const bill = `period ${period}, ${money}`;
  if (flow.attempting) {
    return `${bill}: payment ${flow.input.reference}.${period}.${attempts} is under way with ${card(flow)}`;
  }
  const { maxAttempts } = dunningPolicyOf(flow.input.dunning, flow.plan.interval);
  switch (step.do) {
    case 'retry': {
      const why = step.after === 'fault' ? 'the last try reached no issuer' : (since ?? 'declined');
      return `${bill}: ${why}; next try ${at(flow, step.at)} with ${card(flow)}; attempt ${state.declines + 1} of ${maxAttempts}`;
    }
    case 'wait': {
      const whom = step.for === 'card' ? 'another card' : 'a person';
      return `${bill}: ${since ?? 'not paid'}; ${whom} is needed until ${at(flow, step.giveUpAt)}, ${card(flow)} is not tried again`;
    }
    case 'block':
      return `${bill}: nobody knows whether payment ${flow.input.reference}.${period}.${attempts} has moved money; nothing is tried before that is known`;
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
