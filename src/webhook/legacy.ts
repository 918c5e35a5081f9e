import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { DAY_MS, MINUTE_MS } from '../contract/time-units.js';
import type { TransactionEvent } from '../contract/messages.js';
import { atMost } from './bounded.js';

/** Content of an event of version 1.0.1 or older: it points to a resource and does not contain it. */
export interface LegacyPointer {
  eventType: string;
  created: string;
  paymentId: string;
  /** Since version 1.0.1. */
  transactionId?: string;
  href?: string;
}

const EVENT_TYPE = /^payment\.[a-z-]{1,40}\.[a-z-]{1,40}$/;
const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;
const RESOURCE = /^\/payments\/([0-9a-fA-F-]{36})(?:\/[a-z-]{1,40}\/([0-9a-fA-F-]{36}))?$/;

/** The service uses both spellings. undefined when the app id is missing or the two differ. */
export function legacyAppId(body: Readonly<Record<string, unknown>>): string | undefined {
  const appIds = ['app_id', 'app-id'].filter((name) => Object.hasOwn(body, name)).map((name) => body[name]);
  const [appId] = appIds;
  return typeof appId === 'string' && appId !== '' && appIds.every((other) => other === appId) ? appId : undefined;
}

/**
 * Reads a legacy body. It is unsigned and its values end up in request paths and workflow ids, so only values of
 * exactly the known form are accepted.
 */
export function readPointer(body: Readonly<Record<string, unknown>>): LegacyPointer | { fault: string } {
  const { event_type: eventType, created, resource } = body;
  if (typeof eventType !== 'string' || !EVENT_TYPE.test(eventType)) return { fault: 'event_type is not one of ours' };
  if (typeof resource !== 'object' || resource === null) return { fault: 'resource must be an object' };
  const { id, action_id: actionId, href } = resource as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || !UUID.test(id)) return { fault: 'resource.id must be a UUID' };
  if (actionId != null && (typeof actionId !== 'string' || !UUID.test(actionId))) {
    return { fault: 'resource.action_id must be a UUID' };
  }
  if (href != null && (typeof href !== 'string' || href.length > 500))
    return { fault: 'resource.href must be an address' };
  return {
    eventType,
    created: typeof created === 'string' ? created.slice(0, 40) : '',
    paymentId: id,
    ...(typeof actionId === 'string' && { transactionId: actionId }),
    ...(typeof href === 'string' && { href }),
  };
}

/** Whether `digest` is the body's SHA-256 in hex or base64. It only proves that the body arrived complete. */
export function digestFits(digest: string, bodyHash: string): boolean {
  const given = Buffer.from(digest, /^[0-9a-fA-F]{64}$/.test(digest) ? 'hex' : 'base64');
  const expected = Buffer.from(bodyHash, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/**
 * The ids in `href`, or a fault. `href` is only parsed, never requested: its resource is read from the configured
 * service. An address of another host shows that the sender is not the service.
 */
export function followHref(pointer: LegacyPointer, apiBaseUrl: string): { transactionId?: string } | { fault: string } {
  const { href, paymentId, transactionId } = pointer;
  if (href === undefined) return transactionId === undefined ? {} : { transactionId };
  const elsewhere = { fault: 'resource.href is not an address of the payment service' };
  if (!URL.canParse(href)) return elsewhere;
  const base = new URL(apiBaseUrl);
  const url = new URL(href);
  if (url.origin !== base.origin || url.username !== '' || url.password !== '') return elsewhere;
  const prefix = base.pathname.replace(/\/+$/, '');
  // Refuse an address that URL parsing changes.
  if (url.href !== href || url.search !== '' || url.hash !== '' || !url.pathname.startsWith(`${prefix}/`))
    return elsewhere;
  const [, payment, transaction = transactionId] = RESOURCE.exec(url.pathname.slice(prefix.length)) ?? [];
  if (payment !== paymentId || (transactionId !== undefined && transaction !== transactionId)) {
    return { fault: 'resource.href names another resource than resource.id and resource.action_id' };
  }
  return transaction === undefined ? {} : { transactionId: transaction };
}

/** An untrusted event without a status, so a flow can only read the service because of it. */
export function legacyEvent(
  pointer: LegacyPointer,
  origin: { bodyHash: string; businessUnit: string },
): TransactionEvent {
  const { eventType, created, paymentId, transactionId } = pointer;
  return {
    hash: origin.bodyHash,
    eventType,
    created,
    businessUnit: origin.businessUnit,
    paymentId,
    ...(transactionId !== undefined && { transactionId }),
    trusted: false,
  };
}

/** Far more events than one payment can cause. */
const PER_MINUTE = 30;
/** Bounds events over weeks: Temporal terminates a flow whose history is full. */
const PER_DAY = 100;
/** Over all ids together. */
const PER_MINUTE_IN_ALL = 600;
/** So large that a sender can't quickly evict a known id by naming new ones. */
const REMEMBERED_IDS = 200_000;

interface Window {
  count: number;
  until: number;
}

/**
 * Limits unsigned events, which anybody who knows an app id can send: they could fill a flow's history or make the
 * handler call the service endlessly. Each id in an event can lead to another flow, so each is limited, ignoring case.
 */
export function createUnsignedLimit(): (event: Pick<TransactionEvent, 'paymentId' | 'transactionId'>) => boolean {
  const seen = new LRUCache<string, { minute: Window; day: Window }>(atMost(REMEMBERED_IDS));
  let all: Window = { count: 0, until: 0 };
  return ({ paymentId, transactionId = paymentId }) => {
    const now = performance.now();
    all = next(all, now, MINUTE_MS);
    if (all.count > PER_MINUTE_IN_ALL) return false;
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
