import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { FLOWS } from '../src/contract/flows.js';
import { MEMO_KEYS } from '../src/contract/names.js';
import type { ParsedSubscriptionInput } from '../src/contract/subscription.js';
import type { SubscriptionEnded } from '../src/contract/subscription-outcome.js';
import { isSealed } from '../src/contract/sealed.js';
import { isUndecodable } from '../src/contract/undecodable.js';
import { billForYears } from './billing/bill-for-years.js';
import { goOn } from './billing/go-on.js';
import { lookUp, notOpened } from './billing/look-up.js';
import { deliverNotices, notify } from './billing/outbox.js';
import { openSubscriptionFlow } from './billing/open.js';
import { answer } from './billing/perform.js';
import { refuseSubscriptionStart } from './billing/refuse-start.js';
import { show } from './billing/show.js';
import { type Billing, type Carried, CARRIED_VERSION, carriedOf, type Unopened, UNOPENED } from './billing/state.js';
import { endedOutcome, viewOf } from './billing/view.js';
import { invalidInput, parseStart } from './flow/start-guard.js';
import { earlierRun, secondRunFailure } from './flow/second-run.js';

/**
 * Bills a stored card period after period, for years: each attempt is its own `charge`, each period its own run. Ends
 * `completed`, `cancelled` or `givenUp`.
 * @param carried the state that the previous run left; a caller gives the input only
 *
 * Fails with `InvalidInput` or `ReferenceConflict` before anything is billed.
 */
export async function subscription(raw: unknown, carried?: Carried | Unopened): Promise<SubscriptionEnded> {
  let input: ParsedSubscriptionInput;
  let flow: Billing;
  const later = workflowInfo().continuedFromExecutionRunId !== undefined;
  try {
    input = parseStart(FLOWS.subscription, raw);
    if (!later && carried !== undefined) throw invalidInput(['a second argument is for later runs only']);
    if (isUndecodable(carried)) throw invalidInput(["what the run before left can't be decoded"]);
    // Starting over would bill paid periods again; state of a later version would lose fields.
    if (later && carried?.v !== CARRIED_VERSION && carried?.v !== UNOPENED)
      throw invalidInput(['nothing that it can read was left by the run before']);
    flow = openSubscriptionFlow(input, carried);
  } catch (failure) {
    // An earlier run may have billed: what this worker can't read fails the task and waits for another worker.
    if (later) throw new Error(`This worker can't go on: ${failure instanceof Error ? failure.message : 'unknown'}`);
    return await refuseSubscriptionStart(failure, raw);
  }
  const scope = CancellationScope.current();
  flow.isCancelled = () => scope.consideredCancelled;
  scope.cancelRequested.catch(() => undefined);
  // Nothing is billed before `open` has ended: only until then a cancel stops the subscription at once.
  if (!flow.opened) await open(flow, raw, carried?.v === UNOPENED ? carried : undefined);
  return await CancellationScope.nonCancellable(() => live(flow, raw));
}

async function live(flow: Billing, raw: unknown): Promise<SubscriptionEnded> {
  if (flow.failure !== undefined) return await refuse(flow, flow.failure);
  for (;;) {
    const delivery = deliverNotices(flow);
    const end = await billForYears(flow);
    if (end === 'goesOn') {
      await delivery.stop();
      // A command or a cancel that came meanwhile would be lost with the run.
      if (flow.queue.length === 0 && allHandlersFinished() && !flow.isCancelled())
        return await goOn(flow, raw, carriedOf(flow));
    } else {
      notify(flow, 'subscription.ended', { status: end.status, reason: end.reason });
      flow.ended = endedOutcome(flow, end.status, end.reason);
      show(flow, { status: end.status, waitingFor: 'nothing' });
      answerAll(flow);
      await delivery.finish();
      await condition(allHandlersFinished);
      return { ...flow.ended, undelivered: viewOf(flow).undelivered };
    }
  }
}

/** Nothing is billed before card, customer, dates and notification address have been checked. */
async function open(flow: Billing, raw: unknown, before: Unopened | undefined): Promise<void> {
  try {
    await check(flow, raw, before);
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

async function refuse(flow: Billing, failure: Error): Promise<never> {
  show(flow, { status: 'refused', waitingFor: 'nothing' });
  for (const command of flow.queue.splice(0)) command.answer = { refusal: 'the subscription was refused' };
  await condition(allHandlersFinished);
  throw failure;
}

/** Answers `cancel` and an open `billNow` with the end. Queued commands are refused: the end is not their result. */
function answerAll(flow: Billing): void {
  const { ended, pendingEnd } = flow;
  if (ended !== undefined) for (const command of pendingEnd?.commands ?? []) answer(flow, command, ended);
  if (flow.billing !== undefined && ended !== undefined) answer(flow, flow.billing, ended);
  for (const command of flow.queue.splice(0)) {
    command.answer = { refusal: `the subscription ended before this was begun: ${ended?.status}` };
  }
}
