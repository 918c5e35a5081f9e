import { patched } from '@temporalio/workflow';
import type { AttemptResult, DunningStep } from '../../src/contract/billing-activities.js';
import { PATCHES } from '../../src/contract/names.js';
import type { FinalStepOutcome, NotExecuted } from '../../src/contract/outcome.js';
import { cardLimit, declinedTriesAt, SCHEME_CAPS } from '../../src/domain/card-tries.js';
import { dunningPolicyOf, afterCardChange, attemptRefusal, heldFor } from '../../src/domain/dunning.js';
import { untilDue } from '../../src/domain/early-bill.js';
import { endAfterPaid, isAfterCancel, isLeftUnbilled, notAfterCancel } from './after-cancel.js';
import { doubtfulOf, unknownDays } from './bills.js';
import { classified, isOverdue } from './calendar.js';
import type { Attempted, Billing, OpenPeriod } from './state.js';
import { tellOf } from './tell.js';

/**
 * Applies the result of an attempt, also one that an operator states for an attempt of unknown outcome.
 * @param cardChanged the card was changed while the attempt was under way or in doubt
 */
export async function classifyAttempt(
  flow: Billing,
  open: OpenPeriod,
  attempted: Attempted,
  cardChanged = false,
): Promise<void> {
  const result = resultOf(attempted);
  // After a reset a command may be missing by which a joined payment had another amount: so has what is tried after it.
  if ('outcome' in attempted) open.amount = attempted.outcome.amount;
  const { state, step } = await classified(flow, open, result, endOf(attempted));
  open.state = state;
  open.step = step;
  if (state.hold === 'card' && open.triedWith !== undefined && isOfKnownCard(attempted))
    noteHardDecline(flow, open.triedWith);
  open.last = {
    status: result.status,
    reference: paymentOf(flow, open, attempted),
    // The payment may have moved money after all.
    ...(result.status === 'declined' && !result.confirmed && { confirmed: false as const }),
    ...(isUntried(attempted) && { brakedBy: attempted.outcome.reason }),
  };
  noteCertainty(open, attempted);
  if (attempted.number === undefined) delete open.doubtful;
  else open.doubtful = attempted.number;
  // What was in doubt before a try that a brake has stopped still is.
  if (!(isUntried(attempted) && step.do === 'wait')) delete open.doubt;
  if (step.do === 'block' || (step.do === 'wait' && step.for === 'confirmation')) open.doubtSince = Date.now();
  if ('lost' in attempted) {
    open.doubt = `payment ${doubtfulOf(flow, open)} can't be followed (${attempted.lost}); look whether it moved money, then \`settleManually\``;
  } else if ('refused' in attempted) {
    open.doubt = `payment ${doubtfulOf(flow, open)} was refused: ${attempted.refused}`;
  } else if (step.do === 'wait' && step.for === 'confirmation' && !isUntried(attempted)) {
    open.doubt = `nobody has confirmed that payment ${doubtfulOf(flow, open)} failed; look whether it moved money, then \`settleManually\`, or \`billNow\` with confirmRisk`;
  }
  keepUntilDue(flow, open);
  if (cardChanged) useNewCard(flow);
  keepToLimit(flow, open);
  tell(flow, open, attempted);
}

/** What a person says may be of an earlier try than the last one. */
function paymentOf(flow: Billing, open: OpenPeriod, attempted: Attempted): string {
  return 'outcome' in attempted ? attempted.outcome.reference : doubtfulOf(flow, open);
}

/**
 * A bill that was charged early is not given up before it is due, unless somebody has said so. True if it goes on.
 */
export function keepUntilDue(flow: Billing, open: OpenPeriod): boolean {
  const { dueAt, endsAt, state, step } = open;
  const now = Date.now();
  if (dueAt === undefined || now >= dueAt || (step.do !== 'giveUp' && step.do !== 'wait')) return false;
  if (open.drop === true || flow.paused?.drop === true || isAfterCancel(flow, open, now)) return false;
  if (!patched(PATCHES.keepsUntilDue)) return false;
  const policy = dunningPolicyOf(flow.input.dunning, flow.plan.interval);
  Object.assign(open, untilDue({ state, step }, { dueAt, endsAt, policy }));
  if (open.step.do === 'wait' && open.step.for === 'person' && state.declines >= policy.maxAttempts)
    open.doubt = `its maxAttempts (${state.declines}) are used up; it is given up when it is due, unless \`changeTerms\` allows more and \`billNow\` or another card pays it`;
  return true;
}

/** Somebody knows, or takes the risk. The time until then uses up no retry; a pause beside it is counted up to now. */
export function endDoubt(flow: Billing, open: OpenPeriod): void {
  if (open.doubtSince === undefined) return;
  open.state = heldFor(open.state, Date.now() - open.doubtSince);
  delete open.doubtSince;
  if (flow.paused !== undefined) flow.paused.countedUntil = Date.now();
}

