import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  ApplicationFailure,
  workflowInfo,
  ActivityFailure,
  isCancellation,
  allHandlersFinished,
  condition,
  setCurrentDetails,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { faultsOf } from '../src/contract/fields.js';
import { FLOWS } from '../src/contract/flows.js';
import {
  type EventDelivery,
  needsPerson,
  type ParkedEventResult,
  type ParsedParkedEventInput,
} from '../src/contract/parked-event.js';
import { isSealed } from '../src/contract/sealed.js';
import { cutAttribute } from '../src/contract/search-attributes.js';
import type { PaymentStatus, WaitingFor } from '../src/contract/statuses.js';
import { GIVEN_UP_AFTER_MS, pollDelay } from '../src/domain/schedules.js';
import { noteEvent } from './messages.js';
import { explainParked, newParked, type Parked, registerParkedHandlers } from './parked/handlers.js';
import { delivery } from './policies.js';
import { readableOrRetry, decodedOrRetry } from './flow/decoded-or-retry.js';

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

/** A worker that lacks a key leaves the event to a worker that has it. The event would be lost otherwise. */
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
    // The flow would take it for an event that the webhook handler has verified.
    ...(isSealed(raw) ? [] : ['event: was written in clear, and only the webhook handler parks events, encrypted']),
  ];
}

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
    return decodedOrRetry(await delivery.deliverEvent({ event: parked.event }));
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return asBefore;
  }
}

const keys = {
  paymentStatus: defineSearchAttributeKey('PaymentStatus', SearchAttributeType.KEYWORD),
  waitingFor: defineSearchAttributeKey('WaitingFor', SearchAttributeType.KEYWORD),
  paymentId: defineSearchAttributeKey('PaymentId', SearchAttributeType.KEYWORD),
  businessUnit: defineSearchAttributeKey('BusinessUnit', SearchAttributeType.KEYWORD),
  needsOperator: defineSearchAttributeKey('NeedsOperator', SearchAttributeType.BOOL),
  dueAt: defineSearchAttributeKey('DueAt', SearchAttributeType.DATETIME),
};

type Update = Parameters<typeof upsertSearchAttributes>[0] extends infer T
  ? Extract<T, readonly unknown[]>[number]
  : never;

interface Shown {
  status: PaymentStatus;
  waitingFor: WaitingFor;
  needsOperator: boolean;
  dueAt: number | undefined;
}

/** `DueAt` is when the event is given up: a write at every attempt would cost one billable action each. */
function showParked(parked: Parked, giveUpAt: number): void {
  publish(parked, {
    status: 'parked',
    waitingFor: 'flow',
    needsOperator: needsPerson(parked.reason),
    dueAt: giveUpAt,
  });
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
  publish(parked, { status, waitingFor: 'nothing', needsOperator, dueAt: undefined });
  setCurrentDetails(explainParked(parked));
  await condition(allHandlersFinished);
  return parked.result;
}

/** Writes the search attributes that changed, cut to the server's limit. */
function publish({ event }: Parked, shown: Shown): void {
  const present = workflowInfo().typedSearchAttributes;
  const updates: Update[] = [];
  const keyword = (key: typeof keys.paymentStatus, value: string): void => {
    if (present.get(key) !== cutAttribute(value)) updates.push({ key, value: cutAttribute(value) });
  };
  keyword(keys.paymentStatus, shown.status);
  keyword(keys.waitingFor, shown.waitingFor);
  keyword(keys.paymentId, event.paymentId);
  keyword(keys.businessUnit, event.businessUnit);
  if ((present.get(keys.needsOperator) ?? false) !== shown.needsOperator) {
    updates.push({ key: keys.needsOperator, value: shown.needsOperator });
  }
  const due = present.get(keys.dueAt)?.getTime();
  if (due !== shown.dueAt) {
    updates.push({ key: keys.dueAt, value: shown.dueAt === undefined ? null : new Date(shown.dueAt) });
  }
  if (updates.length > 0) upsertSearchAttributes(updates);
}
