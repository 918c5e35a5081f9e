import { LRUCache } from 'lru-cache';
import type { TransactionEvent } from '../contract/messages.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Far above what one payment can cause. */
const PER_MINUTE = 30;
/** What lasts for weeks must not fill a history either: the engine stops a flow whose history is full. */
const PER_DAY = 100;
/** Many, so that nobody makes us forget one soon by naming others. */
const REMEMBERED_IDS = 200_000;

interface Window {
  count: number;
  until: number;
}

/**
 * Unsigned events can be made by anybody who knows an app id: without a limit they could fill the history of a flow, or
 * make the handler ask the service without end. Of the ids that an event names each leads to a flow of its own, so each
 * is limited, however its letters are written. `total` is per minute for all together.
 */
export function createUnsignedLimit(
  total = 600,
): (event: Pick<TransactionEvent, 'paymentId' | 'transactionId'>) => boolean {
  const seen = new LRUCache<string, { minute: Window; day: Window }>({
    // `max` would take the memory for all of them at once.
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
      // What the minute refuses takes nothing from the day.
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
