import {
  workflowInfo,
  ActivityFailure,
  isCancellation,
  allHandlersFinished,
  condition,
  setCurrentDetails,
} from '@temporalio/workflow';
import { FLOWS } from '../src/contract/flows.js';
import {
  type EventDelivery,
  needsPerson,
  type ParkedEventResult,
  type ParsedParkedEventInput,
} from '../src/contract/parked-event.js';
import { isSealed, NOT_FOR_THIS_FLOW } from '../src/contract/payload-marks.js';
import type { PaymentStatus } from '../src/contract/statuses.js';
import { GIVEN_UP_AFTER_MS, pollDelay } from '../src/domain/schedules.js';
import { invalidInput, parseStart } from './kit/start-guard.js';
import { publish, type Visible } from './kit/visibility.js';
import { noteEvent } from './messages.js';
import { explainParked, newParked, type Parked, registerParkedHandlers } from './parked/handlers.js';
import { delivery } from './policies.js';
import { decodedOrRetry } from './kit/decoded-or-retry.js';

/**
 * Keeps an event that could be routed to no flow, and tries again for 24 h. It only delivers the event: the flow that
 * receives it decides what the event means.
 */
export async function parkedEvent(raw: unknown): Promise<ParkedEventResult> {
  const input = parse(raw);
  const parked = newParked(input);
  noteEvent(input.event);
  registerParkedHandlers(parked);
  const giveUpAt = workflowInfo().startTime.getTime() + GIVEN_UP_AFTER_MS;
  showParked(parked, giveUpAt);
  for (;;) {
    const found = await tryDelivery(parked);
    if (found.result === 'unclaimed') {
      parked.reason = found.reason;
      parked.workflowId = found.workflowId;
    } else {
      parked.workflowId = 'workflowId' in found ? found.workflowId : undefined;
      return await endParked(parked, found.result === 'foreign' ? 'unclaimed' : 'delivered', found.result);
    }
    const left = giveUpAt - Date.now();
    if (left <= 0) return await endParked(parked, 'unclaimed', parked.reason);
    showParked(parked, giveUpAt);
    await waitForNextTry(parked, Math.min(pollDelay(parked.attempts - 1), left));
  }
}

function parse(raw: unknown): ParsedParkedEventInput {
  const input = parseStart(FLOWS.parkedEvent, raw);
  // The flow would take it for an event that the webhook handler has verified.
  if (!isSealed(raw))
    throw invalidInput([`event: ${NOT_FOR_THIS_FLOW}, and only the webhook handler parks events, encrypted`]);
  return input;
}

/** A flow shows its payment once it waits for something: by then a list of the engine has it. */
const LISTED_AFTER_MS = 900_000;
const LISTED_AFTER_LOOKS = 4;

/** One delivery attempt. Without an answer reason and workflow id stay as they were. */
async function tryDelivery(parked: Parked): Promise<EventDelivery> {
  const asBefore: EventDelivery = {
    result: 'unclaimed',
    reason: parked.reason,
    ...(parked.workflowId !== undefined && { workflowId: parked.workflowId }),
  };
  parked.attempts += 1;
  parked.woken = false;
  try {
    const isLate = Date.now() - workflowInfo().startTime.getTime() >= LISTED_AFTER_MS;
    // No worker may have been there before, and the flow goes on only with this one.
    const isListed = isLate && parked.attempts >= LISTED_AFTER_LOOKS;
    const answer = decodedOrRetry(await delivery.deliverEvent({ event: parked.event, ...(isListed && { isListed }) }));
    return answer.result === 'foreign' && isOfOurs(parked) ? asBefore : answer;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return asBefore;
  }
}

/** A flow of ours was known to be concerned: it may be kept no longer, at a service that does not say whose a payment is. */
function isOfOurs({ reason, workflowId }: Parked): boolean {
  return needsPerson(reason) || workflowId !== undefined;
}

/** `DueAt` is when the event is given up: a write at every attempt would cost one billable action each. */
function showParked(parked: Parked, giveUpAt: number): void {
  const needsOperator = needsPerson(parked.reason);
  if (parked.shownForOperator === needsOperator) return;
  parked.shownForOperator = needsOperator;
  publish(visible(parked.event, 'parked', needsOperator), { dueAt: giveUpAt });
}

function visible({ paymentId, businessUnit }: Parked['event'], status: PaymentStatus, needsOperator: boolean): Visible {
  const waitingFor = status === 'parked' ? 'flow' : 'nothing';
  return { status, waitingFor, paymentId, businessUnit, needsOperator: needsOperator ? status : undefined };
}

async function waitForNextTry(parked: Parked, ms: number): Promise<void> {
  parked.dueAt = Date.now() + ms;
  setCurrentDetails(explainParked(parked));
  if (!parked.woken) await condition(() => parked.woken, Math.max(1, ms), { summary: 'Until the next look' });
  parked.dueAt = undefined;
}

async function endParked(
  parked: Parked,
  status: ParkedEventResult['status'],
  reason: ParkedEventResult['reason'],
): Promise<ParkedEventResult> {
  parked.result = {
    status,
    reason,
    ...(parked.workflowId !== undefined && { workflowId: parked.workflowId }),
    attempts: parked.attempts,
    parkedAt: workflowInfo().startTime.toISOString(),
    endedAt: new Date().toISOString(),
  };
  // A foreign payment needs no operator here.
  const needsOperator = status === 'unclaimed' && reason !== 'foreign';
  publish(visible(parked.event, status, needsOperator));
  setCurrentDetails(explainParked(parked));
  await condition(allHandlersFinished);
  return parked.result;
}
