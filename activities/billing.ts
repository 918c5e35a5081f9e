import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { DAY_MS } from '../src/contract/time-units.js';
import type {
  BillingActivities,
  ClassifyAttemptCall,
  DunningDecision,
  Period,
  PlanBillingCall,
  PlannedBilling,
  ResumeBillCall,
  OpenedSubscription,
  OpenSubscriptionCall,
} from '../src/contract/billing-activities.js';
import type { CardCap } from '../src/contract/declines.js';
import type { FlowReading, RefundOfPayment, RefundReading } from '../src/contract/engine-port.js';
import { FAILURE_TYPES } from '../src/contract/names.js';
import { isUndecodable } from '../src/contract/payload-marks.js';
import { type ParsedSubscriptionInput, subscriptionInputSchema } from '../src/contract/subscription.js';
import {
  paidUntil,
  periodEndsAt,
  periodOf,
  periodsDue,
  periodsDueAfter,
  periodAfterLast,
} from '../src/domain/billing-calendar.js';
import { changePlan } from '../src/domain/changed-plan.js';
import { capsOf } from '../src/domain/card-tries.js';
import { checkSubscription } from '../src/domain/check-subscription.js';
import { retryableBy } from '../src/domain/decline.js';
import { afterAttempt, afterPause, type DunningContext, openPeriod, dunningPolicyOf } from '../src/domain/dunning.js';
import { fractionOf } from '../src/domain/local-time.js';
import { isFlowNamed } from './after-restore.js';
import { type ActivityTable, buildActivities, requireDecodedCall } from './build-activities.js';
import { getCustomer, getPaymentMethod } from './customers.js';
import { notifyFaults } from './notifications.js';
import { notifiesOf } from './notifies.js';
import type { ActivityDeps } from './read-call.js';

/** Creates the activities of subscriptions beyond the calls of the payment service. */
export function createBillingActivities(deps: ActivityDeps): BillingActivities {
  const table: ActivityTable<ActivityDeps, BillingActivities> = {
    openSubscription,
    planBilling: async (_deps, call) => ({
      ...planBilling(call),
      ...resetOf(call),
      ...notifiesOf(deps, call.businessUnit),
      ...capsFor(deps, call),
    }),
    judgeAttempt: async (_deps, call) => ({ ...classifyAttempt(asCounted(deps, call)), ...capsFor(deps, call) }),
    resumeBill: async (_deps, call) => resumeBill(call),
    changePlan: async (_deps, call) => ({
      ...changePlan(call),
      ...resetOf(call),
    }),
    checkNotify: async ({ notifications }, { businessUnit, url }) => ({
      faults: notifyFaults(notifications, businessUnit, url),
    }),
    readAttempt,
    refundBill,
  };
  return buildActivities(deps, table, requireDecodedCall);
}

/**
 * An attempt that a restore has lost is open: asked for again, it finds what it did.
 * @throws Error (retried) until a worker with the result's codec key executes it
 */
async function readAttempt(deps: ActivityDeps, workflowId: string): Promise<FlowReading> {
  const reading = await deps.engine.readFlow(workflowId);
  if (reading.state === 'absent' && isFlowNamed(deps, workflowId)) return { state: 'open' };
  if (reading.state !== 'ended' || !isUndecodable(reading.outcome)) return reading;
  throw new Error(`The outcome of ${workflowId} can't be decoded by this worker; give it the missing key`);
}

/** @throws ApplicationFailure when the engine does not answer (retried) */
async function refundBill({ engine }: ActivityDeps, call: RefundOfPayment): Promise<RefundReading> {
  return await engine.refund(call);
}

/** A subscription that an earlier release runs names no unit, and knows no limits but its own. */
function capsFor({ units }: ActivityDeps, { businessUnit }: { businessUnit?: string }): { cardCaps?: CardCap[] } {
  return businessUnit === undefined ? {} : { cardCaps: capsOf(units?.get(businessUnit)?.cardCap) };
}

/** A person may name a category or a sub-category. */
function asCounted({ units }: ActivityDeps, call: ClassifyAttemptCall): ClassifyAttemptCall {
  const { result, businessUnit = '' } = call;
  if (result.status !== 'declined' || result.saidBy !== 'operator') return call;
  const { category, subCategory = category } = result;
  const retryable = retryableBy(category, subCategory, false, units?.get(businessUnit)?.declines);
  return { ...call, result: { ...result, retryable } };
}

function resetOf({ afterReset }: { afterReset?: true }): Pick<PlannedBilling, 'afterReset' | 'run'> {
  if (afterReset !== true) return {};
  const { workflowExecution } = activityInfo();
  return { afterReset, ...(workflowExecution !== undefined && { run: workflowExecution.runId }) };
}

