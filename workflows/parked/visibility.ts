import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  allHandlersFinished,
  condition,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { ParkedEventResult } from '../../src/contract/parked-event.js';
import { needsPerson } from '../../src/contract/parked-event.js';
import { cutAttribute } from '../../src/contract/search-attributes.js';
import type { PaymentStatus, WaitingFor } from '../../src/contract/statuses.js';
import type { Parked } from './state.js';
import { explainParked } from './explain.js';

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
export function showParked(parked: Parked, giveUpAt: number): void {
  publish(parked, {
    status: 'parked',
    waitingFor: 'flow',
    needsOperator: needsPerson(parked.reason),
    dueAt: giveUpAt,
  });
}

export async function waitForNextTry(parked: Parked, ms: number): Promise<void> {
  parked.dueAt = Date.now() + ms;
  setCurrentDetails(explainParked(parked));
  if (!parked.woken) await condition(() => parked.woken, Math.max(1, ms), { summary: 'Until the next look' });
  parked.dueAt = undefined;
}

export async function endParked(
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
  // A payment that was made elsewhere needs nobody here.
  const needsOperator = status === 'unclaimed' && reason !== 'foreign';
  publish(parked, { status, waitingFor: 'nothing', needsOperator, dueAt: undefined });
  setCurrentDetails(explainParked(parked));
  await condition(allHandlersFinished);
  return parked.result;
}

/** Writes what differs, cut to what the server takes. */
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
