import { patched } from '@temporalio/workflow';
import { DAY_MS } from '../../src/contract/time-units.js';
import { PATCHES, paymentWorkflowId } from '../../src/contract/names.js';
import { startOf } from '../../src/domain/billing-calendar.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { decidesAfterReset } from '../kit/start-guard.js';
import { billing } from '../policies.js';
import { referenceOf } from './bills.js';
import { pauseForNewTry } from './given-again.js';
import type { Billing, OpenPeriod } from './state.js';

/**
 * Whether its first payment was started by an earlier run of a subscription that was reset: commands are given again,
 * later than they were, and what they did may be there.
 */
export async function isBilledBeforeReset(flow: Billing, period: number): Promise<boolean> {
  return flow.afterReset === true && (await isTried(flow, { period, attempts: 0 }));
}

/**
 * Whether a payment of it was started: of any period that has begun, or of the next one, since those before it may have
 * been skipped, missed or free. By days alone: what refuses a subscription may be that its time zone is not known.
 */
export async function hasBilled(flow: Billing): Promise<boolean> {
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
  for (let period = flow.next; period <= (flow.plan.periods ?? Number.POSITIVE_INFINITY); period += 1) {
    if (await isTried(flow, { period, attempts: 0 })) return true;
    if (startOf(flow.plan, period) > tomorrow) return false;
  }
  return false;
}

/** Whether the payment that would be tried next was already started. */
export async function isStarted(flow: Billing): Promise<boolean> {
  const { open, next } = flow;
  // Nothing is started after a payment of unknown outcome.
  if (open?.step.do === 'block') return false;
  return await isTried(flow, open ?? { period: next, attempts: 0 });
}

/**
 * Number of a payment that was not seen to fail and is followed again: a reset goes on with it, or has found that it took the
 * money after all. Undefined if there is none. Called only where some are unsure: an await alone would order a replay otherwise.
 */
export async function followedAgain(flow: Billing, open: OpenPeriod): Promise<number | undefined> {
  if (!patched(PATCHES.looksBack)) return undefined;
  for (const number of open.unsure ?? []) {
    const workflowId = paymentWorkflowId(referenceOf(flow, open, number));
    const reading = decodedOrRetry(await billing.readAttempt(workflowId));
    if (reading.state === 'open' || (reading.state === 'ended' && reading.outcome.status === 'succeeded'))
      return number;
  }
  return undefined;
}

/**
 * What goes before a bill is given up or its subscription ended: the next payment if it was already started, or, with its
 * `number`, one before it that is followed again. Undefined if there is none.
 */
export async function underWay(flow: Billing): Promise<{ number?: number } | undefined> {
  if (await isStarted(flow)) return {};
  const { open } = flow;
  if (open?.unsure === undefined || open.step.do === 'block') return undefined;
  const number = await followedAgain(flow, open);
  return number === undefined ? undefined : { number };
}

/**
 * With another card the open bill is tried at once. That card may have come when the run before the reset had given the
 * bill up: only what that run has started itself is followed without a person.
 */
export async function doubtNewTry(flow: Billing, open: OpenPeriod): Promise<void> {
  const { step } = open;
  // One that ends tries nothing more, and would be told as paused first.
  if (flow.pendingEnd !== undefined) return;
  if ((step.do !== 'attempt' && step.do !== 'retry') || (await isStarted(flow))) return;
  pauseForNewTry(flow, open);
}

/** Whether the payment after the given ones was already started for a period. */
async function isTried(flow: Billing, open: Pick<OpenPeriod, 'period' | 'attempts'>): Promise<boolean> {
  const reference = referenceOf(flow, open, open.attempts + 1);
  const reading = decodedOrRetry(await billing.readAttempt(paymentWorkflowId(reference)));
  return reading.state !== 'absent' || (reading.later !== undefined && mayBeForgotten(flow));
}

/**
 * Whether Temporal may have forgotten payments of a bill that were made before a reset: each follows the one before, so that
 * a later one that it still has shows that they were.
 */
export function mayBeForgotten(flow: Billing): boolean {
  return (flow.afterReset === true || decidesAfterReset()) && patched(PATCHES.knowsForgotten);
}
