import { DAY_MS } from '../../src/contract/time-units.js';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import { type Conflict, subscriptionConflicts } from '../../src/contract/subscription.js';
import type { ChangePlan, ChangeTerms, SetAmount, SkipPeriod } from '../../src/contract/subscription-commands.js';
import {
  amountFaults,
  changedAmounts,
  MOST_AHEAD,
  skipFault,
  supplyFault,
  withSkip,
} from '../../src/domain/bill-amounts.js';
import { startOf, withEnd } from '../../src/domain/billing-calendar.js';
import { dunningPolicyOf, givenUp } from '../../src/domain/dunning.js';
import { keepDays } from './bills.js';
import { changedPlan, isInDoubt, nextDueAfter, notifyFaults, periodAhead, planned } from './calendar.js';
import { isBilledBeforeReset } from './is-started.js';
import { giveAmount } from './open-bill.js';
import { presentAnswer } from './show.js';
import { type Billing, type CommandAnswer, type OpenPeriod, type Refusal, scheduleOf } from './state.js';

/**
 * What is already due is billed under the terms at which it came due, however late that is.
 * @param isAgain a reset has given it again
 */
export async function changePlan(
  flow: Billing,
  request: ChangePlan,
  isAgain = false,
  acceptedAt?: number,
): Promise<CommandAnswer> {
  if (flow.cancelAtPeriodEnd === true) return { refusal: 'it is cancelled at the end of the present period' };
  const { plan, first: ahead, due } = await changedPlan(flow, request, acceptedAt);
  const first = ahead ?? due;
  if (first === undefined) return { refusal: 'no period is left to change: the plan ends before the next one' };
  const mayBeLate = ahead === undefined || ahead.period > flow.next;
  if (mayBeLate && isAgain && !isFromNamedPeriod(request)) return { refusal: FROM_WHEN };
  const from = isInDoubt(flow) ? flow.next : first.period;
  const faults = amountFaults(scheduleOf(flow), request, first, from);
  if (faults.length > 0) return invalid(faults.join('; '));
  keepDays(flow);
  flow.amounts = changedAmounts(flow, request, first);
  flow.plan = plan;
  flow.upcoming = ahead;
  const { amounts, interval, billAt, fromPeriod = amounts?.[0]?.fromPeriod } = request;
  const asked = (interval ?? billAt) === undefined ? (fromPeriod ?? first.period) : first.period;
  // What was closed before a reset keeps its amount, and the plan may not know its days any more.
  const period = Math.max(asked, flow.next);
  return { ...presentAnswer(flow), appliesFrom: { period, date: startOf(plan, period) } };
}

function isFromNamedPeriod({ interval, billAt, amount, fromPeriod }: ChangePlan): boolean {
  return (interval ?? billAt) === undefined && (amount === undefined || fromPeriod !== undefined);
}

/** Applied a period late, a yearly price would be charged twice in two weeks. */
const FROM_WHEN =
  'a reset gives it again, and nobody knows from which period on it was to hold: give it with another commandId, before ' +
  'the subscription is resumed';

/** A period that is due is billed, whatever is asked, unless a person has to decide about it anyway. */
export async function skipPeriod(
  flow: Billing,
  request: SkipPeriod,
  acceptedAt?: number,
): Promise<Refusal | undefined> {
  const { period, undo } = request;
  const isAhead = undo !== true && period >= flow.next && period <= flow.next + MOST_AHEAD;
  const { next: at } = isAhead ? await periodAhead(flow, period) : {};
  const now = isInDoubt(flow) ? Number.NEGATIVE_INFINITY : (acceptedAt ?? Date.now());
  const refusal = skipFault(scheduleOf(flow), request, at, now);
  if (refusal !== undefined) return { refusal };
  if (isAhead && (await isBilledBeforeReset(flow, period)))
    return { refusal: `period ${period} was billed before the subscription was reset` };
  flow.skipped = withSkip(flow.skipped, request);
  return undefined;
}

