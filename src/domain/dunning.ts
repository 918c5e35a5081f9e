import { DAY_MS, HOUR_MS } from '../contract/time-units.js';
import type { AttemptResult, DunningState, DunningStep, Hold } from '../contract/billing-activities.js';
import type { Declined } from '../contract/charge.js';
import { type Dunning, type Interval, type OnGivenUp, shortestInterval } from '../contract/subscription.js';
import { spread, addDays, instantOf, localDateOf } from './local-time.js';

export interface DunningContext extends DunningClock {
  policy: DunningPolicy;
}

/** A failure without an issuer's decline. `provider_error` is not one: the service also uses it for declined cards. */
const FAULT_CATEGORY = 'provider_network_error';

interface Decision {
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

/** The bill is paid. */
export function afterSuccess(state: DunningState): Decision {
  const { hold: _, ...free } = state;
  return { state: { ...free, faults: 0 }, step: { do: 'nothing' } };
}

/** The outcome of the attempt is not known. */
export function inDoubt(state: DunningState): Decision {
  return { state: { ...state, hold: 'outcome' }, step: { do: 'block' } };
}

/** The next step after an attempt, or after the unknown outcome of an attempt was resolved. */
export function afterAttempt(state: DunningState, result: AttemptResult, context: DunningContext): Decision {
  const { hold: _, ...free } = state;
  switch (result.status) {
    case 'succeeded':
      return afterSuccess(state);
    case 'pending':
    case 'unknown':
      return inDoubt(state);
    case 'notExecuted':
      return result.braked === true ? afterBrake(state, context) : afterFault(free, context);
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
  if (step.do === 'retry' && step.after !== 'decline') {
    // Up to its instant the wait for such a retry is counted already, and what comes after it must not count twice as late.
    const rest = Math.min(ms, context.now - step.at);
    return { state: heldFor(state, rest), step: { ...step, at: Math.max(step.at, context.now) } };
  }
  const held = heldFor(state, ms);
  if (step.do === 'wait') {
    const giveUpAt = step.giveUpAt + ms;
    const { periodEndsAt } = context;
    if (giveUpAt <= periodEndsAt) return { state: held, step: { ...step, giveUpAt } };
    return { state: held, step: { ...step, giveUpAt: periodEndsAt, cutShort: true } };
  }
  const since = scheduleOf(held);
  if (step.do !== 'retry' || since === undefined) return { state: held, step };
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

/**
 * Its business unit was braked: nothing was tried, and nothing is counted. At the end of the period the next bill takes
 * over, unless every missed period is billed. What only a person may try waits for one again: what they accepted then may not
 * hold after a release.
 */
function afterBrake({ hold, ...free }: DunningState, context: DunningContext): Decision {
  if (hold === 'confirmation' || hold === 'person') return held(free, hold, context);
  const { now, fraction, periodEndsAt } = context;
  // Spread, because a release lets all of them go on.
  const later = now + BRAKED_DELAY_MS + Math.floor((fraction * BRAKED_DELAY_MS) / 4);
  const at = now < periodEndsAt ? Math.min(later, periodEndsAt) : later;
  return { state: heldFor(free, at - now), step: { do: 'retry', at, after: 'brake' } };
}

function held(free: DunningState, hold: Exclude<Hold, 'outcome'>, context: DunningContext): Decision {
  const state = { ...free, hold };
  const giveUpAt = giveUpTime(scheduleOf(free), context.policy, context);
  if (giveUpAt <= context.now) {
    // The period is over. If nobody was asked for another card before, the next period asks for one, and is billed.
    const isLate = free.firstDeclinedAt === context.now || free.heldMs !== undefined;
    return { state, step: { do: 'giveUp', effect: givenUpWait(state, context.policy, isLate) } };
  }
  return { state, step: { do: 'wait', for: hold, giveUpAt } };
}

function giveUp(state: DunningState, policy: DunningPolicy): Decision {
  return { state, step: { do: 'giveUp', effect: givenUp(state, policy) } };
}

/** How a declined period is retried. */
export interface DunningPolicy {
  /** Days after the local day of the first decline, rising. */
  retryDays: readonly number[];
  /** Hour of the retries in the subscription's zone, 0 to 23. */
  localHour: number;
  /** After this many declines no card is charged for the period. */
  maxAttempts: number;
  onGivenUp: OnGivenUp;
  /** `onGivenUp` if the first decline came too late for any retry. Cancels only if the input says so. */
  onCutShort: OnGivenUp;
}

/**
 * Running subscriptions use these defaults and store no copy. Other numbers would change agreed terms, and existing
 * histories would not replay. New defaults need a name in `Carried`; without a name these apply.
 */
const RETRY_DAYS = [1, 3, 5, 7];
const LOCAL_HOUR = 10;
/** The first attempt, four retries, and three changes of card. */
const MAX_ATTEMPTS = 8;

/**
 * The policy with its defaults. By default, retries are those days that leave room before the next bill. If none fits,
 * such as with daily bills, the next bill serves as the retry: giving up then continues by default, because one decline
 * is no reason to cancel.
 */
export function dunningPolicyOf(given: Dunning | undefined, interval: Interval): DunningPolicy {
  const room = shortestInterval(interval) ?? 0;
  const retryDays = given?.retryDays ?? RETRY_DAYS.filter((day) => day < room);
  return {
    retryDays,
    localHour: given?.localHour ?? LOCAL_HOUR,
    maxAttempts: given?.maxAttempts ?? MAX_ATTEMPTS,
    onGivenUp: given?.onGivenUp ?? (given?.retryDays === undefined && retryDays.length === 0 ? 'continue' : 'cancel'),
    onCutShort: given?.onGivenUp ?? 'continue',
  };
}

export const NOTHING_TRIED: DunningState = Object.freeze({ declines: 0, faults: 0 });

/**
 * Why no attempt may be sent now, given who requests it; undefined if it may. `personAtRisk`: an operator who knows
 * that an earlier attempt may have taken the money.
 */
export function attemptRefusal(
  { hold, declines }: DunningState,
  policy: DunningPolicy,
  by: 'schedule' | 'person' | 'personAtRisk',
): 'unresolved' | 'unconfirmed' | 'needsNewCard' | 'needsPerson' | 'noAttemptsLeft' | undefined {
  if (hold === 'outcome' || (hold === 'confirmation' && by === 'schedule')) return 'unresolved';
  if (hold === 'confirmation' && by === 'person') return 'unconfirmed';
  if (hold === 'card') return 'needsNewCard';
  if (hold === 'person' && by === 'schedule') return 'needsPerson';
  return declines >= policy.maxAttempts ? 'noAttemptsLeft' : undefined;
}

/** Nothing could be attempted for `ms`: delays the remaining days of the schedule by as much. */
export function heldFor(state: DunningState, ms: number): DunningState {
  return state.firstDeclinedAt === undefined || ms <= 0 ? state : { ...state, heldMs: (state.heldMs ?? 0) + ms };
}

/** Another card clears a hold that the old card caused, but not one for an unknown outcome. */
export function afterCardChange(state: DunningState): DunningState {
  const { hold, ...free } = state;
  return hold === 'outcome' || hold === 'confirmation' ? state : free;
}

/**
 * Effect of giving up on the subscription. A cause on our side or the merchant's never cancels a buyer's subscription:
 * it is paused, and nothing is lost.
 */
export function givenUp(state: DunningState, policy: DunningPolicy): OnGivenUp {
  const notTheBuyer = state.hold === 'person' || state.hold === 'confirmation';
  return notTheBuyer && policy.onGivenUp === 'cancel' ? 'pause' : policy.onGivenUp;
}

/** Effect of giving up after a wait. If a pause or an outage cut it short, the buyer has not refused to pay. */
export function givenUpWait(state: DunningState, policy: DunningPolicy, cutShort: boolean): OnGivenUp {
  const effect = givenUp(state, policy);
  return cutShort && effect === 'cancel' ? 'continue' : effect;
}

/** Inputs of the retry times. Times are epoch ms. */
interface DunningClock {
  now: number;
  timeZone: string;
  jitterMs: number;
  /** Fraction of the subscription's reference, see `fractionOf`. */
  fraction: number;
  /** See `periodEndsAt`. No retry is sent then or later, so that two periods are never retried at once. */
  periodEndsAt: number;
}

const FAULT_DELAYS_MS = [HOUR_MS / 4, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS];
const BRAKED_DELAY_MS = HOUR_MS;
const DAILY_FAULTS = 14;
/** Time to provide another card, even after a decline on the last retry day. */
const GRACE_DAYS = 3;

/**
 * Next scheduled retry, on a later local day than today; undefined if none is left before the next period.
 * @param since time of the first decline, plus the time for which the schedule stood still
 */
function nextRetry(since: number, policy: DunningPolicy, clock: DunningClock): number | undefined {
  const date = nextRetryDay(since, policy, clock);
  if (date === undefined) return undefined;
  const { periodEndsAt } = clock;
  const at = retryOn(date, policy, clock);
  return at < periodEndsAt ? at : undefined;
}

/** Next day of the schedule, even if the next period begins before it. */
function nextRetryDay(since: number, policy: DunningPolicy, { now, timeZone }: DunningClock): string | undefined {
  const first = localDateOf(since, timeZone);
  const today = localDateOf(now, timeZone);
  return policy.retryDays.map((days) => addDays(first, days)).find((day) => day > today);
}

/**
 * When to retry an attempt that no issuer answered: after 15 min, 1 h, 4 h, 12 h, then daily for two weeks, then
 * weekly. undefined if the period ends before.
 * @param faults number of consecutive faults, from 1
 */
export function nextFaultRetry(faults: number, { now, fraction, periodEndsAt }: DunningClock): number | undefined {
  const isLongAgo = faults > FAULT_DELAYS_MS.length + DAILY_FAULTS;
  const delay = FAULT_DELAYS_MS[faults - 1] ?? (isLongAgo ? 7 * DAY_MS : DAY_MS);
  // Spread, because an outage fails many subscriptions at once.
  const at = now + delay + Math.floor((fraction * delay) / 4);
  return at < periodEndsAt ? at : undefined;
}

/** Until when a period waits for another card or an operator: until its last retry day, and at least 3 days. */
function giveUpTime(since: number | undefined, policy: DunningPolicy, clock: DunningClock): number {
  const { now, timeZone, periodEndsAt } = clock;
  const first = localDateOf(since ?? now, timeZone);
  const lastRetry = addDays(first, policy.retryDays.at(-1) ?? 0);
  const grace = addDays(localDateOf(now, timeZone), GRACE_DAYS);
  return Math.min(periodEndsAt, retryOn(lastRetry > grace ? lastRetry : grace, policy, clock));
}

function retryOn(date: string, { localHour }: DunningPolicy, { timeZone, jitterMs, fraction }: DunningClock): number {
  return spread(instantOf(date, `${String(localHour).padStart(2, '0')}:00`, timeZone), jitterMs, fraction, timeZone);
}