function resultOf(attempted: Attempted): AttemptResult {
  if ('lost' in attempted) return { status: 'unknown' };
  if ('refused' in attempted) return { status: 'refused' };
  if (isUntried(attempted)) return { status: 'notExecuted', braked: true };
  const { outcome } = attempted;
  if (outcome.status !== 'declined') return { status: outcome.status };
  const { status, category, subCategory, retryable, confirmed, evidence } = outcome;
  const isSaid = evidence.knownBy === 'operator';
  return {
    status,
    category,
    ...(isSaid && subCategory !== undefined && { subCategory }),
    retryable,
    confirmed,
    ...(isSaid && { saidBy: 'operator' as const }),
  };
}

/** A brake has stopped it. */
export function isUntried(attempted: Attempted): attempted is { outcome: NotExecuted } {
  return 'outcome' in attempted && attempted.outcome.status === 'notExecuted' && attempted.outcome.braked === true;
}

/** What is certain of one payment says nothing of those before it. */
function noteCertainty(open: OpenPeriod, attempted: Attempted): void {
  const { number = open.attempts } = attempted;
  const others = (open.unsure ?? []).filter((one) => one !== number);
  const unsure = isCertain(attempted) ? others : [...others, number];
  if (unsure.length > 0) open.unsure = unsure;
  else delete open.unsure;
}

/** Nothing of it was sent, or the service itself has said how it ended. */
function isCertain(attempted: Attempted): boolean {
  if (isUntried(attempted)) return true;
  if (!('outcome' in attempted) || attempted.outcome.evidence.knownBy === 'operator') return false;
  const { outcome } = attempted;
  return outcome.status === 'succeeded' || (outcome.status === 'declined' && outcome.confirmed);
}

/** An earlier run has started it. */
export function isJoined(attempted: Attempted): boolean {
  return 'joined' in attempted && attempted.joined === true;
}

/**
 * Epoch ms. What was joined may have ended long before the reset: its retries are those of then, and a bill that was given
 * up is not tried for another week.
 */
export function endOf(attempted: Attempted): number {
  if (!isJoined(attempted) || !('outcome' in attempted)) return Date.now();
  return Math.min(Date.now(), Date.parse(attempted.outcome.evidence.settledAt));
}

/** Whether it was known by then (epoch ms) how it ended. */
export function hadEnded(attempted: Attempted, by: number): boolean {
  return 'outcome' in attempted && Date.parse(attempted.outcome.evidence.settledAt) < by;
}

/** The card of what was joined may be another than the present one, which is not to be called declined. */
function isOfKnownCard(attempted: Attempted): boolean {
  return !isJoined(attempted) || 'token' in attempted;
}

function tell(flow: Billing, open: OpenPeriod, attempted: Attempted): void {
  const { period, amount, step } = open;
  const payment = paymentOf(flow, open, attempted);
  const bill = { period, amount, currency: flow.input.currency, payment };
  if ('outcome' in attempted && attempted.outcome.status === 'succeeded') {
    const { amount: taken, paymentId } = attempted.outcome;
    paid(flow, open, attempted.outcome);
    tellOf(flow, 'subscription.billed', payment, { ...bill, amount: taken, paymentId });
    return;
  }
  const declined = 'outcome' in attempted && attempted.outcome.status === 'declined' ? attempted.outcome : undefined;
  const why = declined === undefined ? {} : { category: declined.category, subCategory: declined.subCategory };
  if (step.do === 'wait' && step.for === 'card') {
    tellOf(flow, 'subscription.cardNeeded', `${period}.${open.attempts}`, {
      ...bill,
      ...why,
      until: iso(notAfterCancel(flow, open, step.giveUpAt)),
    });
  } else if (isUntried(attempted)) {
    // There is nothing to tell.
  } else if (step.do === 'retry' || step.do === 'attempt') {
    const at = step.do === 'retry' ? step.at : Date.now();
    const next = step.do === 'retry' && isLeftUnbilled(flow, open, at) ? {} : { nextTryAt: iso(at) };
    tellOf(flow, 'subscription.declined', payment, { ...bill, ...why, ...next, declines: open.state.declines });
  } else if (step.do !== 'giveUp') {
    tellOf(flow, 'subscription.pastDue', payment, { ...bill, ...why, why: open.doubt });
  }
}

function paid(flow: Billing, open: OpenPeriod, outcome: FinalStepOutcome): void {
  const { period, confirmedRisks } = open;
  flow.counts.billed += 1;
  endAfterPaid(flow, open);
  flow.billed.push({
    period,
    ...unknownDays(flow, open),
    paymentReference: outcome.reference,
    ...(outcome.paymentId !== undefined && { paymentId: outcome.paymentId }),
    // The amount that was charged: a joined attempt may have been for another amount.
    amount: outcome.amount,
    billedAt: iso(Date.now()),
    ...(confirmedRisks !== undefined && { confirmedRisks }),
  });
}

