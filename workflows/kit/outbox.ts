import { metricMeter } from '@temporalio/workflow';
import { hashOf } from '../../src/contract/idempotency.js';
import { WORKER_COUNTERS } from '../../src/contract/metrics.js';
import type { Notification, NotificationType } from '../../src/contract/notifications.js';

/** What a flow has to tell its merchant: plain data, carried from run to run. */
export interface Outbox {
  /** There is an endpoint to tell: of its business unit, or `url`. Nothing is kept before one is known of. */
  wanted: boolean;
  /** The flow's own address. */
  url?: string;
  /** Of the last notification; the first has 1. */
  sequence: number;
  /** Ids of the last notifications: each is told once. */
  told: string[];
  /** Not handed over yet. */
  waiting: Notification[];
}

/** A flow that can tell its merchant. */
export interface Telling {
  readonly workflowId: string;
  readonly businessUnit: string;
  readonly outbox: Outbox;
  /** A hand-over is under way in this run. */
  handingOver: boolean;
  readonly inLocalTry: boolean;
  readonly leaving: boolean;
}

export function newOutbox(notify?: { url: string }): Outbox {
  return { wanted: notify !== undefined, ...notify, sequence: 0, told: [], waiting: [] };
}

/** Notes that the flow's business unit has endpoints, as an activity reports. */
export function noteWanted({ outbox }: Pick<Telling, 'outbox'>, { notifies }: { notifies?: true }): void {
  if (notifies === true) outbox.wanted = true;
}

/** More than any flow tells in a row; `paymentActions` and subscriptions tell on for years. */
const KEPT_IDS = 100;
/** With more waiting, nobody has served the queue for very long. */
const MOST_WAITING = 100;

/**
 * Tells the merchant once. The flow goes on at once: beside it `handOverAsTold` gives it to the flow that sends it.
 * @param about what makes it one of its type, and is the same after a reset: a period, a command, a transaction
 */
export function tell(flow: Telling, type: NotificationType, about: string, data: Record<string, unknown>): void {
  const { outbox, workflowId } = flow;
  if (!outbox.wanted) return;
  const id = `ntf_${hashOf(JSON.stringify([workflowId, type, about])).slice(0, 32)}`;
  if (outbox.told.includes(id)) return;
  outbox.told = [...outbox.told, id].slice(-KEPT_IDS);
  outbox.sequence += 1;
  outbox.waiting.push({ id, type, at: new Date(Date.now()).toISOString(), sequence: outbox.sequence, data });
  if (outbox.waiting.length > MOST_WAITING) giveUp(flow, outbox.waiting.splice(0, 1).length);
}

/** True once nothing waits to be handed over: from then on the notifications need the flow no more. */
export function isHandedOver({ outbox, handingOver }: Telling): boolean {
  return outbox.waiting.length === 0 && !handingOver;
}

/** Counts what no merchant will be told. */
export function giveUp({ businessUnit }: Telling, count: number): void {
  metricMeter.createCounter(WORKER_COUNTERS.notificationsGivenUp).add(count, { business_unit: businessUnit });
}