/** Returns the bill that is due now with its first state, the missed periods and the next period. */
export function planBilling(call: PlanBillingCall): PlannedBilling {
  const { plan, from, now, policy, skipped, resumed, dunning, previous, lastPaid } = call;
  const { bill, missed, next } =
    resumed === undefined
      ? periodsDue(plan, from, now, policy, skipped)
      : periodsDueAfter(resumed, plan, from, now, policy, skipped);
  const followed = next === undefined ? { after: periodAfterLast(plan, from) } : { next };
  const rest = { ...(missed !== undefined && { missed }), ...followed };
  const first = bill === undefined ? undefined : periodOf(plan, bill.first);
  if (bill === undefined || first === undefined) {
    const over = next === undefined && lastPaid !== undefined ? paidUntil(plan, lastPaid) : undefined;
    return { ...rest, ...(over !== undefined && { endsAt: over }), ...aheadOf(call, next) };
  }
  // Each late bill ends when the next regular period is due; without one it gets at least a day, time for one retry.
  const endsAt = next?.dueAt ?? Math.max(periodEndsAt(plan, bill.last), now + DAY_MS);
  const context = contextOf({ plan, dunning, endsAt, now });
  return { bill: { period: bill.first, date: first.date, endsAt, ...openPeriod(previous, context) }, ...rest };
}

/** As if it was asked again when `next` is due. */
function aheadOf(call: PlanBillingCall, next: Period | undefined): Pick<PlannedBilling, 'ahead'> {
  if (next === undefined) return {};
  const { bill, missed, next: following } = planBilling({ ...call, from: next.period, now: next.dueAt });
  return bill === undefined || missed !== undefined
    ? {}
    : { ahead: { bill, ...(following !== undefined && { next: following }) } };
}

export function classifyAttempt({ plan, dunning, endsAt, state, result, now }: ClassifyAttemptCall): DunningDecision {
  return afterAttempt(state, result, contextOf({ plan, dunning, endsAt, now }));
}

function resumeBill({ plan, dunning, endsAt, state, step, pausedMs, now }: ResumeBillCall): DunningDecision {
  return afterPause({ state, step }, pausedMs, contextOf({ plan, dunning, endsAt, now }));
}

function contextOf(of: Pick<ClassifyAttemptCall, 'plan' | 'dunning' | 'endsAt' | 'now'>): DunningContext {
  const { plan, dunning, endsAt, now } = of;
  return {
    now,
    timeZone: plan.timeZone,
    jitterMs: plan.jitterMs,
    fraction: fractionOf(plan.reference),
    periodEndsAt: endsAt,
    policy: dunningPolicyOf(dunning, plan.interval),
  };
}

/**
 * Returns all faults of a new subscription at once: of its fields, of its day, and of card and customer as the service
 * knows them.
 * @throws ApplicationFailure (retried) when the service does not answer
 */
async function openSubscription(deps: ActivityDeps, { raw, now }: OpenSubscriptionCall): Promise<OpenedSubscription> {
  const checked = checkSubscription(raw, now);
  const ofInput = 'faults' in checked ? checked.faults : [];
  // With a fault in a field there is no parsed input to check further; with a wrong day there is.
  const input = subscriptionInputSchema.safeParse(raw).data;
  if (input === undefined) return { faults: ofInput };
  const known = await cardFaults(deps, input);
  const { notify, businessUnit } = input;
  const ofNotify = notify === undefined ? [] : notifyFaults(deps.notifications, businessUnit, notify.url);
  const faults = [...ofInput, ...ofNotify, ...known.faults];
  const notifies = notifiesOf(deps, businessUnit);
  if (faults.length > 0) return { faults, ...(ofNotify.length > 0 && { notifyIsFaulty: true }), ...notifies };
  const { last4Digits } = known;
  return { ...(last4Digits !== undefined && { last4Digits }), ...notifies };
}

async function cardFaults(
  deps: ActivityDeps,
  { businessUnit, customerId, token }: ParsedSubscriptionInput,
): Promise<{ faults: string[]; last4Digits?: string }> {
  const [customer, card] = await Promise.all([
    orFault('customerId', getCustomer(deps, { businessUnit, customerId })),
    orFault('token', getPaymentMethod(deps, { businessUnit, customerId, token })),
  ]);
  const faults = [customer, card].flatMap((each) => ('fault' in each ? [each.fault] : []));
  const last4Digits = 'found' in card ? card.found.last4Digits : undefined;
  return { faults, ...(last4Digits !== undefined && { last4Digits }) };
}

/** Turns a definite refusal by the service into a fault of the input; any other failure is rethrown and retried. */
async function orFault<Found>(field: string, asked: Promise<Found>): Promise<{ found: Found } | { fault: string }> {
  try {
    return { found: await asked };
  } catch (error) {
    const certain: readonly string[] = [
      FAILURE_TYPES.notFound,
      FAILURE_TYPES.invalidInput,
      FAILURE_TYPES.stateConflict,
    ];
    if (error instanceof ApplicationFailure && certain.includes(error.type ?? '')) {
      return { fault: `${field}: ${error.message}` };
    }
    throw error;
  }
}
