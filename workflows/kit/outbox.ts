import { metricMeter, patched } from '@temporalio/workflow';
import { hashOf } from '../../src/contract/idempotency.js';
import { WORKER_COUNTERS } from '../../src/contract/metrics.js';
import { PATCHES } from '../../src/contract/names.js';
import type { Notification, NotificationType } from '../../src/contract/notifications.js';
import type { Seen } from './visibility.js';

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
  /** Epoch ms: when a person was needed last, before that was mended. */
  calmSince?: number;
  /** A person is needed for the second time, or a later one: which, and what was told of it. */
  again?: { number: number; told: string[] };
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
  const { outbox } = flow;
  if (!outbox.wanted || isTold(flow, type, about)) return;
  const id = idOf(flow, type, about);
  outbox.told = [...outbox.told, id].slice(-KEPT_IDS);
  put(flow, id, type, data);
}

/**
 * A person who is needed again within it is needed for the same: a service that rejects one of two reads would have that
 * told at every look.
 */
const CALM_MS = 30 * 60_000;

/** Notes that a person is needed, or no more. The same is news once that was mended in between. */
export function noteNeed({ outbox, needsOperator }: Telling & Pick<Seen, 'needsOperator'>, wasNeeded: boolean): void {
  const { wanted, calmSince = Infinity, again } = outbox;
  if (!wanted || wasNeeded === (needsOperator !== undefined)) return;
  if (wasNeeded) outbox.calmSince = Date.now();
  else if (Date.now() - calmSince >= CALM_MS) outbox.again = { number: (again?.number ?? 1) + 1, told: [] };
}

/** Tells the merchant why a person is needed, once each time that one is. @param about why, and in which runs where there are several */
export function tellNeed(flow: Telling, about: string, data: Record<string, unknown>): void {
  const { again } = flow.outbox;
  const isKnown = isTold(flow, 'payment.needsAttention', about);
  tell(flow, 'payment.needsAttention', about, data);
  if (again === undefined || again.told.includes(about)) return;
  // Histories of older code have told it the first time only. A marker must not come beside a local activity.
  if (isKnown && (flow.inLocalTry || !patched(PATCHES.tellsAgain))) return;
  again.told = [...again.told, about].slice(-KEPT_IDS);
  const id = idOf(flow, 'payment.needsAttention', `${again.number}: ${about}`);
  if (isKnown) put(flow, id, 'payment.needsAttention', data);
}

function isTold(flow: Telling, type: NotificationType, about: string): boolean {
  return flow.outbox.told.includes(idOf(flow, type, about));
}

function idOf({ workflowId }: Telling, type: NotificationType, about: string): string {
  return `ntf_${hashOf(JSON.stringify([workflowId, type, about])).slice(0, 32)}`;
}

function put(flow: Telling, id: string, type: NotificationType, data: Record<string, unknown>): void {
  const { outbox } = flow;
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