/** Once a payment of the period may have been started its amount stays. */
export async function setAmount(flow: Billing, request: SetAmount): Promise<Refusal | undefined> {
  const { period, amount } = request;
  const { open, next, supplied = [] } = flow;
  if (flow.input.metered !== true) return { refusal: 'it is not metered: changePlan changes its amounts' };
  if (open?.period === period && open.amountAwaited !== undefined) {
    flow.upcoming = (await planned(flow)).next;
    // Its retries have as much time as those of any late bill, and so has a wait for another card.
    open.endsAt = Math.max(open.endsAt, nextDueAfter(flow, Date.now()) ?? Date.now() + DAY_MS);
    const dayLater = Date.now() + DAY_MS;
    if (flow.cancelFrom !== undefined && dayLater > flow.cancelFrom.dueAt) {
      open.amountIsLate = true;
      open.endsAt = Math.max(open.endsAt, dayLater);
    }
    open.step = waitedWith(open, Date.now() - open.amountAwaited);
    giveAmount(flow, open, amount);
    return undefined;
  }
  // A reset has lost it, and nobody can follow the payment that says it: a person states what that has done.
  if (open?.period === period && open.step.do === 'block' && open.amount === 0 && amount > 0) {
    open.amount = amount;
    return undefined;
  }
  if (period < next) return { refusal: `period ${period} is billed, due or over already, and keeps its amount` };
  const fault = supplyFault(scheduleOf(flow), request);
  if (fault !== undefined) return invalid(fault);
  flow.supplied = [...supplied.filter((one) => one.period !== period), { period, amount }];
  return undefined;
}

/** The step of a bill that could not be worked on for `ms`. */
function waitedWith({ step, endsAt }: OpenPeriod, ms: number): OpenPeriod['step'] {
  if (step.do !== 'wait') return step;
  const giveUpAt = step.giveUpAt + ms;
  return giveUpAt <= endsAt ? { ...step, giveUpAt } : { ...step, giveUpAt: endsAt, cutShort: true };
}

function invalid(refusal: string): Refusal {
  return { refusal, type: FAILURE_TYPES.invalidInput };
}

/** What was billed or tried before stays as it is. */
export async function changeTerms(flow: Billing, request: ChangeTerms): Promise<Refusal | undefined> {
  const { dunning, missedPeriods, statementSoftDescriptor, notices, notify, metadata, periods, endsOn } = request;
  const unusable = notify === undefined ? [] : await notifyFaults(flow, notify.url);
  if (flow.cancelAtPeriodEnd === true && (periods !== undefined || endsOn !== undefined))
    return { refusal: 'it is cancelled at the end of the present period' };
  const conflicts = subscriptionConflicts({ interval: flow.plan.interval, dunning }).map(sayConflict);
  const faults = [...conflicts, ...unusable];
  if (faults.length > 0) return invalid(faults.join('; '));
  const closed = flow.next - 1;
  if (periods !== undefined && periods < closed)
    return {
      refusal: `periods: ${closed} are billed, due or over already; give at least as many`,
      type: FAILURE_TYPES.invalidInput,
    };
  const { open } = flow;
  if (endsOn !== undefined && open !== undefined && open.step.do !== 'nothing' && endsOn <= open.date)
    return {
      refusal: `endsOn: period ${open.period} began on ${open.date} and is open; give a later day, or give that bill up first`,
      type: FAILURE_TYPES.invalidInput,
    };
  flow.terms = {
    ...flow.terms,
    ...(dunning !== undefined && { dunning }),
    ...(missedPeriods !== undefined && { missedPeriods }),
    ...(statementSoftDescriptor !== undefined && { statementSoftDescriptor }),
    ...(notices !== undefined && { notices }),
    ...(metadata !== undefined && { metadata }),
  };
  flow.input = { ...flow.input, ...flow.terms };
  if (notify !== undefined) Object.assign(flow.outbox, { wanted: true, url: notify.url });
  if (periods !== undefined || endsOn !== undefined) {
    flow.plan = withEnd(flow.plan, {
      ...(periods !== undefined && { periods }),
      ...(endsOn !== undefined && { endsOn }),
    });
    const { bill, missed, next, endsAt } = await planned(flow);
    flow.upcoming = next;
    // What is open or due may still be paid: then that period is the last one.
    const isOver = flow.open === undefined && bill === undefined && missed === undefined;
    flow.endsAt = isOver ? endsAt : undefined;
  }
  if (dunning !== undefined && open !== undefined) stopTries(flow, open);
  return undefined;
}

/** A try that stands already is one more than a smaller `maxAttempts` allows. */
function stopTries({ attempting, input, plan }: Billing, open: OpenPeriod): void {
  const policy = dunningPolicyOf(input.dunning, plan.interval);
  const stands = !attempting && (open.step.do === 'retry' || open.step.do === 'attempt');
  if (stands && open.state.declines >= policy.maxAttempts)
    open.step = { do: 'giveUp', effect: givenUp(open.state, policy) };
}

function sayConflict({ path, message }: Conflict): string {
  return `${path.join('.')}: ${message}`;
}
