import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { faultsOf } from '../src/contract/fields.js';
import { FLOWS } from '../src/contract/flows.js';
import type { ParkedEventResult, ParsedParkedEventInput } from '../src/contract/parked-event.js';
import { isSealed } from '../src/contract/sealed.js';
import { GIVEN_UP_AFTER_MS, pollDelay } from '../src/domain/schedules.js';
import { noteEvent } from './flow/note-event.js';
import { registerParkedHandlers } from './parked/handlers.js';
import { newParked } from './parked/state.js';
import { tryDelivery } from './parked/try-delivery.js';
import { endParked, showParked, waitForNextTry } from './parked/visibility.js';
import { readableOrRetry } from './steps/decoded-or-retry.js';

/**
 * Keeps an event that has found no flow, and looks again for 24 h. It only hands the event over: what the event means
 * is decided by the flow that gets it.
 */
export async function parkedEvent(raw: unknown): Promise<ParkedEventResult> {
  const input = parse(raw);
  const parked = newParked(input);
  noteEvent(input.event);
  registerParkedHandlers(parked);
  const giveUpAt = workflowInfo().startTime.getTime() + GIVEN_UP_AFTER_MS;
  showParked(parked, giveUpAt);
  for (;;) {
    const delivery = await tryDelivery(parked);
    if (delivery.result === 'unclaimed') {
      parked.reason = delivery.reason;
      parked.workflowId = delivery.workflowId;
    } else {
      parked.workflowId = 'workflowId' in delivery ? delivery.workflowId : undefined;
      return await endParked(parked, delivery.result === 'foreign' ? 'unclaimed' : 'delivered', delivery.result);
    }
    const left = giveUpAt - Date.now();
    if (left <= 0) return await endParked(parked, 'unclaimed', parked.reason);
    showParked(parked, giveUpAt);
    await waitForNextTry(parked, Math.min(pollDelay(parked.attempts - 1), left));
  }
}

/**
 * A worker that lacks a key leaves the event to one that has it. The event would be lost otherwise.
 */
function parse(raw: unknown): ParsedParkedEventInput {
  readableOrRetry(raw, 'the event');
  const parsed = FLOWS.parkedEvent.schema.safeParse(raw);
  const faults = parsed.success ? faultsOfStart(raw, parsed.data) : faultsOf(parsed.error);
  if (parsed.success && faults.length === 0) return parsed.data;
  throw ApplicationFailure.nonRetryable(
    `No event was parked: ${faults.join('; ')}`,
    FAILURE_TYPES.invalidInput,
    faults,
  );
}

function faultsOfStart(raw: unknown, input: ParsedParkedEventInput): string[] {
  const expected = FLOWS.parkedEvent.workflowId(input);
  const { workflowId } = workflowInfo();
  return [
    ...(workflowId === expected ? [] : [`workflow id: is "${workflowId}", must be "${expected}" for this event`]),
    // It would be handed on as one that the webhook handler has proven.
    ...(isSealed(raw) ? [] : ['event: was written in clear, and only the webhook handler parks events, encrypted']),
  ];
}
