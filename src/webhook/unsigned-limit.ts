import { LRUCache } from 'lru-cache';
import type { TransactionEvent } from '../contract/messages.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Far more events than one payment can cause. */
const PER_MINUTE = 30;
/** Bounds events over weeks: Temporal terminates a flow whose history is full. */
const PER_DAY = 100;
/** So large that a sender can't quickly evict a known id by naming new ones. */
const REMEMBERED_IDS = 200_000;

interface Window {
  count: number;
  until: number;
}

/**
 * Limits unsigned events, which anybody who knows an app id can send: they could fill a flow's history or make the
 * handler call the service endlessly. Each id in an event can lead to another flow, so each is limited, ignoring case.
 * `total` is the limit per minute for all ids together.
 */
export function createUnsignedLimit(
  total = 600,
): (event: Pick<TransactionEvent, 'paymentId' | 'transactionId'>) => boolean {
  const seen = new LRUCache<string, { minute: Window; day: Window }>({
    // `max` would allocate the memory for all entries at once.
    maxSize: REMEMBERED_IDS,
    sizeCalculation: () => 1,
  });
  let all: Window = { count: 0, until: 0 };
  return ({ paymentId, transactionId = paymentId }) => {
    const now = performance.now();
    all = next(all, now, MINUTE_MS);
    if (all.count > total) return false;
    let within = true;
    for (const id of new Set([paymentId.toLowerCase(), transactionId.toLowerCase()])) {
      const known = seen.get(id);
      const minute = next(known?.minute, now, MINUTE_MS);
      const taken = minute.count <= PER_MINUTE;
      // An event that the minute limit refuses doesn't count towards the day limit.
      const day = taken || known === undefined ? next(known?.day, now, DAY_MS) : known.day;
      seen.set(id, { minute, day });
      within &&= taken && day.count <= PER_DAY;
    }
    return within;
  };
}

function next(window: Window | undefined, now: number, ms: number): Window {
  return window === undefined || now >= window.until
    ? { count: 1, until: now + ms }
    : { ...window, count: window.count + 1 };
}
