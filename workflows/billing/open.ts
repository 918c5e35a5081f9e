import {
  workflowInfo,
  ActivityFailure,
  ApplicationFailure,
  condition,
  isCancellation,
  upsertMemo,
} from '@temporalio/workflow';
import type { OpenedSubscription } from '../../src/contract/billing-activities.js';
import { FLOWS } from '../../src/contract/flows.js';
import { FAILURE_TYPES, MEMO_KEYS } from '../../src/contract/names.js';
import { isSealed } from '../../src/contract/payload-marks.js';
import { parkedOrSlowDelay } from '../../src/domain/schedules.js';
import {
  failLaterRun,
  isHistoryLong,
  MOST_UPDATES,
  openRun,
  startNextRun,
  untilCallersAreAnswered,
  watchCancel,
} from '../kit/run.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { handOverAsTold } from '../kit/hand-over.js';
import { noteWanted } from '../kit/outbox.js';
import { refuseUsedReference } from '../kit/earlier-run.js';
import { decidesAfterReset, inResetRun, invalidInput } from '../kit/start-guard.js';
import { billing } from '../policies.js';
import { newSubscription } from './handlers.js';
import { hasBilled } from './is-started.js';
import { isOtherBuildNext } from './move-on.js';
import { refuseSubscriptionStart } from './refuse-start.js';
import { show, shownByNextRun } from './show.js';
import {
  type Billing,
  type Carried,
  CARRIED_VERSION,
  CARRIED_WITH_BILL_ALL,
  CARRIED_WITH_SKIPS,
  type Unopened,
  UNOPENED,
  type SubscriptionCommand,
} from './state.js';

/**
 * Opens the flow of a subscription, or refuses its start.
 * @throws ApplicationFailure `InvalidInput` with every fault; Error if an earlier run may have billed
 */
export async function openSubscription(raw: unknown, carried: Carried | Unopened | undefined): Promise<Billing> {
  try {
    const { input, before } = openRun(FLOWS.subscription, [raw, carried], isCarried);
    const flow = newSubscription(input, before);
    watchCancel(flow);
    void handOverAsTold(flow);
    return flow;
  } catch (failure) {
    failLaterRun(failure);
    return await refuseSubscriptionStart(failure, raw);
  }
}

function isCarried(carried: { v?: unknown }): carried is Carried | Unopened {
  return [CARRIED_VERSION, CARRIED_WITH_SKIPS, CARRIED_WITH_BILL_ALL, UNOPENED].some((known) => known === carried.v);
}

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
    await refuseUsedReference(flow.input.reference, flow.outbox, !isSealed(raw));
  }
  const opened = await lookUp(flow, raw, before ?? notOpened(flow, workflowInfo().startTime.getTime()));
  noteWanted(flow, opened);
  if ('faults' in opened) {
    // A reset looks again: a card that was changed since, and is no longer on file, ends nothing that has billed.
    const isAfterReset = flow.afterReset === true || decidesAfterReset();
    if (isAfterReset && (await hasBilled(flow))) return;
    if (opened.notifyIsFaulty === true) {
      delete flow.outbox.url;
      flow.outbox.wanted = opened.notifies === true;
    }
    throw invalidInput(opened.faults);
  }
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
      await condition(() => flow.movesOn, parkedOrSlowDelay(tries), { summary: 'Until the next look' });
      if (isLong(flow) || flow.movesOn || isOtherBuildNext())
        await continueUnopened(flow, raw, { ...notOpened(flow, startedAt), tries: tries + 1 });
    }
  }
}

function notOpened({ afterReset }: Billing, startedAt: number): Unopened {
  return { v: UNOPENED, startedAt, tries: 0, ...((afterReset === true || inResetRun()) && { afterReset: true }) };
}

function isLong({ updatesTaken }: Billing): boolean {
  return isHistoryLong() || updatesTaken >= MOST_UPDATES;
}

/**
 * Carries the queued commands, which can't be begun yet: their callers may have left, and a customer would be billed
 * after an accepted cancel. Returns if the flow was cancelled meanwhile: the cancel would be lost with the run.
 */
async function continueUnopened(flow: Billing, raw: unknown, unopened: Unopened): Promise<void> {
  await untilCallersAreAnswered(flow).finally(() => (flow.leaving = false));
  if (flow.isCancelled()) return;
  const commands = flow.queue.map(({ answer: _answer, ...command }) => command as SubscriptionCommand);
  await continueSubscription(flow, raw, { ...unopened, ...(commands.length > 0 && { commands }) });
}

/** Ends this run and continues as new. Only while no handler is running and everything that waits is carried. */
export async function continueSubscription(flow: Billing, raw: unknown, carried: Carried | Unopened): Promise<never> {
  flow.leaving = true;
  // By default the next run would stay with this run's build (see `HOLDFAST_BUILD_ID`).
  const typedSearchAttributes = flow.opened ? shownByNextRun(flow) : undefined;
  return await startNextRun(flow, raw, carried, {
    initialVersioningBehavior: 'AUTO_UPGRADE',
    ...(typedSearchAttributes !== undefined && { typedSearchAttributes }),
  });
}
