import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  metricMeter,
} from '@temporalio/workflow';
import { ADDRESS_GONE, NOTICE_REFUSED, type NoticeType } from '../../src/contract/billing-activities.js';
import { hashOf } from '../../src/contract/idempotency.js';
import { WORKER_COUNTERS } from '../../src/contract/metrics.js';
import { notificationsWithin } from '../policies.js';
import { type Billing, KEPT_NOTICES, type KeptNotice } from './state.js';

/**
 * Puts a notification into the outbox, which is carried from run to run until the merchant has accepted it. Billing
 * never waits for it.
 */
export function notify(flow: Billing, type: NoticeType, data: Record<string, unknown>): void {
  if (flow.input.notify === undefined) return;
  flow.counts.notices += 1;
  const { reference } = flow.input;
  // The id hashes the content: after a reset the same number may be another notification, and not a repeat.
  const said = hashOf(JSON.stringify([type, data])).slice(0, 8);
  const id = `${flow.workflowId}:${flow.counts.notices}:${said}`;
  flow.outbox.push({ id, type, at: new Date(Date.now()).toISOString(), data: { subscription: reference, ...data } });
  if (flow.outbox.length > KEPT_NOTICES) giveUpOldest(flow);
}

/** The outbox being sent, oldest first, without what the merchant has refused for now. Neither method rejects. */
export interface Delivery {
  /** The subscription has ended: sends until all are accepted, or the time of one of them is over. */
  finish(): Promise<void>;
  /** The run ends: the next run sends what is not accepted yet. */
  stop(): Promise<void>;
}

export function deliverNotices(flow: Billing): Delivery {
  let last = false;
  // Cancels the sending only: a cancelled wait would end the subscription.
  const sending = new CancellationScope();
  const delivered = deliver(flow, sending, () => last);
  return {
    async finish() {
      last = true;
      await delivered;
    },
    async stop() {
      last = true;
      sending.cancel();
      await delivered;
    },
  };
}

async function deliver(flow: Billing, sending: CancellationScope, isLast: () => boolean): Promise<void> {
  const { notify: address, businessUnit } = flow.input;
  if (address === undefined) return;
  for (;;) {
    await condition(() => flow.outbox.length > 0 || isLast());
    if (flow.outbox.length === 0 || sending.consideredCancelled) return;
    const kept = nextOf(flow);
    try {
      if (kept === undefined) {
        await sending.run(() => untilNext(flow));
        continue;
      }
      const { refused: _refused, ...notice } = kept;
      await sending.run(() =>
        notificationsWithin(left(notice)).notifyMerchant({ businessUnit, url: address.url, notice }),
      );
      remove(flow, notice.id);
    } catch (error) {
      if (isCancellation(error)) return;
      if (!(error instanceof ActivityFailure) || kept === undefined) throw error;
      const why = refusalOf(error);
      if (why === NOTICE_REFUSED && left(kept) > LAST_TRIES_MS) {
        kept.refused = { until: Date.now() + PUT_OFF_MS, why: error.cause?.message ?? 'it was refused' };
      } else {
        if (isLast() && why === undefined) return;
        if (remove(flow, kept.id)) countGivenUp(flow);
      }
    }
  }
}

const HOUR_MS = 3_600_000;
const RETRY_BUDGET_MS = 72 * HOUR_MS;
/** For a notification that has waited behind another for all of its time. */
const LAST_TRIES_MS = 60_000;

/** So few tries that one run can hold fifty notifications over three days. */
const PUT_OFF_MS = 3 * HOUR_MS;

/** The oldest that is not postponed. */
function nextOf({ outbox }: Billing): KeptNotice | undefined {
  return outbox.find(({ refused }) => refused === undefined || refused.until <= Date.now());
}

/** For when every notification has been refused. */
async function untilNext({ outbox }: Billing): Promise<void> {
  const until = Math.min(...outbox.map(({ refused }) => refused?.until ?? 0));
  const hasNew = (): boolean => outbox.some(({ refused }) => refused === undefined);
  await condition(hasNew, Math.max(1, until - Date.now()), { summary: 'Until what was refused is sent again' });
}

function refusalOf({ cause }: ActivityFailure): string | undefined {
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  return type === NOTICE_REFUSED || type === ADDRESS_GONE ? type : undefined;
}

/** ms left, by full hours of age: the time does not restart with each run, or with short periods it would never end. */
function left({ at }: Pick<KeptNotice, 'at'>): number {
  const hours = Math.floor((Date.now() - Date.parse(at)) / HOUR_MS);
  return Math.max(LAST_TRIES_MS, RETRY_BUDGET_MS - hours * HOUR_MS);
}

function remove(flow: Billing, id: string): boolean {
  const index = flow.outbox.findIndex((notice) => notice.id === id);
  if (index >= 0) flow.outbox.splice(index, 1);
  return index >= 0;
}

function giveUpOldest(flow: Billing): void {
  flow.outbox.shift();
  countGivenUp(flow);
}

/** Counts it for the status: a merchant who accepted nothing for days reads the rest there. */
function countGivenUp(flow: Billing): void {
  flow.counts.givenUpNotices += 1;
  metricMeter.createCounter(WORKER_COUNTERS.notificationsGivenUp).add(1, { business_unit: flow.input.businessUnit });
}