function iso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** A token in another case is the same one. */
export function isOtherCard(one: string, other: string): boolean {
  return one.toLowerCase() !== other.toLowerCase();
}

/** Counts a declined payment against the limit of the card it was tried with, which may not be the present card. */
export function noteDecline(flow: Billing, token: string, attempted: Attempted): void {
  if (!('outcome' in attempted) || attempted.outcome.status !== 'declined') return;
  const now = Date.now();
  // What was declined before a reset counts from then on: as of now, all of its periods would use up one day's limit.
  const at = 'token' in attempted ? endOf(attempted) : now;
  const tries = [...declinedTriesAt(flow.declinedTries, now), { token, at }];
  flow.declinedTries = tries.toSorted((one, other) => one.at - other.at);
}

/** Of one subscription: a buyer has few cards. */
const KEPT_CARDS = 20;

/** Given again after another one it would be tried again, which the card schemes forbid. */
function noteHardDecline(flow: Billing, token: string): void {
  const card = token.toLowerCase();
  const others = (flow.hardDeclined ?? []).filter((one) => one !== card);
  flow.hardDeclined = [...others, card].slice(-KEPT_CARDS);
}

/** Why the present card must not be tried now, whoever requests it; undefined if it may. */
export function limitRefusal(flow: Billing): string | undefined {
  const limit = limitOf(flow);
  if (limit === undefined) return undefined;
  const until = new Date(limit.freeAt).toISOString();
  const { cap } = limit;
  if (cap === undefined) return `more of its cards were declined within 30 days than are kept; wait until ${until}`;
  const within = cap.days === 1 ? '24 hours' : `${cap.days} days`;
  const isOfSchemes = SCHEME_CAPS.some(({ tries, days }) => tries === cap.tries && days === cap.days);
  const who = isOfSchemes ? 'card schemes allow' : `business unit "${flow.businessUnit}" allows`;
  return `its card was declined as often as ${who} within ${within}; change the card, or wait until ${until}`;
}

function limitOf({ declinedTries, card, cardCaps }: Billing) {
  return cardLimit(declinedTries, card.token, Date.now(), cardCaps);
}

/**
 * Postpones a try that its card's limit forbids. If the next period begins before, only another card can pay: the bill
 * waits for one, and the subscription is not cancelled for it.
 */
export function keepToLimit(flow: Billing, open: OpenPeriod): void {
  const { step, endsAt } = open;
  if (step.do !== 'attempt' && step.do !== 'retry') return;
  const freeAt = limitOf(flow)?.freeAt;
  if (freeAt === undefined || (step.do === 'retry' && step.at >= freeAt)) return;
  const after = step.do === 'retry' ? step.after : 'decline';
  const wait: DunningStep = { do: 'wait', for: 'card', giveUpAt: endsAt, cutShort: true };
  open.step = freeAt < endsAt ? { do: 'retry', at: freeAt, after } : wait;
}

/**
 * After a reset the present card may be one that was declined for good: a `changeCard` to it was refused before, and is
 * done where it is given again.
 */
export function isDead({ afterReset, hardDeclined, card }: Billing): boolean {
  return afterReset === true && hardDeclined?.includes(card.token.toLowerCase()) === true;
}

/** Another card is asked for instead of a try with a dead one, which the card schemes forbid. */
export function keepFromDeadCard(flow: Billing, open: OpenPeriod): void {
  if (!isDead(flow) || open.step.do !== 'attempt') return;
  open.state = { ...open.state, hold: 'card' };
  open.step = { do: 'wait', for: 'card', giveUpAt: open.endsAt, cutShort: true };
}

/**
 * After a change of card: refusals of the old card don't apply any more, and the open bill is tried at once, unless a
 * payment for it is under way or in doubt.
 */
export function useNewCard(flow: Billing): void {
  if (flow.left !== undefined) flow.left = afterCardChange(flow.left);
  const { open } = flow;
  if (open === undefined) return;
  open.state = afterCardChange(open.state);
  // The end of a pause, or its amount, will leave the bill more time.
  const isTimed = flow.paused === undefined && open.amountAwaited === undefined;
  // The next period is due, and two are not tried at the same time.
  if ((open.step.do === 'giveUp' || isTimed) && isOverdue(flow, open, Date.now())) {
    // The buyer has not refused to pay.
    if (open.step.do === 'wait') open.step = { ...open.step, cutShort: true };
    return;
  }
  if (flow.attempting || open.step.do === 'block' || open.step.do === 'nothing') return;
  // What still blocks is a doubt about money, or a fault that a person has to fix and another card can't.
  if (open.state.hold !== undefined) return;
  const policy = dunningPolicyOf(flow.input.dunning, flow.plan.interval);
  if (attemptRefusal(open.state, policy, 'person') === undefined) open.step = { do: 'attempt' };
}
