import type { Declined } from '../contract/charge.js';
import type { DunningPolicy } from './dunning-policy.js';
import type { AttemptResult, DunningState, DunningStep, Hold } from '../contract/billing-activities.js';
import { givenUp, givenUpWait, heldFor, NOTHING_TRIED } from './dunning-state.js';
import { type DunningClock, giveUpTime, nextFaultRetry, nextRetry, nextRetryDay } from './dunning-times.js';

export interface DunningContext extends DunningClock {
  policy: DunningPolicy;
}

/** A failure without an issuer's decline. `provider_error` is not one: the service also uses it for declined cards. */
const FAULT_CATEGORY = 'provider_network_error';

export interface Decision {
  state: DunningState;
  step: DunningStep;
}

/**
 * How a period begins, given the `previous` period's final state: with an attempt, unless its card had a hard decline
 * and was not changed, or a payment of it is still unresolved.
 */
export function openPeriod(previous: DunningState | undefined, context: DunningContext): Decision {
  if (previous?.hold === 'outcome') return { state: previous, step: { do: 'block' } };
  return previous?.hold === 'card'
    ? held(NOTHING_TRIED, 'card', context)
    : { state: NOTHING_TRIED, step: { do: 'attempt' } };
}

/** The next step after an attempt, or after the unknown outcome of an attempt was resolved. */
export function afterAttempt(state: DunningState, result: AttemptResult, context: DunningContext): Decision {
  const { hold: _, ...free } = state;
  switch (result.status) {
    case 'succeeded':
      return { state: { ...free, faults: 0 }, step: { do: 'nothing' } };
    case 'pending':
    case 'unknown':
      return { state: { ...state, hold: 'outcome' }, step: { do: 'block' } };
    case 'notExecuted':
      return afterFault(free, context);
    case 'refused':
      return held(free, 'person', context);
    case 'declined':
      if (!result.confirmed) return held(free, 'confirmation', context);
      return isFault(result) ? afterFault(free, context) : afterDecline(free, result, context);
  }
}

/**
 * Continues the open bill after a pause, of which `ms` were after its first decline. Retries and waits are extended, so
 * the pause itself never gives the bill up.
 */
export function afterPause({ state, step }: Decision, ms: number, context: DunningContext): Decision {
  const held = heldFor(state, ms);
  if (step.do === 'wait') {
    const giveUpAt = step.giveUpAt + ms;
    const { periodEndsAt } = context;
    if (giveUpAt <= periodEndsAt) return { state: held, step: { ...step, giveUpAt } };
    return { state: held, step: { ...step, giveUpAt: periodEndsAt, cutShort: true } };
  }
  const since = scheduleOf(held);
  if (step.do !== 'retry' || step.after === 'fault' || since === undefined) return { state: held, step };
  // If the next bill leaves no room for the retry that was due, retry at once.
  const at = nextRetry(since, context.policy, context) ?? Math.max(step.at, context.now);
  return { state: held, step: { ...step, at } };
}

/** Start of the retry schedule (epoch ms); undefined before the first decline. */
function scheduleOf({ firstDeclinedAt, heldMs = 0 }: DunningState): number | undefined {
  return firstDeclinedAt === undefined ? undefined : firstDeclinedAt + heldMs;
}

/** Sub-categories come with any category, and what they say about the card takes precedence. */
function isFault({ category, retryable }: Pick<Declined, 'category' | 'retryable'>): boolean {
  return category === FAULT_CATEGORY && retryable === 'newReference';
}

function afterDecline(
  free: DunningState,
  { retryable }: Pick<Declined, 'retryable'>,
  context: DunningContext,
): Decision {
  const { policy, now } = context;
  const firstDeclinedAt = free.firstDeclinedAt ?? now;
  const state = { ...free, faults: 0, declines: free.declines + 1, firstDeclinedAt };
  // Keep the kind of the last decline: it decides the effect of giving up, and who may charge the card again.
  const hold = retryable === 'newCard' ? 'card' : retryable === 'nobody' ? 'person' : undefined;
  if (state.declines >= policy.maxAttempts) return giveUp(hold === undefined ? state : { ...state, hold }, policy);
  if (hold !== undefined) return held(state, hold, context);
  const since = scheduleOf(state) ?? now;
  const at = nextRetry(since, policy, context);
  if (at !== undefined) return { state, step: { do: 'retry', at, after: 'decline' } };
  // A pause or an outage moved the remaining retries into the next period, so the card has not had all its retries.
  if (state.heldMs !== undefined && nextRetryDay(since, policy, context) !== undefined) {
    return { state, step: { do: 'giveUp', effect: givenUpWait(state, policy, true) } };
  }
  // No retry fits before the next bill: that bill serves as the retry, whatever the hour of the first decline.
  const isCutShort = state.declines === 1 && policy.retryDays.length > 0;
  return isCutShort ? { state, step: { do: 'giveUp', effect: policy.onCutShort } } : giveUp(state, policy);
}

function afterFault(free: DunningState, context: DunningContext): Decision {
  const state = { ...free, faults: free.faults + 1 };
  const at = nextFaultRetry(state.faults, context);
  // No issuer declined: the period stays unpaid and is reported, and the next one is billed.
  if (at === undefined) return { state, step: { do: 'giveUp', effect: 'continue' } };
  return { state: heldFor(state, at - context.now), step: { do: 'retry', at, after: 'fault' } };
}

function held(free: DunningState, hold: Exclude<Hold, 'outcome'>, context: DunningContext): Decision {
  const state = { ...free, hold };
  const giveUpAt = giveUpTime(scheduleOf(free), context.policy, context);
  if (giveUpAt <= context.now) return giveUp(state, context.policy);
  return { state, step: { do: 'wait', for: hold, giveUpAt } };
}

function giveUp(state: DunningState, policy: DunningPolicy): Decision {
  return { state, step: { do: 'giveUp', effect: givenUp(state, policy) } };
}
