import type { Declined } from '../contract/charge.js';
import type { DunningPolicy } from './dunning-policy.js';
import type { AttemptResult, DunningState, DunningStep, Hold } from './dunning-state.js';
import { givenUp, NOTHING_TRIED } from './dunning-state.js';
import type { DunningClock } from './dunning-times.js';
import { giveUpTime, nextFaultRetry, nextRetry } from './dunning-times.js';

export interface DunningContext extends DunningClock {
  policy: DunningPolicy;
}

/** A failure in which no issuer said no. `provider_error` is none: it is also what a declined card is answered with. */
const FAULT_CATEGORY = 'provider_network_error';

interface Decision {
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
  const at = nextRetry(firstDeclinedAt, policy, context);
  if (at !== undefined) return { state, step: { do: 'retry', at, after: 'decline' } };
  // Retries there are, but none before the next bill: that bill is the retry, whatever the hour of the first decline.
  const isCutShort = state.declines === 1 && policy.retryDays.length > 0;
  return isCutShort ? { state, step: { do: 'giveUp', effect: policy.onCutShort } } : giveUp(state, policy);
}

function afterFault(free: DunningState, context: DunningContext): Decision {
  const state = { ...free, faults: free.faults + 1 };
  const at = nextFaultRetry(state.faults, context);
  // Nobody declined: the period stays unpaid and is reported, and the next one is billed.
  if (at === undefined) return { state, step: { do: 'giveUp', effect: 'continue' } };
  return { state, step: { do: 'retry', at, after: 'fault' } };
}

function held(free: DunningState, hold: Exclude<Hold, 'outcome'>, context: DunningContext): Decision {
  const state = { ...free, hold };
  const giveUpAt = giveUpTime(free.firstDeclinedAt, context.policy, context);
  if (giveUpAt <= context.now) return giveUp(state, context.policy);
  return { state, step: { do: 'wait', for: hold, giveUpAt } };
}

function giveUp(state: DunningState, policy: DunningPolicy): Decision {
  return { state, step: { do: 'giveUp', effect: givenUp(state, policy) } };
}
