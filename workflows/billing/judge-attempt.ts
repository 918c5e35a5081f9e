import { attemptReference } from '../../src/contract/names.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import type { AttemptResult } from '../../src/contract/billing-activities.js';
import { judged } from './calendar.js';
import { keepToLimit } from './limit-tries.js';
import { useNewCard } from './new-card.js';
import { notify } from './outbox.js';
import type { Attempted, Billing, OpenPeriod } from './state.js';

export function referenceOf(flow: Billing, { period, attempts }: OpenPeriod): string {
  return attemptReference(flow.input.reference, period, attempts);
}

/**
 * Also of what an operator says about an attempt that nobody knows the outcome of.
 * @param cardChanged while the attempt was under way
 */
export async function judge(flow: Billing, open: OpenPeriod, attempted: Attempted, cardChanged = false): Promise<void> {
  const result = resultOf(attempted);
  const { state, step } = await judged(flow, open, result);
  open.state = state;
  open.step = step;
  open.last = {
    status: result.status,
    reference: referenceOf(flow, open),
    // May have moved money after all.
    ...(result.status === 'declined' && !result.confirmed && { confirmed: false as const }),
  };
  delete open.doubt;
  if ('lost' in attempted) {
    open.doubt = `payment ${referenceOf(flow, open)} was stopped (${attempted.lost}); look whether it moved money, then \`settleManually\``;
  } else if ('refused' in attempted) {
    open.doubt = `payment ${referenceOf(flow, open)} was refused: ${attempted.refused}`;
  } else if (step.do === 'wait' && step.for === 'confirmation') {
    open.doubt = `nobody has confirmed that payment ${referenceOf(flow, open)} failed; look whether it moved money, then \`settleManually\`, or \`billNow\` with confirmRisk`;
  }
  if (cardChanged) useNewCard(flow);
  keepToLimit(flow, open);
  tell(flow, open, attempted);
}

function resultOf(attempted: Attempted): AttemptResult {
  if ('lost' in attempted) return { status: 'unknown' };
  if ('refused' in attempted) return { status: 'refused' };
  const { outcome } = attempted;
  if (outcome.status !== 'declined') return { status: outcome.status };
  const { status, category, retryable, confirmed } = outcome;
  return { status, category, retryable, confirmed };
}

function tell(flow: Billing, open: OpenPeriod, attempted: Attempted): void {
  const { period, amount, step } = open;
  const payment = referenceOf(flow, open);
  const bill = { period, amount, currency: flow.input.currency, payment };
  if ('outcome' in attempted && attempted.outcome.status === 'succeeded') {
    paid(flow, open, attempted.outcome);
    notify(flow, 'subscription.billed', { ...bill, paymentId: attempted.outcome.paymentId });
    return;
  }
  const declined = 'outcome' in attempted && attempted.outcome.status === 'declined' ? attempted.outcome : undefined;
  const why = declined === undefined ? {} : { category: declined.category, subCategory: declined.subCategory };
  if (step.do === 'wait' && step.for === 'card') {
    notify(flow, 'subscription.card_needed', { ...bill, ...why, until: iso(step.giveUpAt) });
  } else if (step.do === 'retry' || step.do === 'attempt') {
    const nextTryAt = iso(step.do === 'retry' ? step.at : Date.now());
    notify(flow, 'subscription.declined', { ...bill, ...why, nextTryAt, declines: open.state.declines });
  } else if (step.do !== 'giveUp') {
    notify(flow, 'subscription.past_due', { ...bill, ...why, why: open.doubt });
  }
}

function paid(flow: Billing, open: OpenPeriod, outcome: FinalStepOutcome): void {
  const { period, confirmedRisks } = open;
  flow.counts.billed += 1;
  flow.billed.push({
    period,
    paymentReference: outcome.reference,
    ...(outcome.paymentId !== undefined && { paymentId: outcome.paymentId }),
    // What was really taken: an attempt that was joined may have been over another amount.
    amount: outcome.amount,
    billedAt: iso(Date.now()),
    ...(confirmedRisks !== undefined && { confirmedRisks }),
  });
}

function iso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
