import type { Declined } from '../contract/charge.js';
import type { DunningPolicy } from './dunning-policy.js';
import type { AttemptResult, DunningState, DunningStep, Hold } from '../contract/billing-activities.js';
import { givenUp, givenUpWait, heldFor, NOTHING_TRIED } from './dunning-state.js';
import type { DunningClock } from './dunning-times.js';
import { giveUpTime, nextFaultRetry, nextRetry, nextRetryDay } from './dunning-times.js';

export interface DunningContext extends DunningClock {
  policy: DunningPolicy;
}

/** A failure in which no issuer said no. `provider_error` is none: it is also what a declined card is answered with. */
const FAULT_CATEGORY = 'provider_network_error';

export interface Decision {
  state: DunningState;
  step: DunningStep;
}

/**
 * How a period begins after `previous`, the state in which the one before was left: with an attempt, unless its
 * card was declined for good and has not been changed, or money of it may still be moving.
 */
export function openPeriod(previous: DunningState | undefined, context: DunningContext): Decision {
  if (previous?.hold === 'outcome') return { state: previous, step: { do: 'block' } };
  return previous?.hold === 'card'
    ? held(NOTHING_TRIED, 'card', context)
    : { state: NOTHING_TRIED, step: { do: 'attempt' } };
}

/** The next step after an attempt, or after an attempt that was unknown has become known. */
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
 * How the open bill goes on after a pause, of which `ms` were after its first decline: nothing of it is given up because
 * nobody could act.
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
  // Where the next bill leaves no room for it, the try that was due is made at once.
  const at = nextRetry(since, context.policy, context) ?? Math.max(step.at, context.now);
  return { state: held, step: { ...step, at } };
}

/** When the schedule of retries begins (epoch ms); undefined before the first decline. */
function scheduleOf({ firstDeclinedAt, heldMs = 0 }: DunningState): number | undefined {
  return firstDeclinedAt === undefined ? undefined : firstDeclinedAt + heldMs;
}

/** Sub-categories come with any category: what they say about the card is believed first. */
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
  // The kind of the last decline is kept: it decides what giving up means, and who may bill the card again.
  const hold = retryable === 'newCard' ? 'card' : retryable === 'nobody' ? 'person' : undefined;
  if (state.declines >= policy.maxAttempts) return giveUp(hold === undefined ? state : { ...state, hold }, policy);
  if (hold !== undefined) return held(state, hold, context);
  const since = scheduleOf(state) ?? now;
  const at = nextRetry(since, policy, context);
  if (at !== undefined) return { state, step: { do: 'retry', at, after: 'decline' } };
  // A pause or an outage has moved the rest into the next period: its card has not had the tries that it was due.
  if (state.heldMs !== undefined && nextRetryDay(since, policy, context) !== undefined) {
    return { state, step: { do: 'giveUp', effect: givenUpWait(state, policy, true) } };
  }
  // Retries there are, but none before the next bill: that bill is the retry, whatever the hour of the first decline.
  const isCutShort = state.declines === 1 && policy.retryDays.length > 0;
  return isCutShort ? { state, step: { do: 'giveUp', effect: policy.onCutShort } } : giveUp(state, policy);
}

function afterFault(free: DunningState, context: DunningContext): Decision {
  const state = { ...free, faults: free.faults + 1 };
  const at = nextFaultRetry(state.faults, context);
  // Nobody declined: the period stays unpaid and is reported, and the next one is billed.
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
