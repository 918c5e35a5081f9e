import type { ChangePlan } from '../../src/contract/subscription-commands.js';
import type {
  AttemptResult,
  ChangedPlan,
  Judged,
  Period,
  PlannedBilling,
} from '../../src/contract/billing-activities.js';
import { MISSED_PERIODS_DEFAULT } from '../../src/domain/missed-periods-default.js';
import { calendar } from '../policies.js';
import { decodedOrRetry } from '../flow/decoded-or-retry.js';
import type { Billing, OpenPeriod } from './state.js';

/** What is due now, and what comes next. */
export async function planned(flow: Billing): Promise<PlannedBilling> {
  return await planFrom(flow, flow.next, Date.now());
}

/** Day and time of a period that is neither billed nor open, due or not; undefined after the plan's end. */
export async function periodAhead(flow: Billing, period: number): Promise<Period | undefined> {
  // Before all periods nothing is due, so `next` is the period itself.
  return (await planFrom(flow, period, BEFORE_ALL)).next;
}
const BEFORE_ALL = -86_400_000 * 365;

async function planFrom(flow: Billing, from: number, now: number): Promise<PlannedBilling> {
  const { plan, input, left: previous, resumeWith, resumedAt = now } = flow;
  const { dunning } = input;
  const policy = input.missedPeriods ?? MISSED_PERIODS_DEFAULT;
  const resumed = resumeWith === undefined ? {} : { resumed: { at: Math.min(resumedAt, now), policy: resumeWith } };
  const lastPaid = flow.billed.at(-1)?.period;
  const call = { plan, from, now, policy, ...resumed, dunning, previous, lastPaid };
  return await asked(flow, () => calendar.planBilling(call));
}

export async function classified(flow: Billing, { state, endsAt }: OpenPeriod, result: AttemptResult): Promise<Judged> {
  const { plan, input } = flow;
  const { dunning } = input;
  const now = Date.now();
  return await asked(flow, () => calendar.judgeAttempt({ plan, dunning, endsAt, state, result, now }));
}

/** How the open bill continues after a pause. */
export async function resumed(flow: Billing, { state, step, endsAt }: OpenPeriod, pausedMs: number): Promise<Judged> {
  const { plan, input } = flow;
  const { dunning } = input;
  const now = Date.now();
  return await asked(flow, () => calendar.resumeBill({ plan, dunning, endsAt, state, step, pausedMs, now }));
}

/** The plan with another interval or hour, from the first period that is not due yet. */
export async function changedPlan(flow: Billing, { interval, billAt }: ChangePlan): Promise<ChangedPlan> {
  const { plan, next: from } = flow;
  const now = Date.now();
  return await asked(flow, () => calendar.changePlan({ plan, from, now, interval, billAt }));
}

/** Handlers don't answer during a local activity: the answer could be lost with the task. */
async function asked<Answer>(flow: Billing, call: () => Promise<Answer>): Promise<Answer> {
  flow.inLocalCall = true;
  try {
    return decodedOrRetry(await call());
  } finally {
    flow.inLocalCall = false;
  }
}
