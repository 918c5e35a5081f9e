import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  condition,
  isCancellation,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import { MEMO_KEYS } from '../../src/contract/names.js';
import { isSealed } from '../../src/contract/sealed.js';
import type { OpenedSubscription } from '../../src/contract/billing-activities.js';
import { parkedOrSlowDelay } from '../../src/domain/schedules.js';
import { MOST_EVENTS, MOST_UPDATES } from '../flow/continue.js';
import { inResetRun, invalidInput } from '../flow/start-guard.js';
import { earlierRun, secondRunFailure } from '../flow/second-run.js';
import { billing } from '../policies.js';
import { decodedOrRetry } from '../flow/decoded-or-retry.js';
import { continueSubscription } from './continue-subscription.js';
import { show } from './show.js';
import { type Billing, type Carried, type SubscriptionCommand, type Unopened, UNOPENED } from './state.js';

/**
 * Nothing is billed before card, customer, dates and notification address have been checked. What is refused is noted
 * as `failure`. A cancel ends the check.
 */
export async function checkBeforeBilling(
  flow: Billing,
  raw: unknown,
  carried: Carried | Unopened | undefined,
): Promise<void> {
  try {
    await check(flow, raw, carried?.v === UNOPENED ? carried : undefined);
    flow.opened = true;
  } catch (error) {
    if (isCancellation(error)) return;
    if (!(error instanceof ApplicationFailure)) throw error;
    flow.failure = error;
  }
}

async function check(flow: Billing, raw: unknown, before: Unopened | undefined): Promise<void> {
  // If `before` is set, an earlier run of this subscription has already looked.
  if (before === undefined && (workflowInfo().memo?.[MEMO_KEYS.startedBy] === undefined || !isSealed(raw))) {
    upsertMemo({ [MEMO_KEYS.fingerprint]: flow.fingerprint });
    const earlier = await earlierRun(!isSealed(raw));
    if (earlier !== undefined) throw secondRunFailure(flow.input.reference, earlier);
  }
  const opened = await lookUp(flow, raw, before ?? notOpened(flow, workflowInfo().startTime.getTime()));
  if ('faults' in opened) throw invalidInput(opened.faults);
  if (opened.last4Digits !== undefined) flow.card = { ...flow.card, last4Digits: opened.last4Digits };
}

/**
 * Looks up card and customer. An unusable answer, such as a rejected key, is for an operator to fix, and no reason to
 * refuse: the look-up is repeated for as long as that takes, over any number of runs.
 */
async function lookUp(
  flow: Billing,
  raw: unknown,
  { startedAt, tries: before }: Unopened,
): Promise<OpenedSubscription> {
  for (let tries = before; ; tries += 1) {
    try {
      // Checked as of the start: an anchor in the future then is not too late because no worker was running.
      return decodedOrRetry(await billing.openSubscription({ raw, now: startedAt }));
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      const { cause } = error;
      const rejected = cause instanceof ApplicationFailure && cause.type === FAILURE_TYPES.credentialsRejected;
      const needsOperator = `card and customer can't be looked up: ${cause?.message ?? error.message}`;
      show(flow, { status: 'started', waitingFor: rejected ? 'credentials' : 'operator', needsOperator });
      await sleep(parkedOrSlowDelay(tries), { summary: 'Until the next look' });
      if (isLong(flow)) await continueUnopened(flow, raw, { ...notOpened(flow, startedAt), tries: tries + 1 });
    }
  }
}

function notOpened({ afterReset }: Billing, startedAt: number): Unopened {
  return { v: UNOPENED, startedAt, tries: 0, ...((afterReset === true || inResetRun()) && { afterReset: true }) };
}

function isLong({ updatesTaken }: Billing): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= MOST_EVENTS || updatesTaken >= MOST_UPDATES;
}

/**
 * Carries the queued commands, which can't be begun yet: their callers may have left, and a customer would be billed
 * after an accepted cancel. Returns if the flow was cancelled meanwhile: the cancel would be lost with the run.
 */
async function continueUnopened(flow: Billing, raw: unknown, unopened: Unopened): Promise<void> {
  flow.leaving = true;
  await condition(allHandlersFinished).finally(() => (flow.leaving = false));
  if (flow.isCancelled()) return;
  const commands = flow.queue.map(
    ({ commandId, name, request }) => ({ commandId, name, request }) as SubscriptionCommand,
  );
  await continueSubscription(flow, raw, { ...unopened, ...(commands.length > 0 && { commands }) });
}
